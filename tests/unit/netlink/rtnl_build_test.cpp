// Our bytes against iproute2's. The hex was made by tests/netns/rtnl_capture.sh with iproute2 6.1.0 (Debian 12) on a
// little-endian machine: netlink is in host order, so other machines skip these.
#include "netlink/rtnl_build.h"

#include <netinet/in.h>

#include <bit>
#include <doctest/doctest.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <map>
#include <vector>

#include "wire.h"

using namespace mape;
using namespace mape::netlink;

namespace {

constexpr unsigned wan0 = 7;

InterfaceName name(const char* text) { return *InterfaceName::parse(text); }
Ipv6Address ipv6(const char* text) { return *Ipv6Address::parse(text); }
Ipv4Address ipv4(const char* text) { return *Ipv4Address::parse(text); }

Tunnel tunnel(const char* lower)
{
    return {name("mape0"), ipv6("2001:db8::1"), ipv6("2001:db8:ffff::9"),
            lower ? std::optional(name(lower)) : std::nullopt, 64, 1460, "mape-gen"};
}

// Attribute type -> payload in hex, for one level.
std::map<unsigned, std::string> attributes_of(const wire::Bytes& bytes, std::size_t start)
{
    std::map<unsigned, std::string> found;
    while (start + sizeof(nlattr) <= bytes.size()) {
        nlattr header{};
        std::memcpy(&header, bytes.data() + start, sizeof header);
        REQUIRE(header.nla_len >= sizeof header);
        REQUIRE(start + header.nla_len <= bytes.size());
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(start);
        found[header.nla_type] = wire::to_hex({first + sizeof header, first + header.nla_len});
        start += NLA_ALIGN(header.nla_len);
    }
    return found;
}

constexpr std::size_t link_attributes = NLMSG_HDRLEN + sizeof(ifinfomsg);
constexpr std::size_t address_attributes = NLMSG_HDRLEN + sizeof(ifaddrmsg);

struct Golden {
    std::string command;
    const char* hex;
    Message ours;
};

}  // namespace

TEST_CASE("the same bytes as iproute2")
{
    if (std::endian::native != std::endian::little)
        return;
    Tunnel unbound = tunnel(nullptr);
    unbound.mtu = 1400;
    unbound.hop_limit = 255;
    const std::vector<Golden> rows{
        {"ip link add name mape0 mtu 1460 group 1835102309 type ip6tnl mode ipip6 local 2001:db8::1 remote 2001:db8:ffff::9 dev wan0 encaplimit none hoplimit 64",
         "d00000001000050600000000000000000000000000000000000000000000000008000400b405000008001b006570616d"
         "0a0003006d617065"
         "30000000940012000a000100697036746e6c00008400020005000900040000001400020020010db80000000000000000"
         "000000011400030020010db8ffff00000000000000000009050004004000000005000600040000000800070000000000"
         "08000800010000000800010007000000080014000000000006000f000000000006001000020000000600110000000000"
         "0600120000000000",
         create_tunnel(tunnel("wan0"), wan0)},
        {"ip link add name mape0 mtu 1400 group 1835102309 type ip6tnl mode ipip6 local 2001:db8::1 remote 2001:db8:ffff::9 encaplimit none hoplimit 255",
         "d000000010000506000000000000000000000000000000000000000000000000080004007805000008001b006570616d"
         "0a0003006d617065"
         "30000000940012000a000100697036746e6c00008400020005000900040000001400020020010db80000000000000000"
         "000000011400030020010db8ffff0000000000000000000905000400ff00000005000600040000000800070000000000"
         "08000800010000000800010000000000080014000000000006000f000000000006001000020000000600110000000000"
         "0600120000000000",
         create_tunnel(unbound, 0)},
        {"ip link set dev wan0 up",
         "2000000010000500000000000000000000000000070000000100000001000000",
         set_link_up(wan0, true)},
        {"ip link set dev wan0 down",
         "2000000010000500000000000000000000000000070000000000000001000000",
         set_link_up(wan0, false)},
        {"ip -6 addr del 2001:db8::1/128 dev wan0",
         "400000001500050000000000000000000a800000070000001400020020010db800000000000000000000000114000100"
         "20010db8000000000000000000000001",
         delete_address({name("wan0"), ipv6("2001:db8::1"), 128, true, true, true}, wan0)},
        {"ip addr del 192.0.2.1/32 dev wan0",
         "28000000150005000000000000000000022000000700000008000200c000020108000100c0000201",
         delete_address({name("wan0"), ipv4("192.0.2.1"), 32}, wan0)},
        {"ip route add default dev wan0 proto 77",
         "2400000018000506000000000000000002000000fe4dfd01000000000800040007000000",
         add_route({name("wan0")}, wan0)},
        {"ip route add default dev wan0 proto 77 metric 100 table 1000",
         "3400000018000506000000000000000002000000004dfd0100000000080006006400000008000f00e803000008000400"
         "07000000",
         add_route({name("wan0"), 1000, 100}, wan0)},
        {"ip route prepend default dev wan0 proto 77",
         "2400000018000504000000000000000002000000fe4dfd01000000000800040007000000",
         add_route({name("wan0"), 254, 0, true}, wan0)},
        {"ip route del default dev wan0 proto 77",
         "2400000019000500000000000000000002000000fe4dff00000000000800040007000000",
         delete_route({name("wan0")}, wan0)},
        {"ip route del default dev wan0 proto 77 metric 100 table 1000",
         "3400000019000500000000000000000002000000004dff0000000000080006006400000008000f00e803000008000400"
         "07000000",
         delete_route({name("wan0"), 1000, 100}, wan0)},
        {"ip rule add pref 1000 iif lan0 from 192.168.1.0/24 lookup 1000 protocol 77",
         "4800000020000506000000000000000002001800000000010000000008000600e8030000090003006c616e3000000000"
         "08000200c0a8010008000f00e8030000050015004d000000",
         add_rule({1000, name("lan0"), *Ipv4Prefix::parse("192.168.1.0/24"), 1000})},
        {"ip rule add pref 1001 lookup 100 protocol 77",
         "2c00000020000506000000000000000002000000640000010000000008000600e9030000050015004d000000",
         add_rule({1001, {}, {}, 100})},
        {"ip rule del pref 1000 iif lan0 from 192.168.1.0/24 lookup 1000 protocol 77",
         "4800000021000500000000000000000002001800000000000000000008000600e8030000090003006c616e3000000000"
         "08000200c0a8010008000f00e8030000050015004d000000",
         delete_rule({1000, name("lan0"), *Ipv4Prefix::parse("192.168.1.0/24"), 1000})},
        {"ip link del dev wan0",
         "2000000011000500000000000000000000000000070000000000000000000000",
         delete_link(wan0)},
    };
    for (const Golden& row : rows) {
        CAPTURE(row.command);
        CHECK(wire::to_hex(row.ours) == row.hex);
    }
}

// What differs: we add IFA_PROTO, which ip 6.1 cannot send; for IPv4 and all else the bytes are equal up to there.
TEST_CASE("an address is iproute2's bytes and IFA_PROTO behind them")
{
    if (std::endian::native != std::endian::little)
        return;
    const std::vector<Golden> rows{
        {"ip -6 addr add 2001:db8::1/128 dev wan0 nodad noprefixroute preferred_lft 0 valid_lft forever",
         "5c0000001400050600000000000000000a800000070000001400020020010db800000000000000000000000108000800"
         "020200001400010020010db80000000000000000000000011400060000000000ffffffff0000000000000000",
         add_address({name("wan0"), ipv6("2001:db8::1"), 128, true, true, true}, wan0)},
        {"ip -6 addr add 2001:db8::2/64 dev wan0",
         "400000001400050600000000000000000a400000070000001400020020010db800000000000000000000000214000100"
         "20010db8000000000000000000000002",
         add_address({name("wan0"), ipv6("2001:db8::2"), 64}, wan0)},
        {"ip -6 addr add 2001:db8::3/64 dev wan0 nodad",
         "400000001400050600000000000000000a400200070000001400020020010db800000000000000000000000314000100"
         "20010db8000000000000000000000003",
         add_address({name("wan0"), ipv6("2001:db8::3"), 64, true}, wan0)},
        {"ip addr add 192.0.2.1/32 dev wan0",
         "28000000140005060000000000000000022000000700000008000200c000020108000100c0000201",
         add_address({name("wan0"), ipv4("192.0.2.1"), 32}, wan0)},
    };
    for (const Golden& row : rows) {
        CAPTURE(row.command);
        wire::Bytes theirs = wire::from_hex(row.hex);
        auto ours = attributes_of(row.ours, address_attributes);
        CHECK(ours.extract(IFA_PROTO).mapped() == "4d");
        CHECK(ours == attributes_of(theirs, address_attributes));
        nlmsghdr header = wire::header_of(theirs);
        header.nlmsg_len += 8;
        wire::set_header(theirs, header);
        CHECK(wire::to_hex(row.ours) == wire::to_hex(theirs) + "05000b004d000000");
    }
}

// ip needs two commands for what is one message here; each attribute is what ip sends.
TEST_CASE("marking a tunnel is alias and addrgenmode of iproute2 together")
{
    if (std::endian::native != std::endian::little)
        return;
    const auto ours = attributes_of(mark_tunnel(tunnel("wan0"), wan0), link_attributes);
    auto theirs = attributes_of(wire::from_hex(  // ip link set dev wan0 alias mape-gen
        "2c000000100005000000000000000000000000000700000000000000000000000c0014006d6170652d67656e"), link_attributes);
    theirs.merge(attributes_of(wire::from_hex(  // ip link set dev wan0 addrgenmode none
        "300000001000050000000000000000000000000007000000000000000000000010001a000c000a000500080001000000"), link_attributes));
    theirs.merge(attributes_of(wire::from_hex(  // ip link set dev wan0 group default
        "280000001000050000000000000000000000000007000000000000000000000008001b0000000000"), link_attributes));
    CHECK(ours == theirs);
}

TEST_CASE("changing a tunnel sends all that creating and marking it sent, but name and group")
{
    const auto changed = change_tunnel(tunnel("wan0"), 9, wan0);
    auto created = attributes_of(create_tunnel(tunnel("wan0"), wan0), link_attributes);
    created.merge(attributes_of(mark_tunnel(tunnel("wan0"), 9), link_attributes));
    created.erase(IFLA_IFNAME);
    created.erase(IFLA_GROUP);  // a user's own stays
    CHECK(attributes_of(changed, link_attributes) == created);
    CHECK((wire::header_of(changed).nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL | NLM_F_REPLACE)) == 0);
    ifinfomsg header{};
    std::memcpy(&header, changed.data() + NLMSG_HDRLEN, sizeof header);
    CHECK(header.ifi_index == 9);
    CHECK(header.ifi_change == 0);
}

TEST_CASE("what is created is created exclusively, except before a foreign default route")
{
    const auto flags = [](const Message& message) {
        return wire::header_of(message).nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL | NLM_F_REPLACE | NLM_F_APPEND);
    };
    constexpr int exclusive = NLM_F_CREATE | NLM_F_EXCL;
    CHECK(flags(create_tunnel(tunnel("wan0"), wan0)) == exclusive);
    CHECK(flags(add_address({name("wan0"), ipv4("192.0.2.1"), 32}, wan0)) == exclusive);
    CHECK(flags(add_route({name("wan0")}, wan0)) == exclusive);
    CHECK(flags(add_route({name("wan0"), 254, 0, true}, wan0)) == NLM_F_CREATE);
    CHECK(flags(add_rule({1000, name("lan0"), {}, 1000})) == exclusive);
}
