#include "map/line.h"

#include "map/explain.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace mape {

namespace {

std::string place(const RuleRow& row)
{
    return fmt::format("{}:{}", row.file, row.line);
}

/// The keys of a rule that are stated, as the configuration spells them.
std::vector<std::string_view> stated_rule_keys(const MapRuleFields& rule)
{
    const std::array<std::pair<std::string_view, bool>, 7> keys{{
        {"rule-ipv6", rule.rule_ipv6.has_value()},
        {"rule-ipv4", rule.rule_ipv4.has_value()},
        {"ea-length", rule.ea_length.has_value()},
        {"psid-offset", rule.psid_offset.has_value()},
        {"psid", rule.psid.has_value()},
        {"psid-length", rule.psid_length.has_value()},
        {"iid", rule.iid.has_value()},
    }};
    std::vector<std::string_view> stated;
    for (const auto& [key, is_stated] : keys)
        if (is_stated)
            stated.push_back(key);
    return stated;
}

/// The rule's own error, with the places that state its fields.
Error rule_error(Error error, const MapRuleFields& rule, const Origins& origins)
{
    std::vector<std::string> places;
    for (const std::string_view key : stated_rule_keys(rule))
        places.push_back(origins.contains(key) ? fmt::format("{} ({})", key, origin(origins, key)) : std::string(key));
    if (error.hint.empty() && !places.empty())
        error.hint = fmt::format("stated: {}", fmt::join(places, ", "));
    return error;
}

Result<void> refuse_unknown_isp(const LineFields& fields, const RuleTables& tables)
{
    if (!fields.isp)
        return {};
    std::vector<std::string_view> known;
    for (const RuleRow& row : tables.rows())
        if (std::find(known.begin(), known.end(), row.isp) == known.end())
            known.push_back(row.isp);
    if (std::find(known.begin(), known.end(), *fields.isp) != known.end())
        return {};
    std::sort(known.begin(), known.end());
    return fail(input_error(fmt::format("isp \"{}\" is in no rule table: known are {}", *fields.isp,
                                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))));
}

Error unknown_prefix(const Ipv6Prefix& prefix, const LineFields& fields, const RuleTables& tables)
{
    const std::string_view isp = fields.isp ? std::string_view(*fields.isp) : std::string_view();
    if (const RuleRow* row = tables.find(Ipv6Prefix{prefix.address, 128}, isp);
        row && row->rule.ipv6_prefix().contains(prefix))
        if (auto edge = derive_customer_edge(row->rule, prefix); !edge)
            return with_context(fmt::format("table {} ({})", row->isp, place(*row)), edge.error());
    if (const RuleRow* row = tables.find(prefix))
        return input_error(fmt::format("prefix {} has no rule of isp {}", to_text(prefix), isp),
                           fmt::format("isp {} has one ({}): leave isp out, or state the rule with --rule-ipv6, --rule-ipv4 "
                                       "and --ea-length",
                                       row->isp, place(*row)));
    const auto& files = tables.searched_files();
    return input_error(fmt::format("prefix {} is in no rule table (searched: {})", to_text(prefix),
                                   files.empty() ? "no table found" : fmt::format("{}", fmt::join(files, ", "))),
                       "state the provider's rule with --rule-ipv6, --rule-ipv4 and --ea-length");
}

unsigned different_groups(const Ipv6Address& one, const Ipv6Address& other)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 8; ++i)
        count += one.group(i) != other.group(i);
    return count;
}

void warn_of_near_miss(const Ipv6Address& br, const RuleTables& tables, std::vector<std::string>& warnings)
{
    const std::vector<Ipv6Address> known = tables.border_relays();
    if (std::find(known.begin(), known.end(), br) != known.end())
        return;
    for (const Ipv6Address& relay : known)
        if (different_groups(br, relay) == 1) {
            warnings.push_back(fmt::format("border relay {} differs in one group from {}, a known one: is it a typing error?",
                                           to_text(br), to_text(relay)));
            return;
        }
}

void warn_of_confidence(const RuleRow& row, std::vector<std::string>& warnings)
{
    const std::string rule = fmt::format("the rule {} of table {} ({})", to_text(row.rule.ipv6_prefix()), row.isp, place(row));
    if (row.confidence == Confidence::unverified)
        warnings.push_back(rule + " is unverified: nobody has confirmed it on a real line, so the address may be wrong");
    if (row.confidence == Confidence::partial)
        warnings.push_back(rule + " comes from a partial list: the provider may use other rules that it lacks");
}

/// Each way in which what is stated leads elsewhere than the table's row. The same rule in a wider or narrower form
/// (/31 or /38 of one mapping) is no difference, so results are compared, not fields.
void warn_of_differences(const Line& line, const RuleRow& row, std::vector<std::string>& warnings)
{
    const auto differ = [&](std::string_view what, const std::string& ours, const std::string& theirs) {
        if (ours != theirs)
            warnings.push_back(fmt::format("{} is {}, but the table says {} for this prefix ({})", what, ours, theirs,
                                           place(row)));
    };
    const MapRule& ours = line.rule;
    const MapRule& theirs = row.rule;
    if (line.br && row.br)
        differ("border relay", to_text(*line.br), to_text(*row.br));
    differ("PSID offset", fmt::format("{}", ours.psid_offset()), fmt::format("{}", theirs.psid_offset()));
    differ("interface identifier", std::string(to_text(ours.iid())), std::string(to_text(theirs.iid())));
    const auto edge = derive_customer_edge(theirs, line.edge.end_user_prefix);
    if (!edge)
        return;
    if (ours.map_prefix_length() != theirs.map_prefix_length() || ours.psid_length() != theirs.psid_length())
        differ("EA length", fmt::format("{} (PSID length {})", ours.ea_length(), ours.psid_length()),
               fmt::format("{} behind {} (PSID length {})", theirs.ea_length(), to_text(theirs.ipv6_prefix()),
                           theirs.psid_length()));
    if (line.edge.ipv4 != edge->ipv4)
        differ("rule IPv4 prefix", fmt::format("{} ({} here)", to_text(ours.ipv4_prefix()), to_text(line.edge.ipv4)),
               fmt::format("{} ({})", to_text(theirs.ipv4_prefix()), to_text(edge->ipv4)));
}

void warn_of_overruled_psid(const Line& line, const MapRuleFields& stated, std::vector<std::string>& warnings)
{
    if (stated.psid && !line.rule.stated_psid() && line.edge.ports.shared() && *stated.psid != line.edge.ports.psid())
        warnings.push_back(fmt::format("PSID {} is stated, but the EA bits of {} carry PSID {}, which counts (RFC 7598 4.5)",
                                       *stated.psid, to_text(line.edge.end_user_prefix), line.edge.ports.psid()));
}

Result<Line> resolve_mapped(const LineFields& fields, const RuleTables& tables, const Origins& origins)
{
    if (!fields.prefix)
        return fail(input_error("the end-user prefix is not known",
                                "state it with --prefix, such as --prefix 2001:db8:12:3400::/56"));
    if (auto open = refuse_closed_network(*fields.prefix); !open)
        return fail(open.error());

    const MapRuleFields& stated = fields.rule;
    const bool whole = stated.rule_ipv6 || stated.rule_ipv4 || stated.ea_length;
    const RuleRow* row = tables.find(*fields.prefix, fields.isp ? std::string_view(*fields.isp) : std::string_view());
    if (!whole && !row)
        return fail(unknown_prefix(*fields.prefix, fields, tables));
    MapRuleFields rule_fields = stated;
    if (!whole) {
        rule_fields.rule_ipv6 = row->rule.ipv6_prefix();
        rule_fields.rule_ipv4 = row->rule.ipv4_prefix();
        rule_fields.ea_length = row->rule.ea_length();
        rule_fields.psid_offset = stated.psid_offset.value_or(row->rule.psid_offset());
        rule_fields.iid = stated.iid.value_or(row->rule.iid());
    }
    auto rule = MapRule::make(rule_fields);
    if (!rule)
        return fail(rule_error(rule.error(), stated, origins));
    auto edge = derive_customer_edge(*rule, *fields.prefix);
    if (!edge)
        return fail(edge.error());

    const RuleRow* used = whole ? nullptr : row;
    Line line{
        .rule = *rule,
        .edge = *std::move(edge),
        .br = fields.br || !used ? fields.br : used->br,
        .isp = used ? std::optional(used->isp) : std::nullopt,
        .confidence = used ? std::optional(used->confidence) : std::nullopt,
        .rule_source = !used ? "configuration" : used->source.empty() ? place(*used) : used->source,
        .table_mtu = used ? used->mtu : std::nullopt,
        .explained = {},
        .warnings = {},
    };
    if (used)
        warn_of_confidence(*used, line.warnings);
    if (row)
        warn_of_differences(line, *row, line.warnings);
    if (fields.br && !(row && row->br))
        warn_of_near_miss(*fields.br, tables, line.warnings);
    warn_of_overruled_psid(line, stated, line.warnings);
    line.warnings.insert(line.warnings.end(), line.edge.warnings.begin(), line.edge.warnings.end());
    line.explained = explain(line, {fields, origins, used});
    return line;
}

/// The format whose interface identifier the contract's CE address has; rfc7597 where it has neither.
IidFormat format_of(const Ipv6Address& ce, Ipv4Address ipv4)
{
    return ce.bits(64, 64) == interface_identifier(IidFormat::draft03, ipv4, 0) ? IidFormat::draft03 : IidFormat::rfc7597;
}

Result<void> refuse_half_fixed(const LineFields& fields)
{
    std::vector<std::string_view> keys = stated_rule_keys(fields.rule);
    std::erase(keys, "iid");
    if (!keys.empty())
        return fail(input_error(fmt::format("{} and {} contradict each other: a fixed-address line has no rule",
                                            fields.ipv4 ? "ipv4" : "ce", fmt::join(keys, ", ")),
                                "state either ipv4 with ce or prefix, or a rule"));
    if (!fields.ipv4)
        return fail(input_error("ce is stated without ipv4: a fixed-address line needs the contract's IPv4 address",
                                "state it with --ipv4, such as --ipv4 192.0.2.1"));
    if (!fields.ce && !fields.prefix)
        return fail(input_error("ipv4 is stated without ce or prefix: a fixed-address line needs one of them",
                                "state the contract's CE address with --ce, or the end-user prefix with --prefix"));
    return {};
}

Result<Line> resolve_fixed(const LineFields& fields, const Origins& origins)
{
    if (auto whole = refuse_half_fixed(fields); !whole)
        return fail(whole.error());
    if (fields.ce)
        if (auto open = refuse_closed_network({*fields.ce, 128}); !open)
            return fail(open.error());
    const Ipv6Prefix end_user_prefix = fields.prefix ? *fields.prefix : Ipv6Prefix::of(*fields.ce, 64);

    MapRuleFields rule_fields = fields.rule;
    rule_fields.rule_ipv6 = Ipv6Prefix::of(end_user_prefix.address, std::min(end_user_prefix.length, 64U));
    rule_fields.rule_ipv4 = fields.ipv4;
    rule_fields.ea_length = 0;
    if (fields.ce && !fields.rule.iid)
        rule_fields.iid = format_of(*fields.ce, fields.ipv4->address);
    auto rule = MapRule::make(rule_fields);
    if (!rule)
        return fail(rule.error());
    auto edge = derive_customer_edge(*rule, end_user_prefix);
    if (!edge)
        return fail(edge.error());

    Line line{
        .rule = *rule,
        .edge = *std::move(edge),
        .br = fields.br,
        .isp = std::nullopt,
        .confidence = std::nullopt,
        .rule_source = "fixed address",
        .table_mtu = std::nullopt,
        .explained = {},
        .warnings = {},
    };
    if (fields.ce) {
        line.edge.ce = *fields.ce;
        if (!end_user_prefix.contains(*fields.ce))
            line.warnings.push_back(fmt::format("the CE address {} is not inside the end-user prefix {}: its packets may not "
                                                "reach this line",
                                                to_text(*fields.ce), to_text(end_user_prefix)));
    }
    line.warnings.insert(line.warnings.end(), line.edge.warnings.begin(), line.edge.warnings.end());
    line.explained = explain(line, {fields, origins, nullptr});
    return line;
}

}  // namespace

Result<Line> resolve_line(const LineFields& fields, const RuleTables& tables, const Origins& origins)
{
    if (auto known = refuse_unknown_isp(fields, tables); !known)
        return fail(known.error());
    if (fields.ipv4 || fields.ce)
        return resolve_fixed(fields, origins);
    return resolve_mapped(fields, tables, origins);
}

}  // namespace mape
