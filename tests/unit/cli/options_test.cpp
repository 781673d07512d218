#include "cli/options.h"

#include "cli/flags.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace mape;
using namespace mape::cli;

namespace {

Result<void> set(Settings& settings, std::string_view key, std::string_view value)
{
    const OptionRow* row = find_option(key);
    REQUIRE(row != nullptr);
    return set_option(*row, settings, value);
}

}  // namespace

TEST_CASE("keys are unique across sections and flags, and grouped by section")
{
    std::set<std::string_view> names;
    std::vector<std::string_view> sections;
    for (const OptionRow& row : option_rows()) {
        CHECK(names.insert(row.name).second);
        CHECK(find_flag(row.name) == nullptr);
        if (sections.empty() || sections.back() != row.section)
            sections.push_back(row.section);
    }
    CHECK(std::equal(sections.begin(), sections.end(), option_sections().begin(), option_sections().end()));
}

TEST_CASE("no key takes an empty value or a NUL byte")
{
    for (const OptionRow& row : option_rows()) {
        INFO(row.name);
        Settings settings;
        CHECK_FALSE(set_option(row, settings, ""));
        CHECK_FALSE(set_option(row, settings, " \t, "));
        CHECK_FALSE(set_option(row, settings, std::string_view("a\0b", 3)));
    }
}

TEST_CASE("auto takes back what a file states")
{
    Settings settings;
    REQUIRE(set(settings, "wan", "eth0"));
    CHECK(settings.wan->str() == "eth0");
    REQUIRE(set(settings, "wan", "auto"));
    CHECK_FALSE(settings.wan);
    REQUIRE(set(settings, "mtu", "1280"));
    CHECK(settings.mtu == 1280U);
    REQUIRE(set(settings, "mtu", "auto"));
    CHECK_FALSE(settings.mtu);
    REQUIRE(set(settings, "prefix", "2001:db8::1"));
    CHECK(to_text(*settings.line.prefix) == "2001:db8::/64");
    REQUIRE(set(settings, "prefix", "auto"));
    CHECK_FALSE(settings.line.prefix);
    REQUIRE(set(settings, "iid", "draft03"));
    CHECK(settings.line.rule.iid == IidFormat::draft03);
    REQUIRE(set(settings, "iid", "auto"));
    CHECK_FALSE(settings.line.rule.iid);
}

TEST_CASE("lists: blanks and commas; repeatable keys add, others replace")
{
    Settings settings;
    REQUIRE(set(settings, "lan", "eth1, eth2\teth3"));
    CHECK(settings.lan.size() == 3);
    REQUIRE(set(settings, "lan", "eth4"));
    CHECK(settings.lan.size() == 1);
    REQUIRE(set(settings, "reserve", "last-ranges 2, 64515 64517,4928-4943"));
    REQUIRE(set(settings, "reserve", "1"));
    REQUIRE(settings.reserve.size() == 5);
    CHECK(std::get<LastRanges>(settings.reserve[0]).count == 2);
    CHECK(std::get<PortRange>(settings.reserve[3]) == PortRange{4928, 4943});
    REQUIRE(set(settings, "open", "tcp 22 80, udp 51820-51821"));
    REQUIRE(settings.open.size() == 3);
    CHECK(settings.open[1].protocol == nft::Protocol::tcp);
    CHECK(settings.open[1].ports == PortRange{80, 80});
    CHECK(settings.open[2].protocol == nft::Protocol::udp);
    CHECK_FALSE(set(settings, "open", "tcp udp 53"));
    REQUIRE(set(settings, "lan-notrack", "192.168.1.0/24 192.168.1.2, 10.0.0.0/8 10.0.0.1"));
    CHECK(settings.lan_notrack.size() == 2);
}

TEST_CASE("the edges of ranges")
{
    struct Edge {
        std::string_view key, inside, outside;
    };
    for (const Edge& edge : {Edge{"mtu", "1280", "1279"}, Edge{"mtu", "65495", "65496"}, Edge{"ea-length", "48", "49"},
                             Edge{"psid-offset", "15", "16"}, Edge{"psid-length", "16", "17"}, Edge{"psid", "65535", "65536"},
                             Edge{"table", "1", "0"}, Edge{"table", "254", "255"}, Edge{"table", "4294967295", "4294967296"},
                             Edge{"metric", "0", "-1"}, Edge{"rule", "iif br0 pref 1", "iif br0 pref 0"},
                             Edge{"rule", "from 10.0.0.0/8 pref 32765", "from 10.0.0.0/8 pref 32766"},
                             Edge{"log-rate", "1000000/day", "1000001/day"}, Edge{"reserve", "last-ranges 1", "last-ranges 0"}}) {
        INFO(edge.key, " ", edge.outside);
        Settings settings;
        CHECK(set(settings, edge.key, edge.inside));
        CHECK_FALSE(set(settings, edge.key, edge.outside));
    }
}

TEST_CASE("table, default-route, protocols, inbound and log-rate")
{
    Settings settings;
    REQUIRE(set(settings, "table", "off"));
    CHECK_FALSE(settings.table);
    REQUIRE(set(settings, "table", "main"));
    CHECK(settings.table == 254U);
    REQUIRE(set(settings, "default-route", "prepend"));
    CHECK(settings.default_route == DefaultRouteMode::prepend);
    REQUIRE(set(settings, "protocols", "udp tcp,udp"));
    CHECK(settings.protocols == std::vector{nft::Protocol::udp, nft::Protocol::tcp});
    REQUIRE(set(settings, "protocols", "all"));
    CHECK(settings.all_protocols);
    CHECK_FALSE(settings.protocols);
    REQUIRE(set(settings, "inbound", "open"));
    CHECK(settings.inbound_open);
    REQUIRE(set(settings, "log-rate", "off"));
    CHECK_FALSE(settings.log_rate);
}

TEST_CASE("names of tunnels")
{
    CHECK(parse_tunnel_name("mape0"));
    CHECK(parse_tunnel_name("v6plus-tnl_1.5"));
    for (const std::string_view bad : {"", "ip6tnl0", "0mape", "-mape", ".mape", "ma/pe", "ma:pe", "abcdefghijklmnop", "m\xc3\xa4pe"})
        CHECK_FALSE(parse_tunnel_name(bad));
}

TEST_CASE("a policy rule needs a table of its own")
{
    Settings settings;
    REQUIRE(set(settings, "rule", "iif br0 from 10.0.0.0/8 pref 1000"));
    CHECK(check_settings(settings).size() == 1);
    REQUIRE(set(settings, "table", "300"));
    CHECK(check_settings(settings).empty());
}
