// A box in memory: a customer edge as wanted, and what the kernel's dumps would show of it.
#pragma once

#include "apply/observed.h"
#include "apply/wanted.h"
#include "sample_plan.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip6_tunnel.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

namespace mape::test {

inline constexpr unsigned lo_index = 1;
inline constexpr unsigned wan_index = 2;
inline constexpr unsigned lan_index = 3;
inline constexpr unsigned tunnel_index = 7;

/// The seeds' router, with a rule and a value of its own so that every kind of object is wanted.
inline Wanted sample_wanted()
{
    Tunnel tunnel = sample_tunnel();
    tunnel.alias = our_alias;
    return {.wan = device("wan0"),
            .ce = sample_ce(),
            .tunnel = tunnel,
            .ipv4 = sample_ipv4(),
            .ruleset = {},
            .mark = sample_ruleset().mark,
            .translation = "153.240.174.134 6/6/44",
            .ports = *PortSet::make(6, 6, 44),
            .protocols = {},
            .lan_notrack = false,
            .route = DefaultRoute{device("mape0"), 300, 5, false},
            .rules = {{1000, device("lan0"), {}, 300}},
            .values = {{"net/ipv4/conf/mape0/rp_filter", {}, "2"}},
            .forwarding = true,
            .warnings = {}};
}

/// The same box before apply: WAN and LAN, nothing of ours.
inline Observed bare_box()
{
    Observed box;
    const auto link = [](unsigned index, const char* name) {
        netlink::Link link;
        link.index = index;
        link.name = name;
        link.mtu = 1500;
        link.up = link.running = true;
        return link;
    };
    box.network.links = {link(lo_index, "lo"), link(wan_index, "wan0"), link(lan_index, "lan0")};
    netlink::Address loopback;
    loopback.index = lo_index;
    loopback.address = *Ipv6Address::parse("::1");
    loopback.prefix_length = 128;
    loopback.protocol = IFAPROT_KERNEL_LO;
    box.network.addresses = {loopback};
    box.ruleset.presence = RulesetState::Presence::absent;
    box.forwarding = "0";
    return box;
}

inline netlink::Address dumped(const DeviceAddress& address, unsigned index)
{
    netlink::Address dump;
    dump.index = index;
    dump.address = address.address;
    dump.prefix_length = address.prefix_length;
    dump.flags = IFA_F_PERMANENT | (address.nodad ? unsigned{IFA_F_NODAD} : 0U)
                 | (address.noprefixroute ? unsigned{IFA_F_NOPREFIXROUTE} : 0U)
                 | (address.deprecated ? unsigned{IFA_F_DEPRECATED} : 0U);
    dump.preferred_lifetime = address.deprecated ? 0 : UINT32_MAX;
    dump.protocol = our_protocol;
    return dump;
}

inline netlink::Link dumped(const Tunnel& tunnel, bool up)
{
    netlink::Link link;
    link.index = tunnel_index;
    link.name = tunnel.name.str();
    link.kind = "ip6tnl";
    link.mtu = tunnel.mtu;
    link.up = link.running = up;
    link.lower_index = tunnel.bound_to ? wan_index : 0;
    link.alias = tunnel.alias;
    link.address_generation = IN6_ADDR_GEN_MODE_NONE;
    netlink::Ip6Tunnel data;
    data.local = tunnel.local;
    data.remote = tunnel.remote;
    data.lower_index = link.lower_index;
    data.protocol = IPPROTO_IPIP;
    data.hop_limit = tunnel.hop_limit;
    data.flags = IP6_TNL_F_IGN_ENCAP_LIMIT | 0x30000;  // and what the kernel adds of its own
    link.tunnel = data;
    return link;
}

inline netlink::Route dumped(const DefaultRoute& route)
{
    netlink::Route dump;
    dump.destination = Ipv4Prefix{{}, 0};
    dump.type = RTN_UNICAST;
    dump.protocol = our_protocol;
    dump.scope = RT_SCOPE_LINK;
    dump.table = route.table;
    dump.metric = route.metric;
    dump.out_index = tunnel_index;
    return dump;
}

inline netlink::Rule dumped(const PolicyRule& rule)
{
    netlink::Rule dump;
    dump.preference = rule.preference;
    dump.table = rule.table;
    dump.action = FR_ACT_TO_TBL;
    dump.protocol = our_protocol;
    dump.iif = rule.iif ? rule.iif->str() : "";
    dump.from = rule.from;
    return dump;
}

/// The box after apply of `wanted`.
inline Observed applied_box(const Wanted& wanted)
{
    Observed box = bare_box();
    box.network.links.push_back(dumped(wanted.tunnel, true));
    box.network.addresses.push_back(dumped(wanted.ce, wan_index));
    box.network.addresses.push_back(dumped(wanted.ipv4, tunnel_index));
    if (wanted.route)
        box.network.routes.push_back(dumped(*wanted.route));
    for (const PolicyRule& rule : wanted.rules)
        box.network.rules.push_back(dumped(rule));
    for (const SysctlStep& value : wanted.values)
        box.values[value.key] = value.to;
    box.ruleset.presence = RulesetState::Presence::ours;
    box.ruleset.mark = wanted.mark;
    box.ruleset.translation = wanted.translation;
    box.ruleset.loaded = sample_ruleset(wanted.mark.c_str());
    box.forwarding = "1";
    return box;
}

}  // namespace mape::test
