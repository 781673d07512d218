#include "map/customer_edge.h"

#include "values.h"

using namespace mape;
using namespace mape::test;

namespace {

CustomerEdge derive(const MapRuleFields& rule, std::string_view prefix)
{
    return value(derive_customer_edge(value(MapRule::make(rule)), p6(prefix)));
}

std::string refusal(const MapRuleFields& rule, std::string_view prefix)
{
    return error(derive_customer_edge(value(MapRule::make(rule)), p6(prefix)));
}

MapRuleFields draft(MapRuleFields rule, std::uint32_t offset)
{
    rule.psid_offset = offset;
    rule.iid = IidFormat::draft03;
    return rule;
}

const MapRuleFields appendix_a = fields("2001:db8::/40", "192.0.2.0/24", 16);

}  // namespace

TEST_CASE("every published worked example")
{
    const auto rows = read_tsv(MAPE_TEST_DATA "/worked-examples.tsv");
    REQUIRE(rows.size() == 20);
    for (auto row : rows) {
        CAPTURE(row["end_user_prefix"]);
        MapRuleFields rule = fields(row["rule_ipv6"], row["rule_ipv4"], static_cast<std::uint32_t>(std::stoul(row["ea_length"])));
        rule.psid_offset = std::stoul(row["psid_offset"]);
        rule.iid = parse_iid_format(row["iid"]);
        const MapRule made = value(MapRule::make(rule));
        const CustomerEdge edge = value(derive_customer_edge(made, p6(row["end_user_prefix"])));
        CHECK(edge.ipv4 == p4(row["ipv4"]));
        CHECK(edge.ports.psid() == std::stoul(row["psid"]));
        CHECK(edge.ports.psid_length() == std::stoul(row["psid_length"]));
        CHECK(edge.ce == v6(row["ce"]));
        CHECK(edge.ports.range_count() == std::stoul(row["range_count"]));
        CHECK(edge.ports.port_count() == std::stoul(row["port_count"]));
        CHECK(edge.ports.ranges().front() == ports(row["first_range"]));
        CHECK(edge.warnings.empty());

        const CustomerEdge owner = value(owner_of(made, edge.ipv4.address, edge.ports.ranges().back().last));
        CHECK(owner.map_prefix == edge.map_prefix);
        CHECK(owner.end_user_prefix == edge.map_prefix);
        CHECK(owner.ce == edge.ce);
        CHECK(owner.ports == edge.ports);
    }
}

TEST_CASE("RFC 7597 appendix A: examples 1, 2 and 3")
{
    const CustomerEdge edge = derive(appendix_a, "2001:db8:12:3400::/56");
    CHECK(edge.ipv4 == p4("192.0.2.18/32"));
    CHECK(edge.ports.psid() == 0x34);
    CHECK(edge.ports.psid_length() == 8);
    CHECK(edge.ce == v6("2001:db8:12:3400:0:c000:212:34"));
    CHECK(edge.map_prefix == p6("2001:db8:12:3400::/56"));
    const auto ranges = edge.ports.ranges();
    REQUIRE(ranges.size() == 63);
    CHECK(ranges[0] == ports("1232-1235"));
    CHECK(ranges[1] == ports("2256-2259"));
    CHECK(ranges[61] == ports("63696-63699"));
    CHECK(ranges[62] == ports("64720-64723"));

    // The border relay's side: the destination of a packet to 192.0.2.18:1232.
    const CustomerEdge owner = value(owner_of(value(MapRule::make(appendix_a)), v4("192.0.2.18"), 1232));
    CHECK(owner.map_prefix.address.bits(40, 16) == 0x1234);
    CHECK(owner.ce == edge.ce);
}

TEST_CASE("RFC 7597 appendix A: examples 4 and 5, no EA bits")
{
    MapRuleFields rule = fields("2001:db8:12:3400::/56", "192.0.2.18/32", 0);
    const CustomerEdge full = derive(rule, "2001:db8:12:3400::/56");
    CHECK(full.ipv4 == p4("192.0.2.18"));
    CHECK_FALSE(full.ports.shared());
    CHECK(full.ce == v6("2001:db8:12:3400:0:c000:212:0"));
    CHECK(full.ports.ranges() == std::vector{ports("0-65535")});

    rule.psid = 0x34;
    rule.psid_length = 8;
    const CustomerEdge stated = derive(rule, "2001:db8:12:3400::/56");
    CHECK(stated.ce == v6("2001:db8:12:3400:0:c000:212:34"));
    CHECK(stated.ports == derive(appendix_a, "2001:db8:12:3400::/56").ports);

    const MapRule made = value(MapRule::make(rule));
    CHECK(value(owner_of(made, v4("192.0.2.18"), 1232)).ce == stated.ce);
    CHECK(error(owner_of(made, v4("192.0.2.18"), 1236))
          == "port 1236 of 192.0.2.18 belongs to PSID 53, but the rule states PSID 52");
}

TEST_CASE("an assigned IPv4 prefix")
{
    const MapRuleFields rule = fields("2001:db8::/40", "192.0.0.0/16", 8);
    const CustomerEdge edge = derive(rule, "2001:db8:12:3400::/56");
    CHECK(edge.ipv4 == p4("192.0.18.0/24"));
    CHECK(edge.map_prefix == p6("2001:db8:12::/48"));
    CHECK(edge.ce == v6("2001:db8:12::c000:1200:0"));
    CHECK_FALSE(edge.ports.shared());
    CHECK(edge.warnings.size() == 1);

    const CustomerEdge owner = value(owner_of(value(MapRule::make(rule)), v4("192.0.18.77"), 80));
    CHECK(owner.map_prefix == edge.map_prefix);
    CHECK(owner.ipv4 == edge.ipv4);
    CHECK(owner.ce == edge.ce);
}

TEST_CASE("a rule of every length: nothing assigned by the prefix, everything assigned by the prefix")
{
    const CustomerEdge nothing = derive(fields("2001:db8::/32", "0.0.0.0/0", 0), "2001:db8::/32");
    CHECK(nothing.ipv4 == p4("0.0.0.0/0"));
    CHECK(value(owner_of(value(MapRule::make(fields("2001:db8::/32", "0.0.0.0/0", 0))), v4("192.0.2.1"), 1)).ipv4
          == p4("0.0.0.0/0"));

    MapRuleFields rule = fields("2001:db8::/32", "0.0.0.0/0", 48);
    rule.psid_offset = 0;
    const CustomerEdge everything = derive(rule, "2001:db8:c000:212:abcd::/80");
    CHECK(everything.ipv4 == p4("192.0.2.18"));
    CHECK(everything.ports.ranges() == std::vector{ports("43981")});
    CHECK(value(owner_of(value(MapRule::make(rule)), v4("192.0.2.18"), 43981)).map_prefix == everything.map_prefix);
}

TEST_CASE("a MAP prefix longer than /64 overwrites the top of the interface identifier")
{
    const CustomerEdge edge = derive(fields("2001:db8:1:2:3400::/72", "192.0.2.0/24", 16), "2001:db8:1:2:3412:5600::/88");
    CHECK(edge.ipv4 == p4("192.0.2.18"));
    CHECK(edge.ports.psid() == 0x56);
    CHECK(edge.map_prefix == p6("2001:db8:1:2:3412:5600::/88"));
    // IID 0000:c000:0212:0056 with its first 24 bits replaced by 34 12 56.
    CHECK(edge.ce == v6("2001:db8:1:2:3412:5600:212:56"));
    CHECK(edge.ce_other_iid == v6("2001:db8:1:2:3412:5602:1200:5600"));
    CHECK(edge.warnings.empty());
    CHECK(value(owner_of(value(MapRule::make(fields("2001:db8:1:2:3400::/72", "192.0.2.0/24", 16))), v4("192.0.2.18"), 1368)).ce
          == edge.ce);
}

TEST_CASE("T7: the two forms of the interface identifier")
{
    const CustomerEdge edge = derive(draft(fields("240b:12::/31", "14.8.0.0/15", 25), 4), "240b:13:1a65:a100::/56");
    CHECK(edge.ce == v6("240b:13:1a65:a100:e:91a:6500:a100"));
    CHECK(edge.ce_other_iid == v6("240b:13:1a65:a100:0:e09:1a65:a1"));
    const CustomerEdge rfc = derive(appendix_a, "2001:db8:12:3400::/56");
    CHECK(rfc.ce_other_iid == v6("2001:db8:12:3400:c0:2:1200:3400"));
}

TEST_CASE("T8: whatever the length of the prefix, the CE is made from the MAP prefix")
{
    const MapRuleFields v6plus = draft(fields("240b:10::/31", "106.72.0.0/15", 25), 4);
    const CustomerEdge whole = derive(v6plus, "240b:10:3251:6400::/56");
    CHECK(whole.ipv4 == p4("106.72.50.81"));
    CHECK(whole.warnings.empty());

    const CustomerEdge part = derive(v6plus, "240b:10:3251:6410::/60");
    CHECK(part.ce == whole.ce);
    CHECK(part.map_prefix == whole.map_prefix);
    CHECK(part.end_user_prefix == p6("240b:10:3251:6410::/60"));
    CHECK(part.warnings
          == std::vector<std::string>{"bits 56 to 59 of 240b:10:3251:6410::/60 are not zero: the CE address is made from the MAP "
                                      "prefix 240b:10:3251:6400::/56 with subnet 0; a home gateway that delegates a part of its "
                                      "prefix (a /60), or another /64 of the line, may be the cause"});

    const CustomerEdge other = derive(v6plus, "240b:10:2a40:9601::/64");
    CHECK(other.map_prefix == p6("240b:10:2a40:9600::/56"));
    CHECK(other.ce == derive(v6plus, "240b:10:2a40:9600::/56").ce);
    REQUIRE(other.warnings.size() == 1);
    CHECK(other.warnings[0].starts_with("bits 56 to 63 of 240b:10:2a40:9601::/64 are not zero"));
    CHECK(derive(v6plus, "240b:10:2a40:9600::/64").warnings.empty());
    CHECK(derive(v6plus, "240b:10:2a40:9600:1::/80").warnings.empty());

    const CustomerEdge short_rule = derive(fields("2001:db8:4000::/38", "192.0.2.0/28", 10), "2001:db8:4011::/48");
    CHECK(short_rule.map_prefix.length == 48);
}

TEST_CASE("prefixes that are refused")
{
    CHECK(refusal(appendix_a, "2001:db8::/48")
          == "end-user prefix 2001:db8::/48 is too short: the rule needs a /56 (rule IPv6 prefix 2001:db8::/40 and EA length 16), "
             "this is a /48");
    CHECK(refusal(appendix_a, "2001:db8::/32").starts_with("end-user prefix 2001:db8::/32 is too short: the rule needs a /56"));
    CHECK(refusal(appendix_a, "2001:db8:100::/56")
          == "end-user prefix 2001:db8:100::/56 is not inside the rule IPv6 prefix 2001:db8::/40");
    CHECK(refusal(appendix_a, "2001:db9::/32") == "end-user prefix 2001:db9::/32 is not inside the rule IPv6 prefix 2001:db8::/40");
}

TEST_CASE("T8: NTT's closed network")
{
    for (const char* prefix : {"2408::/22", "2408:210:1234:5600::/56", "2408:3ff:ffff:ff00::/64"}) {
        CAPTURE(prefix);
        CHECK(error(refuse_closed_network(p6(prefix))).find("belongs to NTT's closed network (NGN, 2408::/22)") != std::string::npos);
        CHECK(refusal(appendix_a, prefix).find("IPv6 (IPoE) service is not provisioned yet") != std::string::npos);
    }
    for (const char* prefix : {"2408:400::/56", "2407:ffff::/56", "2400::/16", "2001:db8::/32"})
        CHECK(refuse_closed_network(p6(prefix)).has_value());
}

TEST_CASE("the owner of a port: refusals")
{
    const MapRule rule = value(MapRule::make(appendix_a));
    CHECK(error(owner_of(rule, v4("192.0.3.18"), 1232)) == "192.0.3.18 is not inside the rule IPv4 prefix 192.0.2.0/24");
    CHECK(error(owner_of(rule, v4("192.0.2.18"), 80))
          == "port 80 belongs to no PSID: with PSID offset 6 the ports below 1024 are not used");
    MapRuleFields no_offset = appendix_a;
    no_offset.psid_offset = 0;
    CHECK(value(owner_of(value(MapRule::make(no_offset)), v4("192.0.2.18"), 80)).ports.psid() == 0);
}

TEST_CASE("every port of an address has one owner, whose port set holds it")
{
    const MapRule rule = value(MapRule::make(draft(fields("2400:4050::/34", "153.240.0.0/16", 22), 6)));
    for (std::uint32_t port = 1024; port < 65536; port += 61) {
        const CustomerEdge edge = value(owner_of(rule, v4("153.240.174.134"), static_cast<std::uint16_t>(port)));
        REQUIRE(edge.ports.contains(static_cast<std::uint16_t>(port)));
        REQUIRE(edge.ipv4 == p4("153.240.174.134"));
    }
}
