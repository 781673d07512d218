// Pieces of text that words and commands of steps share.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "netlink/objects.h"

namespace mape {

using AnyAddress = std::variant<Ipv4Address, Ipv6Address>;

[[nodiscard]] std::string address_text(const AnyAddress& address);
[[nodiscard]] bool is_ipv6(const AnyAddress& address);
/// " from 192.168.1.0/24 iif br0", as in `ip rule`.
[[nodiscard]] std::string selector_text(const PolicyRule& rule);
/// "main" or the number.
[[nodiscard]] std::string table_text(std::uint32_t table);

}  // namespace mape
