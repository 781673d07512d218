// What the kernel has: links, addresses, routes and IPv4 rules, read by rtnetlink dumps.
// Parsers are pure: the bytes of one message in, an object or an error out. Attributes that are not asked for are ignored,
// short and lying ones are errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "netlink/objects.h"
#include "netlink/socket.h"

namespace mape::netlink {

/// IFLA_INFO_DATA of an ip6tnl device (include/uapi/linux/if_tunnel.h), as the kernel has it.
struct Ip6Tunnel {
    Ipv6Address local;
    Ipv6Address remote;
    unsigned lower_index = 0;   ///< IFLA_IPTUN_LINK; 0: not bound to a device
    unsigned protocol = 0;      ///< IFLA_IPTUN_PROTO: 4 ipip6, 41 ip6ip6, 0 any
    unsigned hop_limit = 0;     ///< IFLA_IPTUN_TTL; 0: inherited from the inner packet
    unsigned encap_limit = 0;   ///< counts only without IP6_TNL_F_IGN_ENCAP_LIMIT
    std::uint32_t flow_info = 0;  ///< host order: traffic class and flow label
    std::uint32_t flags = 0;    ///< IP6_TNL_F_* as they were set, without the IP6_TNL_F_CAP_* that the kernel computes
    std::uint32_t fwmark = 0;
    bool collect_metadata = false;
    unsigned encapsulation = 0; ///< IFLA_IPTUN_ENCAP_TYPE; 0 none
    bool operator==(const Ip6Tunnel&) const = default;
};

struct Link {
    unsigned index = 0;
    std::string name;        ///< any bytes the kernel takes; not all are an InterfaceName
    std::string kind;        ///< IFLA_INFO_KIND: "ip6tnl", "vlan", "macvlan", "bridge"; empty for hardware, ppp and lo
    unsigned hardware_type = 0;  ///< ARPHRD_*
    unsigned mtu = 0;
    std::optional<unsigned> ipv6_mtu;  ///< net/ipv6/conf/NAME/mtu, which an RA may have lowered; absent without IPv6
    bool up = false;         ///< IFF_UP: an administrator's wish
    bool running = false;    ///< IFF_RUNNING: it has a carrier
    std::uint8_t operational_state = 0;  ///< IF_OPER_* (RFC 2863)
    unsigned lower_index = 0;  ///< IFLA_LINK: what a VLAN, macvlan or tunnel sits on; 0 if nothing, or in another netns
    unsigned master_index = 0;
    std::string alias;
    std::uint32_t group = 0;  ///< IFLA_GROUP
    std::optional<std::uint8_t> address_generation;  ///< IN6_ADDR_GEN_MODE_*; absent without IPv6
    std::optional<Ip6Tunnel> tunnel;
    bool operator==(const Link&) const = default;
};

struct Address {
    unsigned index = 0;  ///< of its link
    std::variant<Ipv4Address, Ipv6Address> address;  ///< our end
    std::optional<std::variant<Ipv4Address, Ipv6Address>> peer;  ///< the other end, if there is one
    unsigned prefix_length = 0;
    std::uint32_t flags = 0;  ///< IFA_F_*
    std::uint32_t preferred_lifetime = UINT32_MAX;  ///< seconds; UINT32_MAX for ever
    std::uint32_t valid_lifetime = UINT32_MAX;
    std::uint8_t protocol = 0;  ///< IFA_PROTO; 0 before Linux 5.18
    std::uint8_t scope = 0;     ///< RT_SCOPE_*; 0 global
    bool operator==(const Address&) const = default;
};

struct Route {
    std::variant<Ipv4Prefix, Ipv6Prefix> destination;
    std::uint8_t type = 0;      ///< RTN_UNICAST, RTN_UNREACHABLE, ...
    std::uint8_t protocol = 0;  ///< RTPROT_*
    std::uint8_t scope = 0;
    std::uint32_t table = 0;
    std::uint32_t metric = 0;
    unsigned out_index = 0;     ///< RTA_OIF, or that of the first of several next hops; 0: none
    std::optional<std::variant<Ipv4Address, Ipv6Address>> gateway;
    bool other_attributes = false;  ///< it has a source address, metrics, a type of service or flags of its own
    bool operator==(const Route&) const = default;
};

struct Rule {
    std::uint32_t preference = 0;
    std::uint32_t table = 0;
    std::uint8_t action = 0;  ///< FR_ACT_*
    std::uint8_t protocol = 0;
    std::string iif;  ///< empty: any
    std::optional<Ipv4Prefix> from;
    bool other_selectors = false;  ///< it matches on something that PolicyRule cannot say
    bool operator==(const Rule&) const = default;
};

/// One message each, header included: RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWRULE. The families of the last three
/// must be AF_INET or AF_INET6 (AF_INET for a rule); nullopt for another family's.
[[nodiscard]] Result<Link> parse_link(std::span<const std::byte> message);
[[nodiscard]] Result<std::optional<Address>> parse_address(std::span<const std::byte> message);
[[nodiscard]] Result<std::optional<Route>> parse_route(std::span<const std::byte> message);
[[nodiscard]] Result<std::optional<Rule>> parse_rule(std::span<const std::byte> message);

/// The network namespace at about one moment: each list is consistent in itself.
struct NetworkState {
    std::vector<Link> links;
    std::vector<Address> addresses;
    std::vector<Route> routes;  ///< of all tables, both families
    std::vector<Rule> rules;    ///< IPv4

    /// The links of that name and of the device below it alone, without addresses, routes and rules.
    [[nodiscard]] static Result<NetworkState> read_link(Socket& socket, const InterfaceName& name);

    /// Five dumps over a NETLINK_ROUTE socket.
    [[nodiscard]] static Result<NetworkState> read(Socket& socket);

    /// nullptr: there is none. Pointers are into this.
    [[nodiscard]] const Link* find_link(std::string_view name) const;
    [[nodiscard]] const Link* find_link(unsigned index) const;
    /// The device of the IPv6 default route of the main table with the lowest metric; of equal ones the first. Only unicast
    /// routes through a device that is up.
    [[nodiscard]] const Link* default_ipv6_device() const;
    /// The ip6tnl device with these endpoints on this lower device (0: none). The kernel allows one.
    [[nodiscard]] const Link* tunnel_with_endpoints(const Ipv6Address& local, const Ipv6Address& remote,
                                                    unsigned lower_index) const;
    /// All IPv4 default routes of that table and metric, in the kernel's order: the first one counts.
    [[nodiscard]] std::vector<const Route*> default_routes_ipv4(std::uint32_t table, std::uint32_t metric) const;
    /// The largest IPv6 packet `wan` sends: its MTU or what a router advertisement lowered it to.
    [[nodiscard]] unsigned wan_mtu(const Link& wan) const;
    /// Every device that is up and has an IPv4 address, but loopback, these two names, and tunnels with our alias.
    [[nodiscard]] std::vector<const Link*> ipv4_lan_devices(std::string_view wan, std::string_view tunnel) const;
    [[nodiscard]] std::vector<const Address*> addresses_of(unsigned index) const;
};

}  // namespace mape::netlink
