#include "netlink/rtnl_build.h"

#include <netinet/in.h>

#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/ip6_tunnel.h>
#include <linux/rtnetlink.h>

#include "netlink/message_builder.h"

namespace mape::netlink {

namespace {

constexpr unsigned create_exclusively = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
constexpr unsigned change_only = NLM_F_REQUEST | NLM_F_ACK;
// What iproute2 sends with "encaplimit none" too: the kernel's default, which the flag beside it switches off.
constexpr std::uint8_t default_encap_limit = IPV6_DEFAULT_TNL_ENCAP_LIMIT;

ifinfomsg link_header(unsigned index)
{
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(index);
    return header;
}

void put_tunnel_attributes(MessageBuilder& builder, const Tunnel& tunnel, unsigned lower_index)
{
    builder.nest(IFLA_LINKINFO, [&] {
        builder.text(IFLA_INFO_KIND, "ip6tnl").nest(IFLA_INFO_DATA, [&] {
            builder.u8(IFLA_IPTUN_PROTO, IPPROTO_IPIP)
                .ipv6(IFLA_IPTUN_LOCAL, tunnel.local)
                .ipv6(IFLA_IPTUN_REMOTE, tunnel.remote)
                .u8(IFLA_IPTUN_TTL, static_cast<std::uint8_t>(tunnel.hop_limit))
                .u8(IFLA_IPTUN_ENCAP_LIMIT, default_encap_limit)
                .be32(IFLA_IPTUN_FLOWINFO, 0)
                .u32(IFLA_IPTUN_FLAGS, IP6_TNL_F_IGN_ENCAP_LIMIT)
                .u32(IFLA_IPTUN_LINK, lower_index)
                .u32(IFLA_IPTUN_FWMARK, 0)
                .u16(IFLA_IPTUN_ENCAP_TYPE, TUNNEL_ENCAP_NONE)
                .u16(IFLA_IPTUN_ENCAP_FLAGS, TUNNEL_ENCAP_FLAG_CSUM6)
                .be16(IFLA_IPTUN_ENCAP_SPORT, 0)
                .be16(IFLA_IPTUN_ENCAP_DPORT, 0);
        });
    });
}

void put_mark(MessageBuilder& builder, const Tunnel& tunnel)
{
    builder.text(IFLA_IFALIAS, tunnel.alias);
    builder.nest(IFLA_AF_SPEC, [&] {
        builder.nest(AF_INET6, [&] { builder.u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE); });
    });
}

void put_address(MessageBuilder& builder, unsigned type, const std::variant<Ipv4Address, Ipv6Address>& address)
{
    if (const auto* ipv4 = std::get_if<Ipv4Address>(&address))
        builder.ipv4(type, *ipv4);
    else
        builder.ipv6(type, std::get<Ipv6Address>(address));
}

MessageBuilder address_message(unsigned type, unsigned flags, const DeviceAddress& address, unsigned index,
                               unsigned address_flags)
{
    ifaddrmsg header{};
    header.ifa_family = std::holds_alternative<Ipv4Address>(address.address) ? AF_INET : AF_INET6;
    header.ifa_prefixlen = static_cast<std::uint8_t>(address.prefix_length);
    header.ifa_flags = static_cast<std::uint8_t>(address_flags);
    header.ifa_index = index;
    MessageBuilder builder(type, flags);
    builder.family_header(header);
    put_address(builder, IFA_LOCAL, address.address);
    return builder;
}

MessageBuilder route_message(unsigned type, unsigned flags, const DefaultRoute& route, unsigned index, bool add)
{
    const bool table_fits = route.table <= UINT8_MAX;
    rtmsg header{};
    header.rtm_family = AF_INET;
    header.rtm_table = table_fits ? static_cast<std::uint8_t>(route.table) : std::uint8_t{RT_TABLE_UNSPEC};
    header.rtm_protocol = our_protocol;
    header.rtm_scope = add ? RT_SCOPE_LINK : RT_SCOPE_NOWHERE;  // nowhere: any, for a deletion
    header.rtm_type = add ? RTN_UNICAST : RTN_UNSPEC;
    MessageBuilder builder(type, flags);
    builder.family_header(header);
    if (route.metric != 0)
        builder.u32(RTA_PRIORITY, route.metric);
    if (!table_fits)
        builder.u32(RTA_TABLE, route.table);
    builder.u32(RTA_OIF, index);
    return builder;
}

MessageBuilder rule_message(unsigned type, unsigned flags, const PolicyRule& rule, bool add)
{
    const bool table_fits = rule.table <= UINT8_MAX;
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.src_len = rule.from ? static_cast<std::uint8_t>(rule.from->length) : std::uint8_t{0};
    header.table = table_fits ? static_cast<std::uint8_t>(rule.table) : std::uint8_t{RT_TABLE_UNSPEC};
    header.action = add ? FR_ACT_TO_TBL : FR_ACT_UNSPEC;
    MessageBuilder builder(type, flags);
    builder.family_header(header);
    builder.u32(FRA_PRIORITY, rule.preference);
    if (rule.iif)
        builder.text_nul(FRA_IIFNAME, rule.iif->str());
    if (rule.from && rule.from->length != 0)
        builder.ipv4(FRA_SRC, rule.from->address);
    if (!table_fits)
        builder.u32(FRA_TABLE, rule.table);
    builder.u8(FRA_PROTOCOL, our_protocol);
    return builder;
}

}  // namespace

Message create_tunnel(const Tunnel& tunnel, unsigned lower_index)
{
    MessageBuilder builder(RTM_NEWLINK, create_exclusively);
    builder.family_header(link_header(0))
        .u32(IFLA_MTU, tunnel.mtu)
        .u32(IFLA_GROUP, half_made_group)
        .text_nul(IFLA_IFNAME, tunnel.name.str());
    put_tunnel_attributes(builder, tunnel, lower_index);
    return builder.finish();
}

Message mark_tunnel(const Tunnel& tunnel, unsigned index)
{
    MessageBuilder builder(RTM_NEWLINK, change_only);
    builder.family_header(link_header(index)).u32(IFLA_GROUP, 0);
    put_mark(builder, tunnel);
    return builder.finish();
}

Message change_tunnel(const Tunnel& tunnel, unsigned index, unsigned lower_index)
{
    MessageBuilder builder(RTM_NEWLINK, change_only);
    builder.family_header(link_header(index)).u32(IFLA_MTU, tunnel.mtu);
    put_tunnel_attributes(builder, tunnel, lower_index);
    put_mark(builder, tunnel);
    return builder.finish();
}

Message set_link_up(unsigned index, bool up)
{
    ifinfomsg header = link_header(index);
    header.ifi_flags = up ? IFF_UP : 0;
    header.ifi_change = IFF_UP;
    return MessageBuilder(RTM_NEWLINK, change_only).family_header(header).finish();
}

Message delete_link(unsigned index)
{
    return MessageBuilder(RTM_DELLINK, change_only).family_header(link_header(index)).finish();
}

Message add_address(const DeviceAddress& address, unsigned index)
{
    const unsigned flags =
        (address.nodad ? unsigned{IFA_F_NODAD} : 0) | (address.noprefixroute ? unsigned{IFA_F_NOPREFIXROUTE} : 0);
    // Flags beyond the header's 8 bits go into an attribute, which then counts alone.
    const bool flags_fit = flags <= UINT8_MAX;
    MessageBuilder builder = address_message(RTM_NEWADDR, create_exclusively, address, index, flags_fit ? flags : 0);
    if (!flags_fit)
        builder.u32(IFA_FLAGS, flags);
    put_address(builder, IFA_ADDRESS, address.address);
    if (address.deprecated) {
        ifa_cacheinfo lifetimes{};
        lifetimes.ifa_prefered = 0;
        lifetimes.ifa_valid = UINT32_MAX;
        builder.raw(IFA_CACHEINFO, &lifetimes, sizeof lifetimes);
    }
    return builder.u8(IFA_PROTO, our_protocol).finish();
}

Message delete_address(const DeviceAddress& address, unsigned index)
{
    MessageBuilder builder = address_message(RTM_DELADDR, change_only, address, index, 0);
    put_address(builder, IFA_ADDRESS, address.address);
    return builder.finish();
}

Message add_route(const DefaultRoute& route, unsigned index)
{
    const unsigned flags = route.prepend ? create_exclusively & ~unsigned{NLM_F_EXCL} : create_exclusively;
    return route_message(RTM_NEWROUTE, flags, route, index, true).finish();
}

Message delete_route(const DefaultRoute& route, unsigned index)
{
    return route_message(RTM_DELROUTE, change_only, route, index, false).finish();
}

Message add_rule(const PolicyRule& rule)
{
    return rule_message(RTM_NEWRULE, create_exclusively, rule, true).finish();
}

Message delete_rule(const PolicyRule& rule)
{
    return rule_message(RTM_DELRULE, change_only, rule, false).finish();
}

}  // namespace mape::netlink
