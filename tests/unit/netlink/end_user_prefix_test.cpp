#include "netlink/end_user_prefix.h"

#include <doctest/doctest.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

using namespace mape;
using namespace mape::netlink;

namespace {

const std::vector<unsigned> devices{2, 3};

NetworkState with_links()
{
    NetworkState state;
    for (const auto& [index, name] : {std::pair{2U, "eth0"}, std::pair{3U, "br0"}, std::pair{4U, "wg0"}}) {
        Link link;
        link.index = index;
        link.name = name;
        state.links.push_back(link);
    }
    return state;
}

Address address(unsigned index, const char* text, unsigned length)
{
    Address made;
    made.index = index;
    made.address = *Ipv6Address::parse(text);
    made.prefix_length = length;
    return made;
}

Route route(const char* prefix, std::uint8_t type)
{
    Route made;
    made.destination = *Ipv6Prefix::parse(prefix);
    made.type = type;
    return made;
}

std::vector<std::string> texts(const NetworkState& state)
{
    std::vector<std::string> lines;
    for (const auto& candidate : end_user_prefix_candidates(state, devices))
        lines.push_back(to_text(candidate.prefix) + ": " + candidate.seen);
    return lines;
}

}  // namespace

TEST_CASE("delegated before seen, shorter before longer, each once")
{
    NetworkState state = with_links();
    state.addresses = {address(2, "2001:db8:1:2::1", 64), address(3, "2001:db8:5:ab01::1", 64),
                       address(3, "2001:db8:1:2::3", 64), address(2, "2001:db8:9::7", 128), address(2, "2001:db8:7::1", 56)};
    state.routes = {route("2001:db8:8::/60", RTN_BLACKHOLE), route("2001:db8:5:ab00::/56", RTN_UNREACHABLE),
                    route("2001:db8:5:ab01::/64", RTN_PROHIBIT)};
    CHECK(texts(state) ==
          std::vector<std::string>{
              "2001:db8:5:ab00::/56: unreachable route 2001:db8:5:ab00::/56 (DHCPv6-PD)",
              "2001:db8:8::/60: blackhole route 2001:db8:8::/60 (DHCPv6-PD)",
              "2001:db8:5:ab01::/64: prohibit route 2001:db8:5:ab01::/64 (DHCPv6-PD), address 2001:db8:5:ab01::1/64 on br0",
              "2001:db8:7::/56: address 2001:db8:7::1/56 on eth0",
              "2001:db8:1:2::/64: address 2001:db8:1:2::1/64 on eth0, address 2001:db8:1:2::3/64 on br0",
              "2001:db8:9::/64: address 2001:db8:9::7/128 on eth0",
          });
}

TEST_CASE("what does not count")
{
    NetworkState state = with_links();
    const auto without = [&](Address odd) {
        state.addresses = {odd};
        return texts(state).empty();
    };
    Address good = address(2, "2001:db8:1:2::1", 64);
    CHECK_FALSE(without(good));
    CHECK(without(address(4, "2001:db8:1:2::1", 64)));  // a device that is neither WAN nor LAN
    CHECK(without(address(2, "fd00::1", 64)));
    CHECK(without(address(2, "fe80::1", 64)));
    Address odd = good;
    odd.preferred_lifetime = 0;
    CHECK(without(odd));
    for (const int flag : {IFA_F_DEPRECATED, IFA_F_TENTATIVE, IFA_F_DADFAILED}) {
        odd = good;
        odd.flags = static_cast<std::uint32_t>(flag);
        CHECK(without(odd));
    }
    odd = good;
    odd.protocol = our_protocol;
    CHECK(without(odd));
    odd = good;
    odd.scope = RT_SCOPE_LINK;
    CHECK(without(odd));
    state.addresses.clear();
    state.routes = {route("2001:db8::/32", RTN_UNREACHABLE), route("2001:db8::1/128", RTN_UNREACHABLE),
                    route("fd00::/48", RTN_UNREACHABLE), route("2001:db8::/56", RTN_UNICAST), route("::/0", RTN_UNREACHABLE)};
    CHECK(texts(state).empty());
    state.routes = {route("2001:db8::/56", RTN_THROW)};
    CHECK(texts(state).size() == 1);
    state.routes.front().protocol = our_protocol;
    CHECK(texts(state).empty());
}

TEST_CASE("which addresses are global unicast")
{
    const auto global = [](const char* text) { return is_global_unicast(*Ipv6Address::parse(text)); };
    CHECK(global("2001:db8::1"));
    CHECK(global("2400::"));
    CHECK(global("3fff:ffff::"));
    CHECK(global("64:ff9b::192.0.2.1"));
    CHECK(global("4000::1"));
    for (const char* text : {"::", "::1", "::ffff:192.0.2.1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1"}) {
        CAPTURE(text);
        CHECK_FALSE(global(text));
    }
}
