// Objects of ours as the kernel's dumps show them, for comparison with those we want.
#pragma once

#include <optional>

#include "netlink/objects.h"
#include "netlink/rtnl_read.h"

namespace mape {

/// The link carries our alias, or is one that we were about to give it to.
[[nodiscard]] bool is_ours(const netlink::Link& link);

/// Since 5.18 the kernel keeps IFA_PROTO, and marks ::1 itself.
[[nodiscard]] bool keeps_address_protocol(const netlink::NetworkState& state);

/// The address of that value on that device; nullptr: it is not there.
[[nodiscard]] const netlink::Address* find_raw_address(const netlink::NetworkState& state, unsigned index,
                                                       const std::variant<Ipv4Address, Ipv6Address>& address);

/// The address of that device and value, as we would set it; nullopt: it is not there.
[[nodiscard]] std::optional<DeviceAddress> find_address(const netlink::NetworkState& state, const DeviceAddress& address);

/// The ip6tnl device of that name. Where an attribute that Tunnel has no field for is not as we set it, the alias is marked,
/// so that the result equals no tunnel we could want.
[[nodiscard]] std::optional<Tunnel> find_tunnel(const netlink::NetworkState& state, const InterfaceName& name);

/// A default route of our protocol through that device, in that table with that metric, that counts: of several with one metric
/// the kernel takes the first.
[[nodiscard]] bool has_route(const netlink::NetworkState& state, const DefaultRoute& route);

/// A rule of our protocol that says this and no more.
[[nodiscard]] bool has_rule(const netlink::NetworkState& state, const PolicyRule& rule);

}  // namespace mape
