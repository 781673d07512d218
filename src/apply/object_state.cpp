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
    return link.alias.starts_with(our_alias) || (link.tunnel && link.group == half_made_group);
}

bool keeps_address_protocol(const netlink::NetworkState& state)
{
    return std::any_of(state.addresses.begin(), state.addresses.end(),
                       [](const netlink::Address& each) { return each.protocol != 0; });
}

const netlink::Address* find_raw_address(const netlink::NetworkState& state, unsigned index,
                                         const std::variant<Ipv4Address, Ipv6Address>& address)
{
    for (const netlink::Address* each : state.addresses_of(index))
        if (each->address == address)
            return each;
    return nullptr;
}

namespace {

/// It differs from every address that we could have set, in something that DeviceAddress has no field for.
bool is_altered(const netlink::Address& address)
{
    const bool ipv6 = std::holds_alternative<Ipv6Address>(address.address);
    // IFA_F_TEMPORARY is IFA_F_SECONDARY of IPv4, where it tells of another address of the same network.
    const unsigned foreign = IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_MCAUTOJOIN
                             | (ipv6 ? unsigned{IFA_F_TEMPORARY | IFA_F_TENTATIVE | IFA_F_DADFAILED} : 0U);
    return address.valid_lifetime != UINT32_MAX
           || (address.preferred_lifetime != UINT32_MAX && address.preferred_lifetime != 0) || address.peer
           || address.scope != RT_SCOPE_UNIVERSE || (address.flags & foreign) != 0;
}

}  // namespace

std::optional<DeviceAddress> find_address(const netlink::NetworkState& state, const DeviceAddress& address)
{
    const auto* link = state.find_link(address.device.str());
    if (!link)
        return std::nullopt;
    const auto* present = find_raw_address(state, link->index, address.address);
    if (!present)
        return std::nullopt;
    return DeviceAddress{address.device,
                         present->address,
                         present->prefix_length,
                         (present->flags & IFA_F_NODAD) != 0,
                         (present->flags & IFA_F_NOPREFIXROUTE) != 0,
                         present->preferred_lifetime == 0,
                         is_altered(*present)};
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
    if (!rest_is_ours(*link, *link->tunnel) || link->group == half_made_group)
        tunnel.alias += " (changed)";
    return tunnel;
}

namespace {

bool is_ours(const netlink::Route& route, const netlink::Link& tunnel)
{
    return route.out_index == tunnel.index && route.protocol == our_protocol && route.type == RTN_UNICAST && !route.gateway
           && route.scope == RT_SCOPE_LINK && !route.other_attributes;
}

}  // namespace

bool has_route(const netlink::NetworkState& state, const DefaultRoute& route)
{
    const auto* link = state.find_link(route.device.str());
    const auto same = state.default_routes_ipv4(route.table, route.metric);
    return link && !same.empty() && is_ours(*same.front(), *link);
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
