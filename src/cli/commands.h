// The table of commands. Dispatch, usage, help and the manual's tables come from these rows.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/invocation.h"
#include "cli/output.h"

namespace mape::cli {

/// Returns the exit code (0, or 3 and 4 where design.md says so), or an Error that decides it.
using CommandFunction = Result<int> (*)(Invocation&, Output&);

/// What run() prepares before it calls the function.
enum class Reads {
    nothing,        ///< no configuration; key options are refused
    tables,         ///< the rule tables only; key options are refused
    configuration,  ///< configuration and key options into Invocation::settings, and the tables
    tunnel_only,    ///< as configuration, but of the key options only --tunnel, and a broken file is a warning
};

struct CommandRow {
    std::string_view name;
    std::string_view arguments;    ///< as in the usage line; empty: none are taken
    std::string_view summary;      ///< one line, for a person
    std::size_t max_arguments;
    Reads reads;
    bool names_configuration;      ///< the first argument is NAME
    std::string_view json_fields;  ///< own top-level fields of --json, space separated: null each when the command fails
    std::string_view details;      ///< more for `help COMMAND`; whole lines
    CommandFunction function;
};

[[nodiscard]] std::span<const CommandRow> command_rows();
/// nullptr: no such command.
[[nodiscard]] const CommandRow* find_command(std::string_view name);
/// An error that names the command meant: another verb for ours, or the nearest.
[[nodiscard]] Error unknown_command(std::string_view name);

Result<int> calc_command(Invocation& invocation, Output& output);
Result<int> ruleset_command(Invocation& invocation, Output& output);
Result<int> apply_command(Invocation& invocation, Output& output);
Result<int> revert_command(Invocation& invocation, Output& output);
Result<int> status_command(Invocation& invocation, Output& output);
Result<int> check_command(Invocation& invocation, Output& output);
Result<int> isp_command(Invocation& invocation, Output& output);
Result<int> help_command(Invocation& invocation, Output& output);

}  // namespace mape::cli
