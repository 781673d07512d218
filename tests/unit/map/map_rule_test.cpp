#include "map/map_rule.h"

#include "values.h"

using namespace mape;
using namespace mape::test;

namespace {

MapRuleFields with_psid(MapRuleFields rule, std::optional<std::uint32_t> psid, std::optional<std::uint32_t> psid_length)
{
    rule.psid = psid;
    rule.psid_length = psid_length;
    return rule;
}

MapRuleFields with_offset(MapRuleFields rule, std::uint32_t offset)
{
    rule.psid_offset = offset;
    return rule;
}

// r + o above, at and below 32.
const MapRuleFields shared = fields("2001:db8::/40", "192.0.2.0/24", 16);
const MapRuleFields full = fields("2001:db8::/40", "20.0.0.0/8", 24);
const MapRuleFields prefix = fields("2001:db8::/40", "192.0.0.0/16", 8);

}  // namespace

TEST_CASE("a rule and its defaults")
{
    const MapRule rule = value(MapRule::make(shared));
    CHECK(rule.ipv6_prefix() == p6("2001:db8::/40"));
    CHECK(rule.ipv4_prefix() == p4("192.0.2.0/24"));
    CHECK(rule.ea_length() == 16);
    CHECK(rule.psid_offset() == 6);
    CHECK(rule.psid_length() == 8);
    CHECK(rule.iid() == IidFormat::rfc7597);
    CHECK(rule.map_prefix_length() == 56);
    CHECK_FALSE(rule.stated_psid().has_value());

    MapRuleFields draft = with_offset(shared, 4);
    draft.iid = IidFormat::draft03;
    CHECK(value(MapRule::make(draft)).psid_offset() == 4);
    CHECK(value(MapRule::make(draft)).iid() == IidFormat::draft03);
    CHECK(value(MapRule::make(full)).psid_length() == 0);
    CHECK(value(MapRule::make(prefix)).psid_length() == 0);
}

TEST_CASE("a rule is refused when a part is missing, and the part is named")
{
    CHECK(error(MapRule::make({}))
          == "a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: rule-ipv6, rule-ipv4, ea-length");
    MapRuleFields half = shared;
    half.ea_length.reset();
    CHECK(error(MapRule::make(half)) == "a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: ea-length");
    half = shared;
    half.rule_ipv4.reset();
    CHECK(error(MapRule::make(half)) == "a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: rule-ipv4");
    half = shared;
    half.rule_ipv6.reset();
    CHECK(error(MapRule::make(half)) == "a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: rule-ipv6");
    CHECK(MapRule::make(half).error().kind == ErrorKind::input);
}

TEST_CASE("numbers out of range")
{
    CHECK(error(MapRule::make(fields("2001:db8::/40", "0.0.0.0/0", 49))) == "EA length 49 is out of range: 0 to 48");
    CHECK(error(MapRule::make(fields("2001:db8::/40", "0.0.0.0/0", 4294967295))) == "EA length 4294967295 is out of range: 0 to 48");
    CHECK(error(MapRule::make(fields("2001:db8::/100", "192.0.2.0/24", 29)))
          == "rule IPv6 prefix length 100 and EA length 29 need 129 bits of an IPv6 address, which has 128");
    CHECK(MapRule::make(with_offset(fields("2001:db8::/112", "192.0.2.0/24", 16), 4)).has_value());
    CHECK(error(MapRule::make(with_offset(shared, 16))) == "PSID offset 16 is out of range: 0 to 15");
    CHECK(error(MapRule::make(with_offset(full, 16))) == "PSID offset 16 is out of range: 0 to 15");
    CHECK(error(MapRule::make(with_offset(shared, 9)))
          == "rule IPv4 prefix 192.0.2.0/24 and EA length 16: "
             "PSID offset 9 and PSID length 8 need 17 bits of a port, which has 16");
    CHECK(MapRule::make(with_offset(shared, 8)).has_value());
    CHECK(error(MapRule::make(fields("2001:db8::/32", "192.0.2.0/24", 32)))
          == "rule IPv4 prefix 192.0.2.0/24 and EA length 32: PSID length 24 is out of range: 0 to 16");
    CHECK(value(MapRule::make(with_offset(fields("2001:db8::/32", "0.0.0.0/0", 48), 0))).psid_length() == 16);
    CHECK(value(MapRule::make(with_offset(fields("2001:db8::/32", "192.0.2.1/32", 16), 0))).psid_length() == 16);
}

TEST_CASE("T9: psidlen=2, offset=16, ealen=32 is refused for its offset")
{
    for (const char* ipv4 : {"0.0.0.0/0", "192.0.2.0/24", "192.0.2.1/32"})
        CHECK(error(MapRule::make(with_offset(with_psid(fields("2001:db8::/32", ipv4, 32), 0, 2), 16)))
              == "PSID offset 16 is out of range: 0 to 15");
}

TEST_CASE("a stated PSID or length where EA bits carry the PSID")
{
    CHECK(value(MapRule::make(with_psid(shared, std::nullopt, 8))).psid_length() == 8);
    CHECK(value(MapRule::make(with_psid(shared, std::nullopt, 0))).psid_length() == 8);
    CHECK(value(MapRule::make(with_psid(shared, 3, 8))).psid_length() == 8);
    CHECK_FALSE(value(MapRule::make(with_psid(shared, 3, 8))).stated_psid().has_value());
    CHECK_FALSE(value(MapRule::make(with_psid(shared, 3, std::nullopt))).stated_psid().has_value());
    CHECK(error(MapRule::make(with_psid(shared, 3, 6)))
          == "psid-length 6 contradicts the rule: rule IPv4 prefix 192.0.2.0/24 and EA length 16 make it 8");
    CHECK(error(MapRule::make(with_psid(shared, 300, 8))).ends_with("PSID 300 does not fit in 8 bits (0 to 255)"));
}

TEST_CASE("a stated PSID where the rule gives a full address")
{
    const MapRule rule = value(MapRule::make(with_psid(full, 52, 8)));
    CHECK(rule.psid_length() == 8);
    CHECK(rule.stated_psid() == 52U);
    CHECK(value(MapRule::make(with_psid(full, 0, 8))).stated_psid() == 0U);
    CHECK_FALSE(value(MapRule::make(with_psid(full, 0, 0))).stated_psid().has_value());
    CHECK(value(MapRule::make(with_psid(full, 0, std::nullopt))).psid_length() == 0);
    CHECK(value(MapRule::make(with_psid(full, std::nullopt, 0))).psid_length() == 0);

    CHECK(error(MapRule::make(with_psid(full, 52, std::nullopt)))
          == "PSID 52 is stated without psid-length, which must be 1 to 16");
    CHECK(error(MapRule::make(with_psid(full, 52, 0))) == "PSID 52 is stated without psid-length, which must be 1 to 16");
    CHECK(error(MapRule::make(with_psid(full, std::nullopt, 8)))
          == "psid-length 8 is stated without psid: rule IPv4 prefix 20.0.0.0/8 and EA length 24 leave no EA bits to carry one");
    CHECK(error(MapRule::make(with_psid(full, 300, 8))) == "PSID 300 does not fit in 8 bits (0 to 255)");
    CHECK(error(MapRule::make(with_psid(full, 3, 11))) == "PSID offset 6 and PSID length 11 need 17 bits of a port, which has 16");
    CHECK(error(MapRule::make(with_psid(full, 3, 17))) == "PSID length 17 is out of range: 0 to 16");
}

TEST_CASE("a stated PSID where each customer edge has an IPv4 prefix")
{
    CHECK(error(MapRule::make(with_psid(prefix, 3, 8)))
          == "PSID 3 is stated, but rule IPv4 prefix 192.0.0.0/16 and EA length 8 give each customer edge an IPv4 prefix /24, "
             "which is not shared");
    CHECK(error(MapRule::make(with_psid(prefix, 0, std::nullopt))).starts_with("PSID 0 is stated, but"));
    CHECK(error(MapRule::make(with_psid(prefix, std::nullopt, 8))).starts_with("psid-length 8 contradicts the rule"));
    CHECK(MapRule::make(with_psid(prefix, std::nullopt, 0)).has_value());
}
