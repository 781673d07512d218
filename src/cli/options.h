// The configuration's keys, each of which is an option of the same name: one table for both, for help and the manual.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "apply/settings.h"
#include "base/result.h"
#include "net/interface_name.h"

namespace mape::cli {

struct OptionRow {
    std::string_view name;         ///< without "--"; unique across sections
    std::string_view section;      ///< "map", without brackets
    std::string_view syntax;       ///< of the value, for help
    std::string_view default_text;
    std::string_view description;  ///< one line
    bool repeatable;               ///< may stand several times; each adds
    /// Sets or adds one value, which is not empty and has no blanks around it. Syntax and ranges only: what values mean
    /// together is for check_settings() and MapRule::make. The error's sentence names the value and what is allowed.
    Result<void> (*set)(Settings& settings, std::string_view value);
};

/// Ordered by section, in the order of the manual.
[[nodiscard]] std::span<const OptionRow> option_rows();
[[nodiscard]] const OptionRow* find_option(std::string_view name);
/// All names, for suggestions.
[[nodiscard]] std::span<const std::string_view> option_names();
/// The sections, in order, each once.
[[nodiscard]] std::span<const std::string_view> option_sections();

/// Trims, refuses an empty value and calls the row's setter.
[[nodiscard]] Result<void> set_option(const OptionRow& row, Settings& settings, std::string_view value);

/// NAME and [tunnel] tunnel: a device name of letters, digits, '.', '_' and '-' that starts with a letter and is not
/// ip6tnl0, the ip6_tunnel module's own device.
[[nodiscard]] Result<InterfaceName> parse_tunnel_name(std::string_view text);

/// An end-user prefix. A bare address stands for its /64, the part that a router advertisement shows of it.
[[nodiscard]] Result<Ipv6Prefix> parse_end_user_prefix(std::string_view text);

/// What no single value shows: `rule` without a table of its own, a WAN or LAN that is the tunnel itself.
[[nodiscard]] std::vector<Error> check_settings(const Settings& settings);

}  // namespace mape::cli
