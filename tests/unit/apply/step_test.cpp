#include "../../support/sample_plan.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <set>

using namespace mape;
using namespace mape::test;

TEST_CASE("every kind of step survives the journal's JSON, both ways round")
{
    std::set<std::size_t> kinds;
    for (const Step& step : sample_plan()) {
        kinds.insert(step.index());
        for (const Step& each : {step, inverse(step)}) {
            const std::string text = to_json(each);
            CHECK(text.find('\n') == std::string::npos);
            const auto read = step_from_json(text);
            REQUIRE_MESSAGE(read, text);
            CHECK(to_json(*read) == text);
            CHECK(to_words(*read) == to_words(each));
            CHECK(to_shell(*read) == to_shell(each));
        }
    }
    CHECK_MESSAGE(kinds.size() == std::variant_size_v<Step>, "a kind of step is missing from sample_plan()");
}

TEST_CASE("a step's JSON cut anywhere or with a field missing is refused, never a crash")
{
    for (const Step& step : sample_plan()) {
        const std::string text = to_json(step);
        for (std::size_t length = 0; length < text.size(); ++length)
            CHECK_FALSE(step_from_json(text.substr(0, length)));
    }
    CHECK_FALSE(step_from_json("[]"));
    CHECK_FALSE(step_from_json("{}"));
    CHECK_FALSE(step_from_json(R"({"kind":"teapot","from":true,"to":true})"));
    CHECK_FALSE(step_from_json(R"({"kind":"link-state","name":"a/b","from":true,"to":true})"));
    CHECK_FALSE(step_from_json(R"({"kind":"link-state","name":"mape0","from":1,"to":true})"));
    CHECK_FALSE(step_from_json(
        R"({"kind":"route","device":"mape0","table":4294967296,"metric":0,"prepend":false,"from":true,"to":true})"));
    for (const char* number : {"1.5", "1e300", "-1", "true", "\"1\""})
        CHECK_FALSE(step_from_json(fmt::format(
            R"({{"kind":"route","device":"mape0","table":{},"metric":0,"prepend":false,"from":true,"to":true}})", number)));
    CHECK_FALSE(step_from_json(R"({"kind":"ruleset","name":"mape0","from":null,"to":{"mark":"","text":"","batch":"0g"}})"));
}

TEST_CASE("a step with neither side does nothing, in every form")
{
    const auto step = step_from_json(R"({"kind":"address","device":"mape0","address":"192.0.2.1","from":null,"to":null})");
    REQUIRE(step);
    CHECK(is_nothing(*step));
    CHECK(to_shell(*step) == ":");
    CHECK_FALSE(to_words(*step).empty());
}

TEST_CASE("identities: an object is itself whatever is done to it, and no other")
{
    std::set<std::string> seen;
    for (const Step& step : sample_plan()) {
        CHECK(identity(step) == identity(inverse(step)));
        CHECK(seen.insert(identity(step)).second);
    }
}

TEST_CASE("join_undo leads from where the second run ended to where the first began")
{
    const Tunnel first = sample_tunnel();
    Tunnel second = first;
    second.mtu = 1280;
    const Step undo_create = inverse(TunnelStep{first.name, {}, first});
    const Step undo_change = inverse(TunnelStep{first.name, first, second});
    const Step joined = join_undo(undo_create, undo_change);
    CHECK(std::get<TunnelStep>(joined).from == second);
    CHECK_FALSE(std::get<TunnelStep>(joined).to);

    const Step undo_delete = inverse(TunnelStep{first.name, first, {}});
    CHECK(is_nothing(join_undo(undo_create, undo_delete)));
}

TEST_CASE("ranks: the sample plan is in the order in which nothing can leave untranslated")
{
    Plan plan = sample_plan();
    // In the course of a change: shut first, opened when all the rest is in place.
    std::erase_if(plan, [](const Step& step) { return std::holds_alternative<EgressStep>(step); });
    CHECK(std::is_sorted(plan.begin(), plan.end(), [](const Step& a, const Step& b) { return rank(a) < rank(b); }));
}

TEST_CASE("words and commands")
{
    const Plan plan = sample_plan();
    CHECK(to_words(plan[0]) == "add the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 on wan0");
    CHECK(to_shell(plan[0])
          == "ip -6 address add 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 dev wan0 nodad noprefixroute valid_lft forever "
             "preferred_lft 0");
    CHECK(to_shell(inverse(plan[0])) == "ip -6 address del 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 dev wan0");
    CHECK(to_shell(plan[1])
          == "ip link add name mape0 mtu 1460 type ip6tnl mode ipip6 local 2400:4050:2ba1:ac00:99:f0ae:8600:2c00 remote "
             "2001:380:a120::9 dev wan0 hoplimit 64 encaplimit none\n"
             "ip link set dev mape0 addrgenmode none alias 'mape-gen 0.1.0'");
    CHECK(to_words(plan[9]) == "open the way into the tunnel mape0");
    CHECK(to_words(inverse(plan[9])) == "shut the way into the tunnel mape0");
    CHECK(to_shell(plan[9]) == "nft delete table inet mape_mape0");
    CHECK(to_shell(inverse(plan[9])).find("oifname \"mape0\" drop") != std::string::npos);
    CHECK(to_words(plan[10]) == "forget the flows of 153.240.174.133 that have ports of others now");
    CHECK(to_shell(plan[10]).find("conntrack -D $side 153.240.174.133") != std::string::npos);
    CHECK(to_shell(inverse(plan[10])) == ":");
    CHECK(to_words(plan[8]) == "add the IPv4 default route through mape0 (table 300, metric 5)");
    CHECK(to_shell(plan[8]) == "ip route add default dev mape0 proto 77 metric 5 table 300");
    CHECK(to_shell(plan[7]) == "ip rule add pref 1000 from 192.168.1.0/24 iif br0 lookup 300 protocol 77");
    CHECK(to_shell(plan[6]) == "sysctl -q -w net/ipv4/ip_forward=1");
}
