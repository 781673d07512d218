#include "map/line.h"

#include "values.h"

#include <algorithm>

using namespace mape;
using namespace mape::test;

namespace {

LineFields on_prefix(std::string_view prefix)
{
    LineFields fields;
    fields.prefix = p6(prefix);
    return fields;
}

LineFields fixed(std::string_view ipv4)
{
    LineFields fields;
    fields.ipv4 = p4(ipv4);
    return fields;
}

Line resolve(const LineFields& fields, const RuleTables& tables = tables_with_doc(), const Origins& origins = {})
{
    return value(resolve_line(fields, tables, origins));
}

std::string refusal(const LineFields& fields, const RuleTables& tables = tables_with_doc(), const Origins& origins = {})
{
    return error(resolve_line(fields, tables, origins));
}

Explained explained(const Line& line, std::string_view name)
{
    const auto row = std::find_if(line.explained.begin(), line.explained.end(), [&](const Explained& e) { return e.name == name; });
    return row == line.explained.end() ? Explained{"absent", "absent", "absent"} : *row;
}

using Warnings = std::vector<std::string>;

}  // namespace

TEST_CASE("the seeds' line, from its prefix alone")
{
    const Line line = resolve(on_prefix("2400:4050:2ba1:ac00::/56"), shipped_tables());
    CHECK(line.edge.ipv4 == p4("153.240.174.134"));
    CHECK(line.edge.ports.psid() == 44);
    CHECK(line.edge.ce == v6("2400:4050:2ba1:ac00:99:f0ae:8600:2c00"));
    CHECK(line.br == v6("2001:380:a120::9"));
    const auto ranges = line.edge.ports.ranges();
    REQUIRE(ranges.size() == 63);
    CHECK(ranges.front() == ports("1728-1743"));
    CHECK(ranges.back() == ports("65216-65231"));
    CHECK(line.isp == "ocn");
    CHECK(line.confidence == Confidence::believed_complete);
    CHECK(line.rule_source == "site-u2023/aios test/test-map-e.sh");
    CHECK(line.table_mtu == 1460U);
    CHECK(line.warnings.empty());
}

TEST_CASE("lines under the documentation rules: found in a user's table, and the same with the rule stated")
{
    const auto rules = read_rules(MAPE_TEST_DATA, "doc.tsv");
    const auto rows = read_tsv(MAPE_TEST_DATA "/doc-lines.tsv");
    REQUIRE(rows.size() == 6);
    for (auto row : rows) {
        CAPTURE(row["prefix"]);
        const RuleRow& rule = *std::find_if(rules.begin(), rules.end(), [&](const RuleRow& r) { return r.isp == row["isp"]; });
        LineFields stated = on_prefix(row["prefix"]);
        stated.rule.rule_ipv6 = rule.rule.ipv6_prefix();
        stated.rule.rule_ipv4 = rule.rule.ipv4_prefix();
        stated.rule.ea_length = rule.rule.ea_length();
        stated.rule.psid_offset = rule.rule.psid_offset();
        stated.rule.iid = rule.rule.iid();
        stated.br = rule.br;
        for (const LineFields& fields : {on_prefix(row["prefix"]), stated}) {
            const Line line = resolve(fields);
            CHECK(line.edge.ipv4 == p4(row["ipv4"]));
            CHECK(line.edge.ports.psid() == std::stoul(row["psid"]));
            CHECK(line.edge.ce == v6(row["ce"]));
            CHECK(line.edge.ports.range_count() == std::stoul(row["range_count"]));
            CHECK(line.edge.ports.ranges().front() == ports(row["first_range"]));
            CHECK(line.edge.ports.ranges().back() == ports(row["last_range"]));
            CHECK(line.br == rule.br);
            CHECK(line.warnings.empty());
            const bool from_table = !fields.rule.rule_ipv6;
            CHECK(line.isp == (from_table ? std::optional(row["isp"]) : std::nullopt));
            CHECK(line.confidence == (from_table ? std::optional(Confidence::user) : std::nullopt));
            CHECK(line.rule_source == (from_table ? "documentation prefix" : "configuration"));
        }
    }
}

TEST_CASE("fixed-address lines")
{
    LineFields fields = fixed("203.0.113.115");
    fields.br = v6("2001:db8:ffff::65");
    fields.rule.iid = IidFormat::draft03;
    fields.prefix = p6("2001:db8:1234:5600::/56");
    Line line = resolve(fields);
    CHECK(line.edge.ce == v6("2001:db8:1234:5600:cb:71:7300:0"));
    CHECK(line.edge.ipv4 == p4("203.0.113.115"));
    CHECK_FALSE(line.edge.ports.shared());
    CHECK(line.edge.ports.port_count() == 65536);
    CHECK(line.br == v6("2001:db8:ffff::65"));
    CHECK(line.rule_source == "fixed address");
    CHECK(line.rule.ea_length() == 0);
    CHECK(line.rule.ipv4_prefix() == p4("203.0.113.115"));
    CHECK_FALSE(line.isp.has_value());
    CHECK_FALSE(line.confidence.has_value());
    CHECK_FALSE(line.table_mtu.has_value());
    CHECK(line.warnings.empty());

    fields.prefix = p6("2001:db8:1234:5678::/64");
    CHECK(resolve(fields).edge.ce == v6("2001:db8:1234:5678:cb:71:7300:0"));
    fields.prefix = p6("2001:db8:1234:5678:9abc::/80");
    CHECK(resolve(fields).edge.ce == v6("2001:db8:1234:5678:cb:71:7300:0"));
    fields.prefix = p6("2001:db8:1234::/48");
    CHECK(resolve(fields).edge.ce == v6("2001:db8:1234:0:cb:71:7300:0"));
    fields.rule.iid.reset();
    line = resolve(fields);
    CHECK(line.edge.ce == v6("2001:db8:1234::cb00:7173:0"));
    CHECK(line.edge.ce_other_iid == v6("2001:db8:1234:0:cb:71:7300:0"));
}

TEST_CASE("fixed-address lines by the contract's CE address")
{
    LineFields fields = fixed("203.0.113.115");
    fields.ce = v6("2001:db8:1234:5678:cb:71:7300:0");
    Line line = resolve(fields);
    CHECK(line.edge.ce == *fields.ce);
    CHECK(line.edge.ce_other_iid == v6("2001:db8:1234:5678:0:cb00:7173:0"));
    CHECK(line.edge.end_user_prefix == p6("2001:db8:1234:5678::/64"));
    CHECK(line.rule.iid() == IidFormat::draft03);
    CHECK_FALSE(line.br.has_value());
    CHECK(line.warnings.empty());
    CHECK(explained(line, "end-user prefix").source == "the /64 of the CE address");

    fields.ce = v6("2001:db8:1234:5678::1");
    line = resolve(fields);
    CHECK(line.edge.ce == *fields.ce);
    CHECK(line.rule.iid() == IidFormat::rfc7597);

    fields.prefix = p6("2001:db8:1234:5600::/56");
    CHECK(resolve(fields).edge.end_user_prefix == p6("2001:db8:1234:5600::/56"));
    CHECK(resolve(fields).warnings.empty());
    fields.prefix = p6("2001:db8:1234:5700::/56");
    CHECK(resolve(fields).warnings
          == Warnings{"the CE address 2001:db8:1234:5678::1 is not inside the end-user prefix 2001:db8:1234:5700::/56: its packets "
                      "may not reach this line"});
    CHECK(resolve(fields).edge.ce == *fields.ce);
}

TEST_CASE("a fixed block of addresses")
{
    LineFields fields = fixed("203.0.113.112/29");
    fields.prefix = p6("2001:db8:5600:1200::/64");
    fields.rule.iid = IidFormat::draft03;
    const Line line = resolve(fields);
    CHECK(line.edge.ipv4 == p4("203.0.113.112/29"));
    CHECK(line.edge.ce == v6("2001:db8:5600:1200:cb:71:7000:0"));
    CHECK(explained(line, "IPv4 prefix").value == "203.0.113.112/29");
}

TEST_CASE("fixed-address lines that are refused")
{
    LineFields only_ce;
    only_ce.ce = v6("2001:db8::1");
    CHECK(refusal(only_ce).starts_with("ce is stated without ipv4: a fixed-address line needs the contract's IPv4 address"));
    CHECK(refusal(fixed("203.0.113.1")).starts_with("ipv4 is stated without ce or prefix"));

    LineFields both = fixed("203.0.113.1");
    both.rule = fields("2001:db8::/40", "192.0.2.0/24", 16);
    both.prefix = p6("2001:db8:12:3400::/56");
    CHECK(refusal(both).starts_with(
        "ipv4 and rule-ipv6, rule-ipv4, ea-length contradict each other: a fixed-address line has no rule"));
    LineFields psid = fixed("203.0.113.1");
    psid.prefix = both.prefix;
    psid.rule.psid = 3;
    psid.rule.psid_length = 8;
    CHECK(refusal(psid).starts_with("ipv4 and psid, psid-length contradict each other"));
    only_ce.rule.psid_offset = 4;
    CHECK(refusal(only_ce).starts_with("ce and psid-offset contradict each other"));

    LineFields closed = fixed("203.0.113.1");
    closed.ce = v6("2408::1");
    CHECK(refusal(closed).find("NTT's closed network") != std::string::npos);
    closed.prefix = p6("2001:db8:12:3400::/56");
    CHECK(refusal(closed).find("NTT's closed network") != std::string::npos);
    closed.ce.reset();
    closed.prefix = p6("2408:1:2:3400::/56");
    CHECK(refusal(closed).find("NTT's closed network") != std::string::npos);
}

TEST_CASE("no prefix, a prefix in no table, an isp in no table")
{
    CHECK(refusal({}).starts_with("the end-user prefix is not known\n  state it with --prefix"));

    CHECK(refusal(on_prefix("2001:db9:1:2300::/56"), shipped_tables())
          == "prefix 2001:db9:1:2300::/56 is in no rule table (searched: biglobe.tsv, nuro.tsv, ocn.tsv, v6plus.tsv)\n"
             "  state the provider's rule with --rule-ipv6, --rule-ipv4 and --ea-length");
    CHECK(refusal(on_prefix("2001:db9:1:2300::/56"), RuleTables()).starts_with(
        "prefix 2001:db9:1:2300::/56 is in no rule table (searched: no table found)"));
    CHECK(resolve_line(on_prefix("2001:db9:1:2300::/56"), shipped_tables(), {}).error().kind == ErrorKind::input);

    // In a table, but shorter than its rule needs.
    CHECK(refusal(on_prefix("2400:4050:2ba1::/48"), shipped_tables())
          == "table ocn (ocn.tsv:3): end-user prefix 2400:4050:2ba1::/48 is too short: the rule needs a /56 (rule IPv6 prefix "
             "2400:4050::/34 and EA length 22), this is a /48");

    LineFields isp = on_prefix("2400:4050:2ba1:ac00::/56");
    isp.isp = "ocm";
    CHECK(refusal(isp, shipped_tables()) == "isp \"ocm\" is in no rule table: known are biglobe, nuro, ocn, v6plus");
    CHECK(refusal(isp, RuleTables()) == "isp \"ocm\" is in no rule table: known are none");
    isp.isp = "v6plus";
    CHECK(refusal(isp, shipped_tables())
          == "prefix 2400:4050:2ba1:ac00::/56 has no rule of isp v6plus\n  isp ocn has one (ocn.tsv:3): leave isp out, or state "
             "the rule with --rule-ipv6, --rule-ipv4 and --ea-length");
    isp.isp = "ocn";
    CHECK(resolve(isp, shipped_tables()).edge.ports.psid() == 44);
    isp.prefix = p6("2001:db8:4d02:4100::/56");
    isp.isp = "docv";
    CHECK(resolve(isp).edge.ipv4 == p4("198.18.77.2"));
}

TEST_CASE("T8: NTT's closed network is told from a prefix in no table")
{
    CHECK(refusal(on_prefix("2408:210:1234:5600::/64")).find("IPv6 (IPoE) service is not provisioned yet") != std::string::npos);
    LineFields whole = on_prefix("2408:210:1234:5600::/64");
    whole.rule = fields("2408::/22", "192.0.2.0/24", 16);
    CHECK(refusal(whole).find("NTT's closed network") != std::string::npos);
}

TEST_CASE("T8: published prefixes")
{
    Line line = resolve(on_prefix("2400:4151:e234:5600::/56"), shipped_tables());
    CHECK(line.edge.ipv4 == p4("122.26.224.209"));
    CHECK(line.edge.ports.psid() == 22);
    line = resolve(on_prefix("240b:10:2a40:9601::/64"), shipped_tables());
    CHECK(line.edge.ipv4 == p4("106.72.42.64"));
    CHECK(line.edge.ports.psid() == 0x96);
    REQUIRE(line.warnings.size() == 1);
    CHECK(line.warnings == line.edge.warnings);
    CHECK(line.warnings[0].find("240b:10:2a40:9600::/56") != std::string::npos);
    // openwrt#11972: the prefix as posted does not encode the address as posted; another one does.
    CHECK(resolve(on_prefix("240b:10:3251:6400::/56"), shipped_tables()).edge.ipv4 == p4("106.72.50.81"));
    CHECK(resolve(on_prefix("240b:10:3261:6400::/56"), shipped_tables()).edge.ipv4 == p4("106.72.50.97"));
}

TEST_CASE("half a rule names what is missing and where the half is stated")
{
    LineFields half = on_prefix("2400:4050:2ba1:ac00::/56");
    half.rule.rule_ipv4 = p4("192.0.2.0/24");
    CHECK(refusal(half, shipped_tables(), {{"rule-ipv4", "mape0.conf:7"}})
          == "a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: rule-ipv6, ea-length\n"
             "  stated: rule-ipv4 (mape0.conf:7)");
    half.rule.rule_ipv4.reset();
    half.rule.ea_length = 16;
    CHECK(refusal(half).find("not stated: rule-ipv6, rule-ipv4\n  stated: ea-length") != std::string::npos);
    half.rule.ea_length.reset();
    half.rule.rule_ipv6 = p6("2400:4050::/34");
    CHECK(refusal(half).find("not stated: rule-ipv4, ea-length\n  stated: rule-ipv6") != std::string::npos);
}

TEST_CASE("T9 and other bad rules are refused through the whole line too")
{
    LineFields line = on_prefix("2001:db8:12:3400::/64");
    line.rule = fields("2001:db8::/32", "192.0.2.0/24", 32);
    line.rule.psid_length = 2;
    line.rule.psid_offset = 16;
    CHECK(refusal(line).starts_with("PSID offset 16 is out of range: 0 to 15"));

    LineFields table = on_prefix("2400:4050:2ba1:ac00::/56");
    table.rule.psid_offset = 11;
    CHECK(refusal(table, shipped_tables(), {{"psid-offset", "--psid-offset"}})
          == "rule IPv4 prefix 153.240.0.0/16 and EA length 22: PSID offset 11 and PSID length 6 need 17 bits of a port, which has "
             "16\n  stated: psid-offset (--psid-offset)");
    table.rule.psid_offset.reset();
    table.rule.psid_length = 8;
    CHECK(refusal(table, shipped_tables()).starts_with("psid-length 8 contradicts the rule"));

    LineFields outside = on_prefix("2001:db9:12:3400::/56");
    outside.rule = fields("2001:db8::/40", "192.0.2.0/24", 16);
    CHECK(refusal(outside) == "end-user prefix 2001:db9:12:3400::/56 is not inside the rule IPv6 prefix 2001:db8::/40");
}

TEST_CASE("stated single fields win over the row's and are told from it")
{
    LineFields fields = on_prefix("2001:db8:82a1:ac00::/56");
    fields.rule.psid_offset = 4;
    fields.rule.iid = IidFormat::rfc7597;
    const Line line = resolve(fields, tables_with_doc(), {{"psid-offset", "--psid-offset"}, {"iid", "mape0.conf:3"}});
    CHECK(line.edge.ports.offset() == 4);
    CHECK(line.edge.ports.range_count() == 15);
    CHECK(line.edge.ce == v6("2001:db8:82a1:ac00:0:c613:a86:2c"));
    CHECK(line.isp == "doco");
    CHECK(explained(line, "PSID offset").source == "--psid-offset");
    CHECK(explained(line, "interface identifier").source == "mape0.conf:3");
    CHECK(explained(line, "EA length").source == "table doco (doc.tsv:5), user");
    CHECK(line.warnings
          == Warnings{"PSID offset is 4, but the table says 6 for this prefix (doc.tsv:5)",
                      "interface identifier is rfc7597, but the table says draft03 for this prefix (doc.tsv:5)"});
}

TEST_CASE("a border relay that is not the table's, or nearly a known one")
{
    // A BIGLOBE line with v6plus' border relay.
    LineFields fields = on_prefix("2001:db8:4d02:4100::/56");
    fields.br = v6("2001:db8:ffff::64");
    Line line = resolve(fields);
    CHECK(line.br == v6("2001:db8:ffff::64"));
    CHECK(line.warnings
          == Warnings{"border relay is 2001:db8:ffff::64, but the table says 2001:db8:ffff::275 for this prefix (doc.tsv:6)"});
    fields.br = v6("2001:db8:ffff::276");
    CHECK(resolve(fields).warnings
          == Warnings{"border relay is 2001:db8:ffff::276, but the table says 2001:db8:ffff::275 for this prefix (doc.tsv:6)"});
    fields.br = v6("2001:db8:ffff::275");
    CHECK(resolve(fields).warnings.empty());

    LineFields stated = on_prefix("2001:db9:12:3400::/56");
    stated.rule = test::fields("2001:db9::/40", "192.0.2.0/24", 16);
    stated.br = v6("2001:380:a120::8");
    CHECK(resolve(stated).warnings
          == Warnings{"border relay 2001:380:a120::8 differs in one group from 2001:380:a120::9, a known one: is it a typing error?"});
    stated.br = v6("2001:380:a121::8");
    CHECK(resolve(stated).warnings.empty());
    // In one group from 275, but known itself.
    stated.br = v6("2001:260:700:1::1:276");
    CHECK(resolve(stated).warnings.empty());
}

TEST_CASE("a table row without a border relay leaves it open")
{
    RuleTables tables;
    tables.add(value(parse_rule_table("isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tiid\n"
                                      "x\t2001:db8::/40\t192.0.2.0/24\t16\t6\trfc7597\n",
                                      "x.tsv")),
               "x.tsv", true);
    const Line line = resolve(on_prefix("2001:db8:12:3400::/56"), tables);
    CHECK_FALSE(line.br.has_value());
    CHECK(line.rule_source == "x.tsv:2");
    CHECK(explained(line, "border relay").value == "none");
    CHECK(explained(line, "border relay").source == "not stated");
}

TEST_CASE("a stated rule against the table's")
{
    // v6plus in its /31 form is the same rule as the table's /32: no warning.
    LineFields v6plus = on_prefix("240b:13:1a65:a100::/56");
    v6plus.rule = fields("240b:12::/31", "14.8.0.0/15", 25);
    v6plus.rule.psid_offset = 4;
    v6plus.rule.iid = IidFormat::draft03;
    Line line = resolve(v6plus, shipped_tables());
    CHECK(line.warnings.empty());
    CHECK(line.edge.ipv4 == p4("14.9.26.101"));
    CHECK_FALSE(line.br.has_value());

    // A document that says a = 6 for v6plus, and a textbook interface identifier.
    v6plus.rule.psid_offset.reset();
    v6plus.rule.iid.reset();
    CHECK(resolve(v6plus, shipped_tables()).warnings
          == Warnings{"PSID offset is 6, but the table says 4 for this prefix (v6plus.tsv:6)",
                      "interface identifier is rfc7597, but the table says draft03 for this prefix (v6plus.tsv:6)"});

    LineFields ocn = on_prefix("2400:4050:2ba1:ac00::/56");
    ocn.rule = fields("2400:4050::/34", "153.241.0.0/16", 22);
    ocn.rule.iid = IidFormat::draft03;
    CHECK(resolve(ocn, shipped_tables()).warnings
          == Warnings{"rule IPv4 prefix is 153.241.0.0/16 (153.241.174.134/32 here), but the table says 153.240.0.0/16 "
                      "(153.240.174.134/32) for this prefix (ocn.tsv:3)"});
    ocn.rule = fields("2400:4050::/34", "153.240.0.0/16", 20);
    ocn.rule.iid = IidFormat::draft03;
    CHECK(resolve(ocn, shipped_tables()).warnings
          == Warnings{"EA length is 20 (PSID length 4), but the table says 22 behind 2400:4050::/34 (PSID length 6) for this "
                      "prefix (ocn.tsv:3)"});
}

TEST_CASE("a stated PSID that the EA bits overrule")
{
    LineFields fields = on_prefix("2001:db8:82a1:ac00::/56");
    fields.rule.psid = 3;
    Line line = resolve(fields);
    CHECK(line.edge.ports.psid() == 44);
    CHECK(line.warnings
          == Warnings{"PSID 3 is stated, but the EA bits of 2001:db8:82a1:ac00::/56 carry PSID 44, which counts (RFC 7598 4.5)"});
    CHECK(explained(line, "PSID").source == "bits 50-55 of the end-user prefix");
    fields.rule.psid = 44;
    fields.rule.psid_length = 6;
    CHECK(resolve(fields).warnings.empty());
}

TEST_CASE("rows of little confidence work but warn")
{
    Line line = resolve(on_prefix("240d:10:1000:3400::/56"), shipped_tables());
    CHECK(line.edge.ipv4 == p4("219.105.144.0"));
    REQUIRE(line.warnings.size() == 1);
    CHECK(line.warnings[0].find("the rule 240d:10:1000::/38 of table nuro (nuro.tsv:") == 0);
    CHECK(line.warnings[0].find("is unverified") != std::string::npos);
    CHECK(line.confidence == Confidence::unverified);

    line = resolve(on_prefix("240d:f:1:3400::/56"), shipped_tables());
    REQUIRE(line.warnings.size() == 1);
    CHECK(line.warnings[0].find("comes from a partial list") != std::string::npos);
}

TEST_CASE("each value is explained by the input it came from")
{
    const auto check = [](const Line& line, const std::vector<Explained>& expected) {
        REQUIRE(line.explained.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(line.explained[i].name == expected[i].name);
            CHECK(line.explained[i].value == expected[i].value);
            CHECK(line.explained[i].source == expected[i].source);
        }
    };
    const std::string table = "table ocn (ocn.tsv:3), believed-complete";
    check(resolve(on_prefix("2400:4050:2ba1:ac00::/56"), shipped_tables(), {{"prefix", "address of eth0"}}),
          {
              {"rule IPv6 prefix", "2400:4050::/34", table},
              {"rule IPv4 prefix", "153.240.0.0/16", table},
              {"EA length", "22", table},
              {"PSID offset", "6", table},
              {"interface identifier", "draft03", table},
              {"border relay", "2001:380:a120::9", table},
              {"end-user prefix", "2400:4050:2ba1:ac00::/56", "address of eth0"},
              {"IPv4 address", "153.240.174.134", "rule IPv4 prefix, then bits 34-49 of the end-user prefix"},
              {"PSID", "44", "bits 50-55 of the end-user prefix"},
              {"PSID length", "6", "rule IPv4 prefix length 16 + EA length 22 - 32"},
              {"CE address", "2400:4050:2ba1:ac00:99:f0ae:8600:2c00", "MAP prefix, subnet 0, interface identifier"},
              {"CE address as rfc7597", "2400:4050:2ba1:ac00:0:99f0:ae86:2c", "for comparison, not used"},
              {"MAP prefix", "2400:4050:2ba1:ac00::/56", "first 56 bits of the end-user prefix"},
          });

    LineFields stated = on_prefix("2001:db8:12:3400::/56");
    stated.rule = fields("2001:db8:12:3400::/56", "192.0.2.18/32", 0);
    stated.rule.psid = 52;
    stated.rule.psid_length = 8;
    stated.br = v6("2001:db8:ffff::1");
    const Origins origins{{"prefix", "--prefix"},       {"rule-ipv6", "a.conf:1"}, {"rule-ipv4", "a.conf:2"}, {"ea-length", "a.conf:3"},
                          {"psid-length", "a.conf:4"}, {"psid", "a.conf:5"},      {"br", "--br"}};
    check(resolve(stated, RuleTables(), origins),
          {
              {"rule IPv6 prefix", "2001:db8:12:3400::/56", "a.conf:1"},
              {"rule IPv4 prefix", "192.0.2.18/32", "a.conf:2"},
              {"EA length", "0", "a.conf:3"},
              {"PSID offset", "6", "default (RFC 7597 5.1)"},
              {"interface identifier", "rfc7597", "default (RFC 7597 6)"},
              {"border relay", "2001:db8:ffff::1", "--br"},
              {"end-user prefix", "2001:db8:12:3400::/56", "--prefix"},
              {"IPv4 address", "192.0.2.18", "the rule IPv4 prefix"},
              {"PSID", "52", "a.conf:5"},
              {"PSID length", "8", "a.conf:4"},
              {"CE address", "2001:db8:12:3400:0:c000:212:34", "MAP prefix, subnet 0, interface identifier"},
              {"CE address as draft03", "2001:db8:12:3400:c0:2:1200:3400", "for comparison, not used"},
              {"MAP prefix", "2001:db8:12:3400::/56", "first 56 bits of the end-user prefix"},
          });

    LineFields contract = fixed("203.0.113.115");
    contract.ce = v6("2001:db8:1234:5678:cb:71:7300:0");
    check(resolve(contract, RuleTables(), {{"ipv4", "a.conf:1"}, {"ce", "a.conf:2"}}),
          {
              {"rule IPv6 prefix", "2001:db8:1234:5678::/64", "first 64 bits of the end-user prefix"},
              {"rule IPv4 prefix", "203.0.113.115/32", "a.conf:1"},
              {"EA length", "0", "a fixed address needs no EA bits"},
              {"PSID offset", "6", "default (RFC 7597 5.1)"},
              {"interface identifier", "draft03", "form of the CE address"},
              {"border relay", "none", "not stated"},
              {"end-user prefix", "2001:db8:1234:5678::/64", "the /64 of the CE address"},
              {"IPv4 address", "203.0.113.115", "a.conf:1"},
              {"PSID", "0", "not shared"},
              {"PSID length", "0", "not shared"},
              {"CE address", "2001:db8:1234:5678:cb:71:7300:0", "a.conf:2"},
              {"CE address as rfc7597", "2001:db8:1234:5678:0:cb00:7173:0", "for comparison, not used"},
              {"MAP prefix", "2001:db8:1234:5678::/64", "first 64 bits of the end-user prefix"},
          });
}

TEST_CASE("explained: a single EA bit, an assigned prefix, a stated identifier beside a stated CE address")
{
    LineFields bit = on_prefix("2001:db8:12:3400::/56");
    bit.rule = fields("2001:db8::/32", "192.0.2.0/31", 1);
    CHECK(explained(resolve(bit, RuleTables()), "IPv4 address").source
          == "rule IPv4 prefix, then bit 32 of the end-user prefix");

    LineFields prefix = on_prefix("2001:db8:12::/48");
    prefix.rule = fields("2001:db8::/40", "192.0.0.0/16", 8);
    const Line line = resolve(prefix, RuleTables());
    CHECK(explained(line, "IPv4 prefix").value == "192.0.18.0/24");
    CHECK(explained(line, "IPv4 prefix").source == "rule IPv4 prefix, then bits 40-47 of the end-user prefix");
    CHECK(explained(line, "PSID").source == "not shared");

    LineFields contract = fixed("203.0.113.115");
    contract.ce = v6("2001:db8:1234:5678:cb:71:7300:0");
    contract.rule.iid = IidFormat::draft03;
    CHECK(explained(resolve(contract, RuleTables(), {{"iid", "a.conf:3"}}), "interface identifier").source == "a.conf:3");
}
