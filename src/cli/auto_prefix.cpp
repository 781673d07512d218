#include "cli/auto_prefix.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace mape::cli {

namespace {

using netlink::PrefixCandidate;

constexpr std::string_view state_it = "state it with --prefix or prefix = ... in [map]";

std::string seen_text(std::span<const PrefixCandidate> candidates)
{
    std::string text;
    for (const PrefixCandidate& candidate : candidates)
        text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", to_text(candidate.prefix), candidate.seen);
    return text;
}

// The part of `prefix` that the rule uses: what makes two candidates one customer edge. None: the rule does not know it.
std::optional<Ipv6Prefix> map_prefix(const Ipv6Prefix& prefix, const LineFields& fields, const RuleTables& tables)
{
    if (refuse_closed_network(prefix).has_value() == false)
        return std::nullopt;
    const auto cut = [&](const MapRule& rule) { return Ipv6Prefix::of(prefix.address, rule.map_prefix_length()); };
    if (fields.rule.rule_ipv6) {
        if (!fields.rule.rule_ipv6->contains(prefix))
            return std::nullopt;
        const auto rule = MapRule::make(fields.rule);
        if (!rule)
            return prefix;  // resolve_line says what is wrong with the rule
        return rule->map_prefix_length() <= prefix.length ? std::optional(cut(*rule)) : std::nullopt;
    }
    const RuleRow* row = tables.find(prefix, fields.isp ? std::string_view(*fields.isp) : std::string_view{});
    return row ? std::optional(cut(row->rule)) : std::nullopt;
}

Error none_known(std::span<const PrefixCandidate> candidates, const LineFields& fields, const RuleTables& tables)
{
    for (const PrefixCandidate& candidate : candidates)
        if (const auto open = refuse_closed_network(candidate.prefix); !open && candidates.size() == 1)
            return with_context(fmt::format("prefix = auto: {}", candidate.seen), open.error());
    std::string searched;
    if (fields.rule.rule_ipv6)
        searched = fmt::format("is inside the stated rule IPv6 prefix {}, or long enough for it", to_text(*fields.rule.rule_ipv6));
    else
        searched = fmt::format("is in a rule table (searched: {})", tables.searched_files().empty()
                                   ? "no table found" : fmt::format("{}", fmt::join(tables.searched_files(), ", ")));
    return failure(fmt::format("prefix = auto: none of the prefixes seen {}; seen: {}", searched, seen_text(candidates)),
                   "state the provider's rule with --rule-ipv6, --rule-ipv4 and --ea-length, or the prefix with --prefix");
}

}  // namespace

Result<PrefixCandidate> choose_prefix(std::span<const PrefixCandidate> candidates, const LineFields& fields,
                                      const RuleTables& tables)
{
    if (candidates.empty())
        return fail(failure("prefix = auto: no global IPv6 address or delegated prefix on WAN and LAN devices",
                            std::string(state_it)));
    if (fields.ipv4) {
        const PrefixCandidate& best = candidates.front();
        const bool holds_all = std::all_of(candidates.begin(), candidates.end(), [&](const PrefixCandidate& other) {
            return best.prefix.contains(other.prefix);
        });
        if (!holds_all)
            return fail(failure(fmt::format("prefix = auto: more than one prefix: {}", seen_text(candidates)),
                                std::string(state_it)));
        return best;
    }
    std::vector<PrefixCandidate> known;
    std::vector<Ipv6Prefix> edges;
    for (const PrefixCandidate& candidate : candidates) {
        const auto edge = map_prefix(candidate.prefix, fields, tables);
        if (!edge || std::find(edges.begin(), edges.end(), *edge) != edges.end())
            continue;
        edges.push_back(*edge);
        known.push_back(candidate);
    }
    if (known.empty())
        return fail(none_known(candidates, fields, tables));
    if (known.size() > 1)
        return fail(failure(fmt::format("prefix = auto: more than one prefix that a rule knows: {}", seen_text(known)),
                            std::string(state_it)));
    return known.front();
}

Result<PrefixCandidate> find_end_user_prefix(const netlink::NetworkState& state, const Settings& settings,
                                             const InterfaceName& tunnel, const RuleTables& tables)
{
    std::vector<unsigned> devices;
    const netlink::Link* wan = settings.wan ? state.find_link(settings.wan->str()) : state.default_ipv6_device();
    if (settings.wan && !wan)
        return fail(failure(fmt::format("wan = {}: there is no such device", settings.wan->str())));
    if (wan)
        devices.push_back(wan->index);
    if (settings.lan.empty()) {
        for (const netlink::Link* lan : state.ipv4_lan_devices(wan ? wan->name : "", tunnel.str()))
            devices.push_back(lan->index);
    } else {
        for (const InterfaceName& name : settings.lan)
            if (const netlink::Link* lan = state.find_link(name.str()))
                devices.push_back(lan->index);
    }
    const auto candidates = netlink::end_user_prefix_candidates(state, devices);
    return choose_prefix(candidates, settings.line, tables);
}

}  // namespace mape::cli
