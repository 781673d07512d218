// The kernel objects this program makes and reads, as values: what rtnetlink calls link, address, route and rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "net/address.h"
#include "net/interface_name.h"

namespace mape {

/// rtm_protocol of our routes and rules, and IFA_PROTO of our addresses (free in the kernel's include/uapi/linux/rtnetlink.h
/// and iproute2's rt_protos and rt_addrprotos): 0x4d, 'M'.
inline constexpr std::uint8_t our_protocol = 0x4d;

/// What makes an ip6tnl ours: its IFLA_IFALIAS starts with this.
inline constexpr const char* our_alias = "mape-gen";

/// An ip6tnl of this IFLA_GROUP ("mape") is ours too, and half made: rtnl_create_link() takes a group in the very message that
/// creates a device, but an alias only in a second one (net/core/rtnetlink.c, 6.1).
inline constexpr std::uint32_t half_made_group = 0x6d617065;

/// An IPv4 or IPv6 address on a device, as we set it.
struct DeviceAddress {
    InterfaceName device;
    std::variant<Ipv4Address, Ipv6Address> address;
    unsigned prefix_length;
    bool nodad = false;           ///< IFA_F_NODAD
    bool noprefixroute = false;   ///< IFA_F_NOPREFIXROUTE
    bool deprecated = false;      ///< preferred lifetime 0, valid forever; else both forever
    bool altered = false;         ///< somebody gave it a lifetime, a flag, a peer or a scope that we never set
    bool operator==(const DeviceAddress&) const = default;
};

/// An ip6tnl device of mode ipip6 (net/ipv6/ip6_tunnel.c), with all attributes we set. Sent whole in every message: the
/// kernel resets what a change leaves out.
struct Tunnel {
    InterfaceName name;
    Ipv6Address local;
    Ipv6Address remote;
    std::optional<InterfaceName> bound_to;  ///< IFLA_IPTUN_LINK
    unsigned hop_limit = 64;
    unsigned mtu = 1460;
    std::string alias;                      ///< IFLA_IFALIAS; starts with our_alias
    // always: IFLA_IPTUN_PROTO IPPROTO_IPIP, IFLA_IPTUN_FLAGS IP6_TNL_F_IGN_ENCAP_LIMIT, no flow label or traffic class,
    // IFLA_INET6_ADDR_GEN_MODE none (no link-local address: the tunnel carries no IPv6).
    bool operator==(const Tunnel&) const = default;
};

/// An IPv4 default route through the tunnel.
struct DefaultRoute {
    InterfaceName device;
    std::uint32_t table = 254;  ///< RT_TABLE_MAIN
    std::uint32_t metric = 0;
    bool prepend = false;       ///< before a foreign route of the same metric, instead of refusing
    bool operator==(const DefaultRoute&) const = default;
};

/// An IPv4 policy rule: `ip rule add pref P [iif D] [from N] lookup T`.
struct PolicyRule {
    std::uint32_t preference;
    std::optional<InterfaceName> iif;
    std::optional<Ipv4Prefix> from;
    std::uint32_t table;
    bool operator==(const PolicyRule&) const = default;
};

}  // namespace mape
