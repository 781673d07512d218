#include "map/rule_table.h"

#include "map/customer_edge.h"
#include "values.h"

#include <set>

using namespace mape;
using namespace mape::test;

namespace {

const std::string header = "isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tbr\tiid\ttunnel_mtu\tconfidence\tsource\n";
const std::string row = "x\t2001:db8::/40\t192.0.2.0/24\t16\t6\t2001:db8:ffff::1\trfc7597\t1460\tpartial\tsomewhere\n";

Result<std::vector<RuleRow>> parse(const std::string& text)
{
    return parse_rule_table(text, "t.tsv");
}

std::string refusal(const std::string& text)
{
    return error(parse(text));
}

/// The last address of a prefix, cut to `length`.
Ipv6Prefix last_of(const Ipv6Prefix& prefix, unsigned length)
{
    Ipv6Prefix last{prefix.address, length};
    for (unsigned bit = prefix.length; bit < length; ++bit)
        last.address.set_bits(bit, 1, 1);
    return last;
}

Ipv6Prefix middle_of(const Ipv6Prefix& prefix, unsigned length)
{
    Ipv6Prefix middle{prefix.address, length};
    for (unsigned bit = prefix.length; bit < length; ++bit)
        middle.address.set_bits(bit, 1, (bit - prefix.length) % 3 != 1);
    return middle;
}

}  // namespace

TEST_CASE("a table, field by field")
{
    const auto rows = value(parse("# comment\n\n" + header + "\t\n" + row + "# more\n" + row));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].isp == "x");
    CHECK(rows[0].rule.ipv6_prefix() == p6("2001:db8::/40"));
    CHECK(rows[0].rule.ipv4_prefix() == p4("192.0.2.0/24"));
    CHECK(rows[0].rule.ea_length() == 16);
    CHECK(rows[0].rule.psid_offset() == 6);
    CHECK(rows[0].rule.iid() == IidFormat::rfc7597);
    CHECK(rows[0].br == v6("2001:db8:ffff::1"));
    CHECK(rows[0].mtu == 1460U);
    CHECK(rows[0].confidence == Confidence::partial);
    CHECK(rows[0].source == "somewhere");
    CHECK(rows[0].file == "t.tsv");
    CHECK(rows[0].line == 5);
    CHECK(rows[1].line == 7);
}

TEST_CASE("columns in any order, optional ones empty or missing, CRLF, no newline at the end")
{
    const std::string text = "iid\trule_ipv4\tisp\trule_ipv6\tpsid_offset\tea_length\tbr\tconfidence\r\n"
                             "draft03\t192.0.2.0/24\tx\t2001:db8::/40\t4\t16\t\t\r\n"
                             "draft03\t192.0.2.0/24\tx\t2001:db8:100::/40\t4\t16";
    const auto rows = value(parse(text));
    REQUIRE(rows.size() == 2);
    for (const RuleRow& one : rows) {
        CHECK(one.rule.iid() == IidFormat::draft03);
        CHECK(one.rule.psid_offset() == 4);
        CHECK_FALSE(one.br.has_value());
        CHECK_FALSE(one.mtu.has_value());
        CHECK(one.confidence == Confidence::user);
        CHECK(one.source.empty());
    }
}

TEST_CASE("words of confidence")
{
    for (const auto& [word, confidence] : {std::pair{"complete", Confidence::complete},
                                           {"believed-complete", Confidence::believed_complete},
                                           {"partial", Confidence::partial},
                                           {"unverified", Confidence::unverified},
                                           {"user", Confidence::user}}) {
        std::string text = row;
        text.replace(text.find("partial"), 7, word);
        CHECK(value(parse(header + text))[0].confidence == confidence);
        CHECK(to_text(confidence) == word);
    }
}

TEST_CASE("tables that are refused, with file and line")
{
    const auto with = [](const std::string& from, const std::string& to) {
        std::string text = row;
        return header + row + text.replace(text.find(from), from.size(), to);
    };
    CHECK(refusal("") == "t.tsv: no line with the names of the columns");
    CHECK(refusal("# nothing\n") == "t.tsv: no line with the names of the columns");
    CHECK(refusal("# c\nisp\tpeeraddr\n").starts_with("t.tsv:2: unknown column \"peeraddr\"; there are isp rule_ipv6 "));
    CHECK(refusal("isp\tisp\n") == "t.tsv:1: column isp is there twice");
    CHECK(refusal("isp\trule_ipv6\n") == "t.tsv:1: column rule_ipv4 is missing");
    CHECK(refusal(with("2001:db8::/40", "2001:db8::1/40"))
          == "t.tsv:3: rule_ipv6: 2001:db8::1/40 has host bits set: did you mean 2001:db8::/40?");
    CHECK(refusal(with("192.0.2.0/24", "192.0.2.1/24"))
          == "t.tsv:3: rule_ipv4: 192.0.2.1/24 has host bits set: did you mean 192.0.2.0/24?");
    CHECK(refusal(with("192.0.2.0/24", "192.0.2/24")).starts_with("t.tsv:3: rule_ipv4: \"192.0.2/24\" is not an IPv4 prefix"));
    CHECK(refusal(with("\t16\t", "\t49\t")) == "t.tsv:3: ea_length: \"49\" is not a number from 0 to 48");
    CHECK(refusal(with("\t16\t", "\t-1\t")) == "t.tsv:3: ea_length: \"-1\" is not a number from 0 to 48");
    CHECK(refusal(with("\t16\t", "\t\t")) == "t.tsv:3: ea_length is empty");
    CHECK(refusal(with("\t6\t", "\t16\t")) == "t.tsv:3: psid_offset: \"16\" is not a number from 0 to 15");
    CHECK(refusal(with("\t6\t", "\t9\t"))
          == "t.tsv:3: rule IPv4 prefix 192.0.2.0/24 and EA length 16: "
             "PSID offset 9 and PSID length 8 need 17 bits of a port, which has 16");
    CHECK(refusal(with("2001:db8:ffff::1", "::g")).starts_with("t.tsv:3: br: \"::g\" is not an IPv6 address"));
    CHECK(refusal(with("rfc7597", "rfc")) == "t.tsv:3: iid: \"rfc\" is not rfc7597 or draft03");
    CHECK(refusal(with("1460", "1e3")) == "t.tsv:3: tunnel_mtu: \"1e3\" is not a number from 68 to 65535");
    CHECK(refusal(with("partial", "sure"))
          == "t.tsv:3: confidence: \"sure\" is not complete, believed-complete, partial, unverified or user");
    CHECK(refusal(with("somewhere", "somewhere\tmore")) == "t.tsv:3: 11 fields under 10 columns");
    CHECK(refusal(with("x\t", "\t")) == "t.tsv:3: isp is empty");
    CHECK(parse("").error().kind == ErrorKind::input);
}

TEST_CASE("the shipped tables load, and no rule is there twice")
{
    const RuleTables& tables = shipped_tables();
    std::map<std::string, unsigned> count;
    std::set<Ipv6Prefix> seen;
    for (const RuleRow& one : tables.rows()) {
        ++count[one.isp];
        CAPTURE(to_text(one.rule.ipv6_prefix()));
        CHECK(seen.insert(one.rule.ipv6_prefix()).second);
        CHECK(one.rule.map_prefix_length() == 56);
        CHECK(one.rule.iid() == IidFormat::draft03);
        CHECK(one.rule.psid_length() == (one.isp == "ocn" ? 6 : 8));
        CHECK(one.br.has_value());
        CHECK(one.mtu == 1460U);
        CHECK(one.file == one.isp + ".tsv");
        CHECK_FALSE(one.source.empty());
    }
    CHECK(count == std::map<std::string, unsigned>{{"biglobe", 258}, {"nuro", 60}, {"ocn", 155}, {"v6plus", 8}});
    CHECK(tables.searched_files() == std::vector<std::string>{"biglobe.tsv", "nuro.tsv", "ocn.tsv", "v6plus.tsv"});
    CHECK(tables.border_relays()
          == std::vector{v6("2001:260:700:1::1:275"), v6("2001:260:700:1::1:276"), v6("2001:3b8:200:ff9::1"),
                         v6("2001:380:a120::9"), v6("2404:9200:225:100::64")});
}

TEST_CASE("other people's tables of the same services do not contradict ours")
{
    const auto rows = read_rules(MAPE_TEST_DATA, "isp-rules-crosscheck.tsv");
    REQUIRE(rows.size() == 432);
    for (const RuleRow& theirs : rows) {
        const Ipv6Prefix& rule = theirs.rule.ipv6_prefix();
        for (const Ipv6Prefix& prefix : {Ipv6Prefix{rule.address, 56}, middle_of(rule, 56), last_of(rule, 56)}) {
            CAPTURE(to_text(prefix));
            const RuleRow* ours = shipped_tables().find(prefix);
            REQUIRE(ours);
            const CustomerEdge expected = value(derive_customer_edge(theirs.rule, prefix));
            const CustomerEdge edge = value(derive_customer_edge(ours->rule, prefix));
            CHECK(ours->isp == theirs.isp);
            CHECK(edge.ipv4 == expected.ipv4);
            CHECK(edge.ports == expected.ports);
            CHECK(edge.ce == expected.ce);
            CHECK(ours->br == theirs.br);

            const RuleRow* by_address = shipped_tables().find(edge.ipv4.address);
            REQUIRE(by_address);
            CHECK(by_address->rule.ipv6_prefix() == ours->rule.ipv6_prefix());
        }
    }
}

TEST_CASE("worked examples of real services are found in the tables")
{
    unsigned found = 0;
    for (auto example : read_tsv(MAPE_TEST_DATA "/worked-examples.tsv")) {
        if (example["br"].empty())
            continue;
        CAPTURE(example["end_user_prefix"]);
        const RuleRow* ours = shipped_tables().find(p6(example["end_user_prefix"]));
        REQUIRE(ours);
        const CustomerEdge edge = value(derive_customer_edge(ours->rule, p6(example["end_user_prefix"])));
        CHECK(edge.ce == v6(example["ce"]));
        CHECK(edge.ports.ranges().front() == ports(example["first_range"]));
        CHECK(ours->br == v6(example["br"]));
        ++found;
    }
    CHECK(found == 13);
}

TEST_CASE("the longest prefix counts")
{
    const RuleTables& tables = tables_with_doc();
    CHECK(tables.find(p6("2001:db8:4d02:4100::/56"))->isp == "docb");
    CHECK(tables.find(p6("2001:db8:82a1:ac00::/56"))->isp == "doco");
    CHECK(tables.find(p6("2001:db8:3456:7800::/56"))->isp == "docv");
    CHECK(tables.find(p6("2001:db8:4d02:4100::/56"), "docv")->isp == "docv");
    CHECK_FALSE(tables.find(p6("2001:db8:4d02:4100::/56"), "doco"));
    CHECK_FALSE(tables.find(p6("2001:db9::/56")));
    CHECK_FALSE(tables.find(p6("2001:db8:3456::/48")));
    CHECK(tables.find(v4("198.18.129.2"))->isp == "docb");
    CHECK(tables.find(v4("198.18.52.86"))->isp == "docv");
    CHECK(tables.find(v4("198.18.129.2"), "docv")->isp == "docv");
    CHECK_FALSE(tables.find(v4("192.0.2.1")));
    CHECK_FALSE(RuleTables().find(p6("2001:db8:3456:7800::/56")));
    // A rule of /39 that a table of /38 rows cannot hold.
    CHECK(tables.find(p6("2400:4151:e234:5600::/56"))->rule.ipv6_prefix() == p6("2400:4151:e200::/39"));
}

TEST_CASE("a user's row wins over a shipped row of the same prefix, whichever is added first")
{
    const auto users = value(parse("isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tiid\n"
                                   "mine\t240b:10::/32\t203.0.113.0/24\t24\t0\trfc7597\n"));
    const auto shipped = read_rules(MAPE_PROFILES "/isp", "v6plus.tsv");
    for (const bool users_first : {true, false}) {
        CAPTURE(users_first);
        RuleTables tables;
        if (users_first)
            tables.add(users, "t.tsv", true);
        tables.add(shipped, "v6plus.tsv", false);
        if (!users_first)
            tables.add(users, "t.tsv", true);
        CHECK(tables.rows().size() == 9);
        CHECK(tables.find(p6("240b:10:3456:7800::/56"))->isp == "mine");
        CHECK(tables.find(p6("240b:11:3456:7800::/56"))->isp == "v6plus");
        CHECK(tables.find(p6("240b:10:3456:7800::/56"), "v6plus")->isp == "v6plus");
        CHECK(tables.find(v4("203.0.113.9"))->isp == "mine");
        // The overridden row's addresses are not this user's.
        CHECK_FALSE(tables.find(v4("106.72.50.97")));
        CHECK(tables.find(v4("106.72.50.97"), "v6plus")->isp == "v6plus");
    }
}

TEST_CASE("a shipped row that is longer than a user's still counts")
{
    const auto users = value(parse("isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tiid\n"
                                   "mine\t240b::/16\t10.0.0.0/8\t40\t0\trfc7597\n"));
    RuleTables tables = shipped_tables();
    tables.add(users, "t.tsv", true);
    CHECK(tables.find(p6("240b:10:3456:7800::/56"))->isp == "v6plus");
    CHECK(tables.find(p6("240b:20:3456:7800::/56"))->isp == "mine");
}

TEST_CASE("by IPv4 address a user's row wins over a shipped row of the same IPv4 prefix")
{
    const auto users = value(parse("isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tiid\n"
                                   "mine\t2001:db8::/32\t106.72.0.0/16\t24\t4\trfc7597\n"));
    RuleTables tables = shipped_tables();
    tables.add(users, "t.tsv", true);
    CHECK(tables.find(v4("106.72.50.97"))->isp == "mine");
    CHECK(tables.find(v4("106.73.50.97"))->isp == "v6plus");
}
