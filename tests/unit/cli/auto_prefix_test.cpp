#include "cli/auto_prefix.h"

#include <doctest/doctest.h>

using namespace mape;
using namespace mape::cli;
using netlink::PrefixCandidate;

namespace {

PrefixCandidate seen(std::string_view prefix, bool delegated = false)
{
    return {*Ipv6Prefix::parse(prefix), delegated, "address of " + std::string(prefix) + " on eth0"};
}

RuleTables doc_tables()
{
    RuleTables tables;
    tables.add(*parse_rule_table("isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tiid\n"
                                 "doco\t2001:db8:8000::/38\t198.19.0.0/20\t18\t6\tdraft03\n",
                                 "doc.tsv"),
               "doc.tsv", true);
    return tables;
}

std::string message(const Result<PrefixCandidate>& result)
{
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::failed);
    return result.error().message;
}

}  // namespace

TEST_CASE("the one that a table knows")
{
    const std::vector candidates{seen("2001:db8:1:1::/64"), seen("2001:db8:82a1:ac00::/64")};
    const auto chosen = choose_prefix(candidates, {}, doc_tables());
    REQUIRE(chosen);
    CHECK(*chosen == candidates[1]);
}

TEST_CASE("a delegation and addresses out of it are one line")
{
    const std::vector candidates{seen("2001:db8:82a1:ac00::/56", true), seen("2001:db8:82a1:ac01::/64"),
                                 seen("2001:db8:82a1:acff::/64")};
    const auto chosen = choose_prefix(candidates, {}, doc_tables());
    REQUIRE(chosen);
    CHECK(*chosen == candidates[0]);
}

TEST_CASE("two lines are not chosen between")
{
    const std::vector candidates{seen("2001:db8:82a1:ac00::/56", true), seen("2001:db8:82a1:ad00::/64")};
    CHECK(message(choose_prefix(candidates, {}, doc_tables()))
          == "prefix = auto: more than one prefix that a rule knows: 2001:db8:82a1:ac00::/56 (address of "
             "2001:db8:82a1:ac00::/56 on eth0); 2001:db8:82a1:ad00::/64 (address of 2001:db8:82a1:ad00::/64 on eth0)");
}

TEST_CASE("none: what was seen, and where it was looked for")
{
    CHECK(message(choose_prefix({}, {}, doc_tables()))
          == "prefix = auto: no global IPv6 address or delegated prefix on WAN and LAN devices");
    const std::vector candidates{seen("2001:db8:1:1::/64")};
    CHECK(message(choose_prefix(candidates, {}, doc_tables()))
          == "prefix = auto: none of the prefixes seen is in a rule table (searched: doc.tsv); seen: 2001:db8:1:1::/64 (address "
             "of 2001:db8:1:1::/64 on eth0)");
}

TEST_CASE("a stated rule counts, not the tables")
{
    LineFields fields;
    fields.rule.rule_ipv6 = *Ipv6Prefix::parse("2001:db8:1::/48");
    fields.rule.rule_ipv4 = *Ipv4Prefix::parse("192.0.2.0/24");
    fields.rule.ea_length = 8;
    const std::vector candidates{seen("2001:db8:82a1:ac00::/64"), seen("2001:db8:1:1100::/64")};
    const auto chosen = choose_prefix(candidates, fields, doc_tables());
    REQUIRE(chosen);
    CHECK(*chosen == candidates[1]);
}

TEST_CASE("a fixed-address line has no rule: the prefix that holds all others")
{
    LineFields fields;
    fields.ipv4 = *Ipv4Prefix::parse("203.0.113.1");
    const std::vector nested{seen("2001:db8:1200::/56", true), seen("2001:db8:1200:1::/64")};
    CHECK(choose_prefix(nested, fields, doc_tables()) == nested[0]);
    const std::vector apart{seen("2001:db8:1200::/64"), seen("2001:db8:1201::/64")};
    CHECK_FALSE(choose_prefix(apart, fields, doc_tables()));
}
