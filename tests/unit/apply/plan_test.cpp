#include "../../support/box.h"
#include "apply/plan.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>

using namespace mape;
using namespace mape::test;

namespace {

std::vector<std::string> words(const Plan& plan)
{
    std::vector<std::string> text;
    for (const Step& step : plan)
        text.push_back(to_words(step));
    return text;
}

PlanResult planned(const Wanted& wanted, const Observed& observed, const std::vector<Step>& settled = {})
{
    auto result = make_plan(wanted, observed, settled);
    REQUIRE(result);
    return std::move(*result);
}

std::string refusal(const Wanted& wanted, const Observed& observed)
{
    const auto result = make_plan(wanted, observed, {});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::failed);
    CHECK_FALSE(result.error().hint.empty());
    return result.error().message;
}

netlink::Link* tunnel_of(Observed& box)
{
    return &box.network.links.back();
}

/// What a journal would have settled after applying `wanted` to a bare box.
std::vector<Step> settled_after(const Wanted& wanted)
{
    std::vector<Step> settled;
    for (const Step& step : planned(wanted, bare_box()).plan)
        settled.push_back(inverse(step));
    return settled;
}

}  // namespace

TEST_CASE("from nothing: every object, in the order of ranks")
{
    const Plan plan = planned(sample_wanted(), bare_box()).plan;
    CHECK(words(plan)
          == std::vector<std::string>{
              "add the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 on wan0",
              "create the tunnel mape0: 2400:4050:2ba1:ac00:99:f0ae:8600:2c00 to border relay 2001:380:a120::9, MTU 1460",
              "load the nftables ruleset mape_mape0",
              "set the tunnel mape0 up",
              "add the IPv4 address 153.240.174.134/32 on mape0",
              "set net/ipv4/conf/mape0/rp_filter to 2",
              "turn IPv4 forwarding on",
              "add the policy rule iif lan0 preference 1000 to table 300",
              "add the IPv4 default route through mape0 (table 300, metric 5)",
          });
    CHECK(std::is_sorted(plan.begin(), plan.end(), [](const Step& a, const Step& b) { return rank(a) < rank(b); }));
}

TEST_CASE("as wanted: nothing to do, with a journal or without")
{
    CHECK(planned(sample_wanted(), applied_box(sample_wanted())).plan.empty());
    CHECK(planned(sample_wanted(), applied_box(sample_wanted()), settled_after(sample_wanted())).plan.empty());
}

TEST_CASE("each single difference gives exactly its own step")
{
    struct Case {
        const char* what;
        std::function<void(Observed&)> change;
        std::vector<std::string> steps;
    };
    const std::string tunnel = "the tunnel mape0: 2400:4050:2ba1:ac00:99:f0ae:8600:2c00 to border relay 2001:380:a120::9, MTU 1460";
    const std::string ce = "the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 on wan0";
    const std::vector<Case> cases{
        {"CE address lost", [](Observed& b) { b.network.addresses.erase(b.network.addresses.begin() + 1); }, {"add " + ce}},
        {"CE address preferred", [](Observed& b) { b.network.addresses[1].preferred_lifetime = UINT32_MAX; }, {"correct " + ce}},
        {"CE address with a prefix route", [](Observed& b) { b.network.addresses[1].flags &= ~unsigned{IFA_F_NOPREFIXROUTE}; },
         {"correct " + ce}},
        {"CE address that expires", [](Observed& b) { b.network.addresses[1].valid_lifetime = 600; }, {"correct " + ce}},
        {"CE address of another scope", [](Observed& b) { b.network.addresses[1].scope = RT_SCOPE_LINK; }, {"correct " + ce}},
        {"CE address with a peer", [](Observed& b) { b.network.addresses[1].peer = *Ipv6Address::parse("::2"); }, {"correct " + ce}},
        {"CE address of another length", [](Observed& b) { b.network.addresses[1].prefix_length = 64; }, {"correct " + ce}},
        {"IPv4 with half a lifetime", [](Observed& b) { b.network.addresses.back().preferred_lifetime = 60; },
         {"correct the IPv4 address 153.240.174.134/32 on mape0"}},
        {"half made", [](Observed& b) { tunnel_of(b)->group = half_made_group; }, {"change " + tunnel}},
        {"the way into the tunnel still shut", [](Observed& b) { b.ruleset.egress_shut = true; },
         {"open the way into the tunnel mape0"}},
        {"route with a source", [](Observed& b) { b.network.routes.back().other_attributes = true; },
         {"remove the IPv4 default route through mape0 (table 300, metric 5)",
          "add the IPv4 default route through mape0 (table 300, metric 5)"}},
        {"other translation, same rules",  [](Observed& b) { b.ruleset.translation = "153.240.174.134 6/6/45"; },
         {"forget the flows of 153.240.174.134 that have ports of others now"}},
        {"IPv4 lost", [](Observed& b) { b.network.addresses.pop_back(); },
         {"add the IPv4 address 153.240.174.134/32 on mape0"}},
        {"MTU", [](Observed& b) { tunnel_of(b)->mtu = 1452; }, {"change " + tunnel}},
        {"hop limit", [](Observed& b) { tunnel_of(b)->tunnel->hop_limit = 255; }, {"change " + tunnel}},
        {"encapsulation limit", [](Observed& b) { tunnel_of(b)->tunnel->flags &= ~unsigned{IP6_TNL_F_IGN_ENCAP_LIMIT}; },
         {"change " + tunnel}},
        {"mode any", [](Observed& b) { tunnel_of(b)->tunnel->protocol = 0; }, {"change " + tunnel}},
        {"flow label", [](Observed& b) { tunnel_of(b)->tunnel->flow_info = 1; }, {"change " + tunnel}},
        {"link-local address", [](Observed& b) { tunnel_of(b)->address_generation = IN6_ADDR_GEN_MODE_EUI64; },
         {"change " + tunnel}},
        {"down", [](Observed& b) { tunnel_of(b)->up = false; }, {"set the tunnel mape0 up"}},
        {"ruleset edited", [](Observed& b) { b.ruleset.changed = {"missing: a rule"}; },
         {"replace the nftables ruleset mape_mape0"}},
        {"ruleset of another version", [](Observed& b) { b.ruleset.mark = "mape-gen 0.0.1 0"; },
         {"replace the nftables ruleset mape_mape0"}},
        {"ruleset gone",
         [](Observed& b) { b.ruleset = bare_box().ruleset; },
         {"load the nftables ruleset mape_mape0"}},
        {"route gone", [](Observed& b) { b.network.routes.clear(); },
         {"add the IPv4 default route through mape0 (table 300, metric 5)"}},
        {"rule gone", [](Observed& b) { b.network.rules.clear(); }, {"add the policy rule iif lan0 preference 1000 to table 300"}},
        {"value", [](Observed& b) { b.values["net/ipv4/conf/mape0/rp_filter"] = "1"; },
         {"set net/ipv4/conf/mape0/rp_filter from 1 to 2"}},
        {"forwarding", [](Observed& b) { b.forwarding = "0"; }, {"turn IPv4 forwarding on"}},
    };
    for (const Case& each : cases) {
        CAPTURE(each.what);
        Observed box = applied_box(sample_wanted());
        each.change(box);
        CHECK(words(planned(sample_wanted(), box).plan) == each.steps);
        CHECK(words(planned(sample_wanted(), box, settled_after(sample_wanted())).plan) == each.steps);
    }
}

TEST_CASE("a name that is taken by a device that is not ours")
{
    Observed box = bare_box();
    netlink::Link dummy;
    dummy.index = 9;
    dummy.name = "mape0";
    dummy.kind = "dummy";
    box.network.links.push_back(dummy);
    CHECK(refusal(sample_wanted(), box) == "the name of the tunnel, mape0, is taken by a device that is not ours (kind dummy)");
}

TEST_CASE("a tunnel with our endpoints is named, and so is the chain that translates for it")
{
    Observed box = bare_box();
    Tunnel other = sample_wanted().tunnel;
    other.name = device("ip6tnl1");
    other.alias.clear();
    box.network.links.push_back(dumped(other, true));
    box.foreign_nat.push_back({nft::Family::ip, "map_e_nat", "POSTROUTING", 100, true});
    CHECK(refusal(sample_wanted(), box)
          == "a tunnel that is not ours, ip6tnl1, has the endpoints 2400:4050:2ba1:ac00:99:f0ae:8600:2c00 and "
             "2001:380:a120::9 already; chain POSTROUTING of table ip map_e_nat translates");
    box.network.links.back().alias = our_alias;
    CHECK(refusal(sample_wanted(), box).starts_with("another tunnel of ours, ip6tnl1, "));
}

TEST_CASE("a foreign default route of the same table and metric is refused by name; another metric or prepend is fine")
{
    Observed box = bare_box();
    netlink::Route foreign = dumped(*sample_wanted().route);
    foreign.protocol = RTPROT_STATIC;
    foreign.out_index = lan_index;
    foreign.gateway = *Ipv4Address::parse("192.168.1.1");
    box.network.routes.push_back(foreign);
    CHECK(refusal(sample_wanted(), box)
          == "there is another IPv4 default route of metric 5: default via 192.168.1.1 dev lan0 metric 5");

    Wanted other = sample_wanted();
    other.route->prepend = true;
    CHECK(planned(other, box).plan.size() == 9);
    other.route = DefaultRoute{device("mape0"), 300, 6, false};
    const PlanResult result = planned(other, box);
    CHECK(result.plan.size() == 9);
    CHECK(result.warnings
          == std::vector<std::string>{
              "another IPv4 default route is preferred to ours (metric 6): default via 192.168.1.1 dev lan0 metric 5"});
    other.route.reset();
    CHECK(planned(other, box).plan.size() == 8);
}

TEST_CASE("a table of our name without our mark is refused")
{
    Observed box = bare_box();
    box.ruleset.presence = RulesetState::Presence::foreign;
    CHECK(refusal(sample_wanted(), box) == "a table of our name, mape_mape0, is not ours: its comment is not our mark");
}

TEST_CASE("foreign nat chains: a warning, one that comes before ours or names our tunnel only")
{
    Observed box = bare_box();
    box.foreign_nat = {{nft::Family::inet, "firewalld", "nat_POSTROUTING", 110, false},
                       {nft::Family::ip, "early", "post", -200, false},
                       {nft::Family::ip, "nat", "POSTROUTING", 100, true}};
    CHECK(planned(sample_wanted(), box).warnings
          == std::vector<std::string>{
              "chain post of table ip early translates before ours (priority -200 before 99)",
              "chain POSTROUTING of table ip nat has a rule for packets that leave through mape0; ours come first"});
}

TEST_CASE("a CE address that somebody else has set is left alone, with a warning; one of ours is corrected")
{
    Observed box = bare_box();
    box.network.addresses.push_back(dumped(sample_ce(), wan_index));
    box.network.addresses.back().protocol = IFAPROT_UNSPEC;
    box.network.addresses.back().prefix_length = 64;
    box.network.addresses.back().preferred_lifetime = UINT32_MAX;
    const PlanResult result = planned(sample_wanted(), box);
    CHECK(result.plan.size() == 8);
    CHECK(result.warnings
          == std::vector<std::string>{"2400:4050:2ba1:ac00:99:f0ae:8600:2c00/64 is on wan0 already, set by somebody else: left "
                                      "as it is; the box may use it as a source address of its own"});
    box.network.addresses.back().protocol = our_protocol;
    CHECK(planned(sample_wanted(), box).plan.size() == 9);
}

TEST_CASE("a new prefix: nothing gets into the tunnel while endpoints and ruleset change; what is old goes last")
{
    const Wanted before = sample_wanted();
    Wanted after = before;
    after.ce.address = after.tunnel.local = *Ipv6Address::parse("2400:4050:2ba1:ad00:99:f0ae:8600:2d00");
    after.ipv4.address = *Ipv4Address::parse("153.240.174.135");
    after.mark = "mape-gen 0.1.0 fedcba9876543210";
    after.translation = "153.240.174.135 6/6/45";
    for (const auto& settled : {std::vector<Step>{}, settled_after(before)})
        CHECK(words(planned(after, applied_box(before), settled).plan)
              == std::vector<std::string>{
                  "shut the way into the tunnel mape0",
                  "add the CE address 2400:4050:2ba1:ad00:99:f0ae:8600:2d00/128 on wan0",
                  "change the tunnel mape0: 2400:4050:2ba1:ad00:99:f0ae:8600:2d00 to border relay 2001:380:a120::9, MTU 1460",
                  "replace the nftables ruleset mape_mape0",
                  "add the IPv4 address 153.240.174.135/32 on mape0",
                  "open the way into the tunnel mape0",
                  "remove the IPv4 address 153.240.174.134/32 from mape0",
                  "remove the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 from wan0",
                  "forget the flows of 153.240.174.134",
              });
}

TEST_CASE("another border relay, MTU or ruleset: one step, and packets pass meanwhile")
{
    Wanted after = sample_wanted();
    after.tunnel.remote = *Ipv6Address::parse("2001:380:a120::a");
    CHECK(words(planned(after, applied_box(sample_wanted())).plan)
          == std::vector<std::string>{
              "change the tunnel mape0: 2400:4050:2ba1:ac00:99:f0ae:8600:2c00 to border relay 2001:380:a120::a, MTU 1460"});
    after = sample_wanted();
    after.mark = "mape-gen 0.1.0 fedcba9876543210";
    CHECK(words(planned(after, applied_box(sample_wanted())).plan)
          == std::vector<std::string>{"replace the nftables ruleset mape_mape0"});
}

TEST_CASE("an address that another device has too keeps its flows")
{
    Wanted after = sample_wanted();
    after.ipv4.address = *Ipv4Address::parse("153.240.174.135");
    Observed box = applied_box(sample_wanted());
    CHECK(words(planned(after, box).plan).back() == "forget the flows of 153.240.174.134");
    box.network.addresses.push_back(dumped(sample_ipv4(), lan_index));
    CHECK(words(planned(after, box).plan).back() == "remove the IPv4 address 153.240.174.134/32 from mape0");
}

TEST_CASE("a ruleset of ours that nobody remembers is replaced, and undoing that says so")
{
    Observed box = applied_box(sample_wanted());
    box.ruleset.loaded.reset();
    box.ruleset.changed = {"the state directory does not know what was loaded"};
    const Plan plan = planned(sample_wanted(), box).plan;
    REQUIRE(words(plan) == std::vector<std::string>{"replace the nftables ruleset mape_mape0"});
    const auto undo = std::get<RulesetStep>(inverse(plan[0]));
    REQUIRE(undo.to);
    CHECK(is_unknown(*undo.to));
}

TEST_CASE("a default route of ours that stands behind another one counts only as something to be moved")
{
    Observed box = applied_box(sample_wanted());
    netlink::Route foreign = box.network.routes.back();
    foreign.protocol = RTPROT_STATIC;
    foreign.out_index = lan_index;
    box.network.routes.insert(box.network.routes.begin(), foreign);
    CHECK(refusal(sample_wanted(), box) == "there is another IPv4 default route of metric 5: default dev lan0 metric 5");
    Wanted first = sample_wanted();
    first.route->prepend = true;
    CHECK(words(planned(first, box).plan)
          == std::vector<std::string>{"remove the IPv4 default route through mape0 (table 300, metric 5)",
                                      "add the IPv4 default route through mape0 (table 300, metric 5)"});
}

TEST_CASE("settings that no longer ask for an object: it goes")
{
    const Wanted before = sample_wanted();
    Wanted after = before;
    after.rules.clear();
    after.route = DefaultRoute{device("mape0"), 254, 0, false};
    after.values.clear();
    after.forwarding = false;
    const auto steps = words(planned(after, applied_box(before), settled_after(before)).plan);
    CHECK(steps
          == std::vector<std::string>{
              "add the IPv4 default route through mape0 (table main, metric 0)",
              "remove the IPv4 default route through mape0 (table 300, metric 5)",
              "remove the policy rule iif lan0 preference 1000 to table 300",
              "turn IPv4 forwarding off",
              "set net/ipv4/conf/mape0/rp_filter from 2 to ",
          });
}

TEST_CASE("removal by marks alone, without a journal; nothing that is not ours")
{
    Observed box = applied_box(sample_wanted());
    box.network.routes.push_back(box.network.routes.front());
    box.network.routes.back().protocol = RTPROT_STATIC;
    box.network.routes.back().metric = 6;
    box.network.rules.push_back(box.network.rules.front());
    box.network.rules.back().protocol = RTPROT_STATIC;
    box.network.addresses.push_back(box.network.addresses.back());
    box.network.addresses.back().protocol = IFAPROT_UNSPEC;
    box.network.addresses.back().address = *Ipv4Address::parse("192.0.2.1");
    CHECK(words(removal_plan(device("mape0"), box))
          == std::vector<std::string>{
              "remove the IPv4 default route through mape0 (table 300, metric 5)",
              "remove the policy rule iif lan0 preference 1000 to table 300",
              "remove the IPv4 address 153.240.174.134/32 from mape0",
              "set the tunnel mape0 down",
              "remove the nftables ruleset mape_mape0",
              "delete the tunnel mape0",
              "remove the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 from wan0",
          });
    CHECK(removal_plan(device("mape0"), bare_box()).empty());
}

TEST_CASE("removal: a CE address set by an admin stays where the kernel keeps IFA_PROTO, and so does another tunnel's")
{
    Observed box = applied_box(sample_wanted());
    box.network.addresses[1].protocol = IFAPROT_UNSPEC;
    CHECK(words(removal_plan(device("mape0"), box)).size() == 6);
    // Before 5.18 nothing has IFA_PROTO: our flags on the tunnel's own endpoint tell.
    for (netlink::Address& address : box.network.addresses)
        address.protocol = IFAPROT_UNSPEC;
    CHECK(words(removal_plan(device("mape0"), box)).back()
          == "remove the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 from wan0");

    // Another tunnel of ours uses it.
    Observed other = applied_box(sample_wanted());
    other.ruleset = bare_box().ruleset;
    CHECK(removal_plan(device("mape1"), other).empty());
}

TEST_CASE("lan-notrack: a warning where others need LAN traffic tracked, and none elsewhere")
{
    Observed box = bare_box();
    Wanted wanted = sample_wanted();
    wanted.lan_notrack = true;
    CHECK(planned(wanted, box).warnings.empty());
    box.stateful_input = {"inet filter"};
    box.foreign_nat = {{nft::Family::ip, "nat", "POSTROUTING", 100, false}};
    CHECK(planned(sample_wanted(), box).warnings.empty());
    const auto warnings = planned(wanted, box).warnings;
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].starts_with("lan-notrack: table inet filter asks for the state of packets at input"));
    CHECK(warnings[1].starts_with("lan-notrack: chain POSTROUTING of table ip nat cannot masquerade LAN traffic"));
}

TEST_CASE("a second line takes over the undo of forwarding, once")
{
    Observed box = applied_box(sample_wanted());
    box.inherited = ForwardingStep{true, false, {{"net/ipv4/conf/wan0/forwarding", "0"}}};
    const Plan plan = planned(sample_wanted(), box).plan;
    REQUIRE(words(plan) == std::vector<std::string>{"turn IPv4 forwarding on"});
    CHECK(std::get<ForwardingStep>(plan[0]).before == box.inherited->before);
    CHECK(planned(sample_wanted(), box, {inverse(plan[0])}).plan.empty());
}
