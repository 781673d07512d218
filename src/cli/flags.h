// Options that are no configuration keys: one row each.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/invocation.h"

namespace mape::cli {

struct FlagRow {
    std::string_view name;         ///< without "--"
    char letter;                   ///< 'v' for -v; 0: none
    std::string_view syntax;       ///< of the value; empty: takes none
    std::string_view commands;     ///< space separated; empty: every command
    std::string_view description;  ///< one line
    Result<void> (*set)(Flags& flags, std::string_view value);
};

[[nodiscard]] std::span<const FlagRow> flag_rows();
[[nodiscard]] const FlagRow* find_flag(std::string_view name);
[[nodiscard]] bool belongs_to(const FlagRow& row, std::string_view command);

}  // namespace mape::cli
