// A table of rules, and every question that is put to one.
#include "fuzz.h"

#include <algorithm>

#include <fmt/format.h>

#include "map/customer_edge.h"
#include "map/rule_table.h"

using namespace mape;

namespace {

/// What map_rule.h promises.
void check_rule(const MapRule& rule)
{
    const unsigned n = rule.ipv6_prefix().length;
    const unsigned o = rule.ea_length();
    const unsigned r = rule.ipv4_prefix().length;
    const unsigned k = rule.psid_length();
    HOLDS(n <= 128 && o <= 48 && n + o <= 128 && r <= 32);
    HOLDS(rule.psid_offset() <= 15);
    HOLDS(k <= 16 && (k == 0 || rule.psid_offset() + k <= 16));
    HOLDS(k == (r + o > 32 ? r + o - 32 : 0));
    HOLDS(!rule.stated_psid());
    HOLDS(rule.map_prefix_length() == n + o);
    HOLDS(Ipv6Prefix::of(rule.ipv6_prefix().address, n) == rule.ipv6_prefix());
}

/// The first customer edge of a rule, there and back.
void check_edge(const MapRule& rule)
{
    const auto edge = derive_customer_edge(rule, Ipv6Prefix::of(rule.ipv6_prefix().address, rule.map_prefix_length()));
    if (!edge)
        return fuzz::check_error(edge.error());
    HOLDS(rule.ipv4_prefix().contains(edge->ipv4.address));
    std::uint32_t ports = 0;
    for (const PortRange& range : edge->ports.ranges())
        ports += range.last - range.first + 1U;
    HOLDS(ports == edge->ports.port_count());
    if (edge->ports.ranges().empty())
        return;
    const auto owner = owner_of(rule, edge->ipv4.address, edge->ports.ranges().front().first);
    HOLDS(owner);
    HOLDS(owner->ports == edge->ports && owner->ipv4 == edge->ipv4 && owner->map_prefix == edge->map_prefix);
}

std::string plain(const std::vector<RuleRow>& rows)
{
    std::string text = "isp\trule_ipv6\trule_ipv4\tea_length\tpsid_offset\tbr\tiid\ttunnel_mtu\tconfidence\tsource\n";
    for (const RuleRow& row : rows)
        text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.isp, to_text(row.rule.ipv6_prefix()),
                            to_text(row.rule.ipv4_prefix()), row.rule.ea_length(), row.rule.psid_offset(),
                            row.br ? to_text(*row.br) : "", to_text(row.rule.iid()), row.mtu ? fmt::to_string(*row.mtu) : "",
                            to_text(row.confidence), row.source);
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto rows = parse_rule_table(fuzz::as_text(data, size), "t.tsv");
    if (!rows) {
        fuzz::check_error(rows.error());
        HOLDS(rows.error().kind == ErrorKind::input);
        HOLDS(rows.error().message.starts_with("t.tsv:"));
        return 0;
    }
    unsigned line = 0;
    for (const RuleRow& row : *rows) {
        HOLDS(row.line > line);
        line = row.line;
        HOLDS(!row.isp.empty() && row.file == "t.tsv");
        HOLDS(!row.mtu || (*row.mtu >= 68 && *row.mtu <= 65535));
        check_rule(row.rule);
        check_edge(row.rule);
    }

    const auto again = parse_rule_table(plain(*rows), "plain.tsv");
    HOLDS(again);
    HOLDS(plain(*again) == plain(*rows));

    RuleTables tables;
    tables.add(*rows, "t.tsv", false);
    tables.add(*again, "plain.tsv", true);
    for (std::size_t i = 0; i < std::min<std::size_t>(rows->size(), 8); ++i) {
        const MapRule& rule = (*rows)[i].rule;
        const RuleRow* found = tables.find(Ipv6Prefix::of(rule.ipv6_prefix().address, rule.map_prefix_length()));
        HOLDS(found && found->rule.ipv6_prefix().length >= rule.ipv6_prefix().length);
        HOLDS(found->file == "plain.tsv");
        found = tables.find(rule.ipv4_prefix().address, (*rows)[i].isp);
        HOLDS(found && found->isp == (*rows)[i].isp && found->rule.ipv4_prefix().length >= rule.ipv4_prefix().length);
    }
    HOLDS(tables.border_relays().size() <= rows->size());
    return 0;
}
