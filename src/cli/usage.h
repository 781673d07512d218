// Help and the manual's tables, printed from the rows of commands, flags and keys.
#pragma once

#include <string>

#include "cli/commands.h"

namespace mape::cli {

/// Commands with their summaries, common options.
[[nodiscard]] std::string usage();
/// One command: arguments, details, its options; keys by name where it takes them.
[[nodiscard]] std::string command_help(const CommandRow& command);
/// All keys, by section, with default and description.
[[nodiscard]] std::string key_help();
/// The same tables as scdoc text, for man/*.scd: "commands", "options" or "keys".
[[nodiscard]] std::string manual_table(std::string_view which);

}  // namespace mape::cli
