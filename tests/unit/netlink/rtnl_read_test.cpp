#include "netlink/rtnl_read.h"

#include <net/if_arp.h>
#include <netinet/in.h>

#include <doctest/doctest.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/ip6_tunnel.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>

#include "netlink/message_builder.h"
#include "wire.h"

using namespace mape;
using namespace mape::netlink;

namespace {

constexpr unsigned unknown_type = 999;

Ipv6Address ipv6(const char* text) { return *Ipv6Address::parse(text); }
Ipv4Address ipv4(const char* text) { return *Ipv4Address::parse(text); }

Message tunnel_message(bool extras = false)
{
    ifinfomsg header{};
    header.ifi_index = 9;
    header.ifi_type = ARPHRD_TUNNEL6;
    header.ifi_flags = IFF_UP | IFF_RUNNING | IFF_NOARP;
    MessageBuilder builder(RTM_NEWLINK, NLM_F_MULTI);
    builder.family_header(header);
    if (extras)
        builder.u8(unknown_type, 1);
    builder.text_nul(IFLA_IFNAME, "mape0").u32(IFLA_MTU, 1460).u8(IFLA_OPERSTATE, IF_OPER_UNKNOWN).u32(IFLA_LINK, 7);
    builder.text_nul(IFLA_IFALIAS, "mape-gen");
    builder.nest(IFLA_LINKINFO, [&] {
        builder.text_nul(IFLA_INFO_KIND, "ip6tnl").nest(IFLA_INFO_DATA, [&] {
            builder.u32(IFLA_IPTUN_LINK, 7).ipv6(IFLA_IPTUN_LOCAL, ipv6("2001:db8::1"));
            builder.ipv6(IFLA_IPTUN_REMOTE, ipv6("2001:db8:ffff::9")).u8(IFLA_IPTUN_TTL, 64);
            builder.u8(IFLA_IPTUN_ENCAP_LIMIT, 4).be32(IFLA_IPTUN_FLOWINFO, 0x12345);
            builder.u32(IFLA_IPTUN_FLAGS, IP6_TNL_F_IGN_ENCAP_LIMIT | 0x30000).u8(IFLA_IPTUN_PROTO, 4).u32(IFLA_IPTUN_FWMARK, 3);
            if (extras)
                builder.u32(unknown_type, 1);
        });
    });
    builder.nest(IFLA_AF_SPEC, [&] {
        builder.nest(AF_INET6, [&] {
            std::uint32_t settings[DEVCONF_MAX]{};
            settings[DEVCONF_MTU6] = 1280;
            builder.raw(IFLA_INET6_CONF, settings, sizeof settings).u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
        });
    });
    return builder.finish();
}

Message address_message(bool extras = false)
{
    ifaddrmsg header{};
    header.ifa_family = AF_INET6;
    header.ifa_prefixlen = 128;
    header.ifa_flags = 0xff;  // superseded by IFA_FLAGS
    header.ifa_index = 7;
    MessageBuilder builder(RTM_NEWADDR, NLM_F_MULTI);
    builder.family_header(header).ipv6(IFA_ADDRESS, ipv6("2001:db8::1"));
    const ifa_cacheinfo lifetimes{0, UINT32_MAX, 1, 2};
    builder.raw(IFA_CACHEINFO, &lifetimes, sizeof lifetimes).u32(IFA_FLAGS, IFA_F_NODAD | IFA_F_NOPREFIXROUTE);
    if (extras)
        builder.u8(unknown_type, 1);
    return builder.u8(IFA_PROTO, our_protocol).finish();
}

MessageBuilder route_builder(unsigned char family, unsigned char length, unsigned char type, unsigned char table = 254)
{
    rtmsg header{};
    header.rtm_family = family;
    header.rtm_dst_len = length;
    header.rtm_type = type;
    header.rtm_table = table;
    header.rtm_protocol = our_protocol;
    header.rtm_scope = RT_SCOPE_LINK;
    return MessageBuilder(RTM_NEWROUTE, NLM_F_MULTI).family_header(header);
}

Message rule_message(bool extras = false)
{
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.src_len = 24;
    header.table = 252;
    header.action = FR_ACT_TO_TBL;
    MessageBuilder builder(RTM_NEWRULE, NLM_F_MULTI);
    builder.family_header(header).u32(FRA_TABLE, 1000).u32(FRA_SUPPRESS_PREFIXLEN, UINT32_MAX).u32(FRA_PRIORITY, 1234);
    builder.text_nul(FRA_IIFNAME, "lan0").ipv4(FRA_SRC, ipv4("192.168.1.0")).u8(FRA_PROTOCOL, our_protocol);
    if (extras)
        builder.u8(unknown_type, 1);
    return builder.finish();
}

}  // namespace

TEST_CASE("an ip6tnl device is read with every attribute")
{
    for (const bool extras : {false, true}) {
        const auto link = parse_link(tunnel_message(extras));
        REQUIRE(link);
        CHECK(link->index == 9);
        CHECK(link->name == "mape0");
        CHECK(link->kind == "ip6tnl");
        CHECK(link->hardware_type == ARPHRD_TUNNEL6);
        CHECK(link->mtu == 1460);
        CHECK(link->ipv6_mtu == 1280);
        CHECK(link->up);
        CHECK(link->running);
        CHECK(link->operational_state == IF_OPER_UNKNOWN);
        CHECK(link->lower_index == 7);
        CHECK(link->master_index == 0);
        CHECK(link->alias == "mape-gen");
        CHECK(link->address_generation == IN6_ADDR_GEN_MODE_NONE);
        REQUIRE(link->tunnel);
        const Ip6Tunnel expected{ipv6("2001:db8::1"), ipv6("2001:db8:ffff::9"), 7, 4, 64, 4, 0x12345,
                                 IP6_TNL_F_IGN_ENCAP_LIMIT, 3, false, 0};
        CHECK(*link->tunnel == expected);
    }
}

TEST_CASE("an address is read with flags, lifetimes and protocol")
{
    for (const bool extras : {false, true}) {
        const auto read = parse_address(address_message(extras));
        REQUIRE(read);
        REQUIRE(*read);
        const Address& address = **read;
        CHECK(address.index == 7);
        CHECK(std::get<Ipv6Address>(address.address) == ipv6("2001:db8::1"));
        CHECK_FALSE(address.peer);
        CHECK(address.prefix_length == 128);
        CHECK(address.flags == (IFA_F_NODAD | IFA_F_NOPREFIXROUTE));
        CHECK(address.preferred_lifetime == 0);
        CHECK(address.valid_lifetime == UINT32_MAX);
        CHECK(address.protocol == our_protocol);
    }
}

TEST_CASE("with a peer, ours is IFA_LOCAL")
{
    ifaddrmsg header{};
    header.ifa_family = AF_INET;
    header.ifa_prefixlen = 32;
    MessageBuilder builder(RTM_NEWADDR, 0);
    builder.family_header(header).ipv4(IFA_ADDRESS, ipv4("192.0.2.2")).ipv4(IFA_LOCAL, ipv4("192.0.2.1"));
    const auto read = parse_address(builder.finish());
    REQUIRE(read);
    CHECK(std::get<Ipv4Address>((*read)->address) == ipv4("192.0.2.1"));
    CHECK(std::get<Ipv4Address>(*(*read)->peer) == ipv4("192.0.2.2"));
}

TEST_CASE("routes of all kinds")
{
    const auto plain = parse_route(route_builder(AF_INET, 0, RTN_UNICAST).u32(RTA_TABLE, 1000).u32(RTA_OIF, 9)
                                       .u32(RTA_PRIORITY, 100).u8(unknown_type, 1).finish());
    REQUIRE(plain);
    const Route expected{Ipv4Prefix{{}, 0}, RTN_UNICAST, our_protocol, RT_SCOPE_LINK, 1000, 100, 9, std::nullopt};
    CHECK(**plain == expected);

    const auto unreachable = parse_route(route_builder(AF_INET6, 56, RTN_UNREACHABLE)
                                             .ipv6(RTA_DST, ipv6("2001:db8:0:ab00::")).finish());
    REQUIRE(unreachable);
    CHECK(std::get<Ipv6Prefix>((*unreachable)->destination) == *Ipv6Prefix::parse("2001:db8:0:ab00::/56"));
    CHECK((*unreachable)->table == 254);

    // Two next hops; the first one's device and gateway.
    MessageBuilder hops = route_builder(AF_INET6, 0, RTN_UNICAST);
    rtnexthop hop{};
    hop.rtnh_len = sizeof hop + 20;
    hop.rtnh_ifindex = 5;
    const auto gateway = ipv6("fe80::1");
    const nlattr gateway_header{20, RTA_GATEWAY};
    std::vector<std::byte> run(2 * hop.rtnh_len);
    for (const std::size_t at : {std::size_t{0}, std::size_t{hop.rtnh_len}}) {
        std::memcpy(run.data() + at, &hop, sizeof hop);
        std::memcpy(run.data() + at + sizeof hop, &gateway_header, sizeof gateway_header);
        std::memcpy(run.data() + at + sizeof hop + 4, gateway.bytes.data(), 16);
        hop.rtnh_ifindex = 6;
    }
    const auto multipath = parse_route(hops.bytes(RTA_MULTIPATH, run).finish());
    REQUIRE(multipath);
    CHECK((*multipath)->out_index == 5);
    CHECK(std::get<Ipv6Address>(*(*multipath)->gateway) == gateway);

    std::vector<std::byte> via(2 + 16);
    const std::uint16_t family = AF_INET6;
    std::memcpy(via.data(), &family, 2);
    std::memcpy(via.data() + 2, gateway.bytes.data(), 16);
    const auto by_ipv6 = parse_route(route_builder(AF_INET, 0, RTN_UNICAST).bytes(RTA_VIA, via).finish());
    REQUIRE(by_ipv6);
    CHECK(std::get<Ipv6Address>(*(*by_ipv6)->gateway) == gateway);

    CHECK(parse_route(route_builder(AF_MPLS, 20, RTN_UNICAST).finish()).value() == std::nullopt);
    CHECK_FALSE(parse_route(route_builder(AF_INET, 33, RTN_UNICAST).finish()));
}

TEST_CASE("a rule, and whether it asks for more than we can say")
{
    for (const bool extras : {false, true}) {
        const auto rule = parse_rule(rule_message(extras));
        REQUIRE(rule);
        const Rule expected{1234, 1000, FR_ACT_TO_TBL, our_protocol, "lan0", *Ipv4Prefix::parse("192.168.1.0/24"), false};
        CHECK(**rule == expected);
    }
    fib_rule_hdr header{};
    header.family = AF_INET;
    CHECK((*parse_rule(MessageBuilder(RTM_NEWRULE, 0).family_header(header).u32(FRA_FWMARK, 1).finish()))->other_selectors);
    CHECK((*parse_rule(MessageBuilder(RTM_NEWRULE, 0).family_header(header).u32(FRA_SUPPRESS_PREFIXLEN, 0).finish()))
              ->other_selectors);
    header.flags = FIB_RULE_INVERT;
    CHECK((*parse_rule(MessageBuilder(RTM_NEWRULE, 0).family_header(header).finish()))->other_selectors);
}

TEST_CASE("prefixes have no host bits, whatever the kernel keeps")
{
    // `ip rule add from 192.168.1.5/24`: another rule than that of 192.168.1.0/24, to the kernel too.
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.src_len = 24;
    const auto rule =
        parse_rule(MessageBuilder(RTM_NEWRULE, 0).family_header(header).ipv4(FRA_SRC, ipv4("192.168.1.5")).finish());
    REQUIRE(rule);
    CHECK((*rule)->from == *Ipv4Prefix::parse("192.168.1.0/24"));
    CHECK((*rule)->other_selectors);

    const auto route4 = parse_route(route_builder(AF_INET, 0, RTN_UNICAST).ipv4(RTA_DST, ipv4("192.0.2.1")).finish());
    REQUIRE(route4);
    CHECK(std::get<Ipv4Prefix>((*route4)->destination) == *Ipv4Prefix::parse("0.0.0.0/0"));
    const auto route6 = parse_route(route_builder(AF_INET6, 33, RTN_UNICAST).ipv6(RTA_DST, ipv6("2001:db8:ffff::1")).finish());
    REQUIRE(route6);
    CHECK(std::get<Ipv6Prefix>((*route6)->destination) == *Ipv6Prefix::parse("2001:db8:8000::/33"));
}

TEST_CASE("short attributes, wrong types and cut messages are errors")
{
    ifinfomsg header{};
    header.ifi_index = 1;
    CHECK_FALSE(parse_link(MessageBuilder(RTM_NEWLINK, 0).family_header(header).text_nul(IFLA_IFNAME, "lo").u16(IFLA_MTU, 1)
                               .finish()));
    CHECK_FALSE(parse_link(MessageBuilder(RTM_NEWLINK, 0).family_header(header).finish()));  // no name
    CHECK_FALSE(parse_link(MessageBuilder(RTM_DELLINK, 0).family_header(header).text_nul(IFLA_IFNAME, "lo").finish()));
    CHECK_FALSE(parse_address(tunnel_message()));
    CHECK_FALSE(parse_link({}));
    const Message whole = tunnel_message();
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK_FALSE(parse_link(std::span(whole).first(length)));
}

TEST_CASE("no damage to a message crashes a parser")
{
    const auto parse_all = [](const wire::Bytes& bytes) {
        (void)parse_link(bytes);
        (void)parse_address(bytes);
        (void)parse_route(bytes);
        (void)parse_rule(bytes);
    };
    wire::damage(tunnel_message(), parse_all);
    wire::damage(address_message(), parse_all);
    wire::damage(rule_message(), parse_all);
    std::vector<std::byte> hops(sizeof(rtnexthop));
    hops[0] = std::byte{sizeof(rtnexthop)};
    wire::damage(route_builder(AF_INET6, 0, RTN_UNICAST).u32(RTA_OIF, 1).bytes(RTA_MULTIPATH, hops)
                     .bytes(RTA_VIA, std::vector<std::byte>(18)).finish(), parse_all);
}

TEST_CASE("queries over a snapshot")
{
    NetworkState state;
    const auto link = [](unsigned index, const char* name, bool up = true) {
        Link made;
        made.index = index;
        made.name = name;
        made.up = up;
        made.mtu = 1500;
        made.hardware_type = ARPHRD_ETHER;
        return made;
    };
    state.links = {link(1, "lo"), link(2, "eth0"), link(3, "eth1"), link(4, "br0"), link(5, "down0", false),
                   link(6, "mape0"), link(7, "mape1")};
    state.links[0].hardware_type = ARPHRD_LOOPBACK;
    for (const std::size_t i : {std::size_t{5}, std::size_t{6}}) {
        state.links[i].kind = "ip6tnl";
        state.links[i].alias = "mape-gen 1";
        state.links[i].tunnel = Ip6Tunnel{ipv6("2001:db8::1"), ipv6("2001:db8::9"), i == 5 ? 2U : 0U, 4, 64, 4, 0, 1, 0, false, 0};
    }
    for (const unsigned index : {1U, 2U, 4U, 5U, 6U, 7U}) {
        Address address;
        address.index = index;
        address.address = Ipv4Address{0x0a000000 + index};
        state.addresses.push_back(address);
    }
    const auto route = [](auto prefix, unsigned out, std::uint32_t metric, std::uint8_t type = RTN_UNICAST,
                          std::uint32_t table = 254) {
        Route made;
        made.destination = prefix;
        made.out_index = out;
        made.metric = metric;
        made.type = type;
        made.table = table;
        return made;
    };
    const Ipv6Prefix all6{{}, 0};
    const Ipv4Prefix all4{{}, 0};
    state.routes = {route(all6, 5, 1),                     // its device is down
                    route(all6, 1, 10, RTN_UNREACHABLE),   // leads nowhere
                    route(all6, 4, 5, RTN_UNICAST, 100),   // another table
                    route(all6, 3, 1024), route(all6, 2, 512), route(all6, 4, 512),
                    route(all4, 2, 0), route(all4, 3, 100), route(all4, 6, 100), route(all4, 6, 0, RTN_UNICAST, 1000)};

    REQUIRE(state.default_ipv6_device());
    CHECK(state.default_ipv6_device()->name == "eth0");
    CHECK(state.find_link("br0")->index == 4);
    CHECK(state.find_link("br1") == nullptr);
    CHECK(state.find_link(7U)->name == "mape1");
    CHECK(state.tunnel_with_endpoints(ipv6("2001:db8::1"), ipv6("2001:db8::9"), 2)->name == "mape0");
    CHECK(state.tunnel_with_endpoints(ipv6("2001:db8::1"), ipv6("2001:db8::9"), 0)->name == "mape1");
    CHECK(state.tunnel_with_endpoints(ipv6("2001:db8::1"), ipv6("2001:db8::9"), 3) == nullptr);
    CHECK(state.default_routes_ipv4(254, 0).size() == 1);
    REQUIRE(state.default_routes_ipv4(254, 100).size() == 2);
    CHECK(state.default_routes_ipv4(254, 100).front()->out_index == 3);
    CHECK(state.default_routes_ipv4(1000, 0).size() == 1);
    CHECK(state.default_routes_ipv4(1000, 1).empty());
    const auto lans = state.ipv4_lan_devices("eth0", "mape0");
    REQUIRE(lans.size() == 1);
    CHECK(lans.front()->name == "br0");
    CHECK(state.wan_mtu(state.links[1]) == 1500);
    state.links[1].ipv6_mtu = 1452;
    CHECK(state.wan_mtu(state.links[1]) == 1452);
    state.links[1].ipv6_mtu = 9000;
    CHECK(state.wan_mtu(state.links[1]) == 1500);
    CHECK(NetworkState{}.default_ipv6_device() == nullptr);
}
