#include "apply/object_state.h"

#include <algorithm>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip6_tunnel.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

namespace mape {

bool is_ours(const netlink::Link& link)
{
    return link.alias.starts_with(our_alias);
}

std::optional<DeviceAddress> find_address(const netlink::NetworkState& state, const DeviceAddress& address)
{
    const auto* link = state.find_link(address.device.str());
    if (!link)
        return std::nullopt;
    for (const netlink::Address* each : state.addresses_of(link->index))
        if (each->address == address.address)
            return DeviceAddress{address.device,
                                 each->address,
                                 each->prefix_length,
                                 (each->flags & IFA_F_NODAD) != 0,
                                 (each->flags & IFA_F_NOPREFIXROUTE) != 0,
                                 each->preferred_lifetime == 0};
    return std::nullopt;
}

namespace {

/// Everything that Tunnel does not say is as create_tunnel() and mark_tunnel() set it.
bool rest_is_ours(const netlink::Link& link, const netlink::Ip6Tunnel& tunnel)
{
    constexpr std::uint32_t ours = IP6_TNL_F_IGN_ENCAP_LIMIT;
    // IP6_TNL_F_CAP_XMIT, _RCV and _PER_PACKET of the kernel's own include/net/ip6_tunnel.h: it sets them itself, from the
    // endpoints (ip6_tunnel.c, ip6_tnl_link_config).
    constexpr std::uint32_t kernels = 0x10000 | 0x20000 | 0x40000;
    return (tunnel.flags & ~kernels) == ours && tunnel.protocol == IPPROTO_IPIP && tunnel.flow_info == 0
           && tunnel.fwmark == 0 && !tunnel.collect_metadata && tunnel.encapsulation == 0
           && link.address_generation.value_or(IN6_ADDR_GEN_MODE_NONE) == IN6_ADDR_GEN_MODE_NONE;
}

}  // namespace

std::optional<Tunnel> find_tunnel(const netlink::NetworkState& state, const InterfaceName& name)
{
    const auto* link = state.find_link(name.str());
    if (!link || !link->tunnel)
        return std::nullopt;
    Tunnel tunnel{.name = name,
                  .local = link->tunnel->local,
                  .remote = link->tunnel->remote,
                  .bound_to = {},
                  .hop_limit = link->tunnel->hop_limit,
                  .mtu = link->mtu,
                  .alias = link->alias};
    if (link->tunnel->lower_index != 0) {
        const auto* lower = state.find_link(link->tunnel->lower_index);
        auto lower_name = InterfaceName::parse(lower ? lower->name : "gone");
        tunnel.bound_to = lower_name ? *lower_name : *InterfaceName::parse("gone");
    }
    if (!rest_is_ours(*link, *link->tunnel))
        tunnel.alias += " (changed)";
    return tunnel;
}

bool has_route(const netlink::NetworkState& state, const DefaultRoute& route)
{
    const auto* link = state.find_link(route.device.str());
    const auto same = state.default_routes_ipv4(route.table, route.metric);
    return link && std::any_of(same.begin(), same.end(), [link](const netlink::Route* each) {
               return each->out_index == link->index && each->protocol == our_protocol && each->type == RTN_UNICAST
                      && !each->gateway;
           });
}

bool has_rule(const netlink::NetworkState& state, const PolicyRule& rule)
{
    return std::any_of(state.rules.begin(), state.rules.end(), [&rule](const netlink::Rule& each) {
        return each.preference == rule.preference && each.table == rule.table && each.protocol == our_protocol
               && each.action == FR_ACT_TO_TBL && each.iif == (rule.iif ? rule.iif->str() : std::string())
               && each.from == rule.from && !each.other_selectors;
    });
}

}  // namespace mape
