// From objects to the bytes of rtnetlink requests (man 7 rtnetlink). Pure; golden against iproute2's bytes.
//
// Devices that exist are told by their index, so that a rename between the look-up and the request cannot hit another.
#pragma once

#include "netlink/objects.h"
#include "netlink/reply.h"

namespace mape::netlink {

/// RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL: an ip6tnl with all its attributes and its MTU, down.
/// `lower_index` is that of `tunnel.bound_to`, 0 without. Errors the kernel gives: EEXIST (name taken, or another ip6tnl has
/// these endpoints on this device), EOPNOTSUPP "Unknown device type" (no ip6_tunnel module), ENODEV.
/// Alias and address generation mode are not in it: here net/core/rtnetlink.c drops IFLA_IFALIAS silently and refuses
/// IFLA_AF_SPEC with EAFNOSUPPORT (measured on 6.1). Send mark_tunnel() next, before the device goes up.
[[nodiscard]] Message create_tunnel(const Tunnel& tunnel, unsigned lower_index);

/// RTM_NEWLINK on device `index`: our alias, and no link-local address (IFLA_INET6_ADDR_GEN_MODE none), which counts from the
/// next time the device goes up.
[[nodiscard]] Message mark_tunnel(const Tunnel& tunnel, unsigned index);

/// RTM_NEWLINK on device `index`, neither created nor renamed: everything of create_tunnel() and mark_tunnel() in one message.
/// The kernel changes the endpoints first (net/ipv6/ip6_tunnel.c ip6_tnl_changelink, which resets the MTU), then MTU and alias.
[[nodiscard]] Message change_tunnel(const Tunnel& tunnel, unsigned index, unsigned lower_index);

[[nodiscard]] Message set_link_up(unsigned index, bool up);
[[nodiscard]] Message delete_link(unsigned index);

/// RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, IFA_PROTO our_protocol. iproute2 6.1 (Debian 12) can neither set nor show
/// IFA_PROTO. EEXIST: the address is there.
[[nodiscard]] Message add_address(const DeviceAddress& address, unsigned index);
/// By address and length; EADDRNOTAVAIL: it is not there. The kernel does not compare IFA_PROTO.
[[nodiscard]] Message delete_address(const DeviceAddress& address, unsigned index);

/// RTM_NEWROUTE 0.0.0.0/0, rtm_protocol our_protocol. NLM_F_CREATE | NLM_F_EXCL: EEXIST if the table has a default route of
/// this metric, whoever's; with `prepend` NLM_F_CREATE alone, which puts it before that one.
[[nodiscard]] Message add_route(const DefaultRoute& route, unsigned index);
/// Only a route of our_protocol through device `index`. Metric 0 here means any: the lowest is taken
/// (net/ipv4/fib_trie.c fib_table_delete). ESRCH: it is not there.
[[nodiscard]] Message delete_route(const DefaultRoute& route, unsigned index);

/// RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, FRA_PROTOCOL our_protocol. EEXIST: an equal one is there.
[[nodiscard]] Message add_rule(const PolicyRule& rule);
/// Only a rule of our_protocol that has all this; ENOENT: it is not there. One that has more (a mark, say) is taken too.
[[nodiscard]] Message delete_rule(const PolicyRule& rule);

}  // namespace mape::netlink
