#include "map/map_rule.h"

#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace mape {

namespace {

Result<void> refuse_missing(const MapRuleFields& fields)
{
    std::vector<std::string_view> missing;
    if (!fields.rule_ipv6)
        missing.push_back("rule-ipv6");
    if (!fields.rule_ipv4)
        missing.push_back("rule-ipv4");
    if (!fields.ea_length)
        missing.push_back("ea-length");
    if (missing.empty())
        return {};
    return fail(input_error(
        fmt::format("a rule needs rule-ipv6, rule-ipv4 and ea-length; not stated: {}", fmt::join(missing, ", "))));
}

/// PSID and its length, for a rule whose IPv4 prefix and EA bits make `ipv4_bits` bits.
Result<PortSet> port_set_shape(const MapRuleFields& fields, unsigned ipv4_bits, std::uint32_t offset)
{
    const std::uint32_t stated_length = fields.psid_length.value_or(0);
    const auto what = [&] {
        return fmt::format("rule IPv4 prefix {} and EA length {}", to_text(*fields.rule_ipv4), *fields.ea_length);
    };
    if (ipv4_bits < 32) {
        if (fields.psid)
            return fail(input_error(fmt::format("PSID {} is stated, but {} give each customer edge an IPv4 prefix /{}, "
                                                "which is not shared",
                                                *fields.psid, what(), ipv4_bits)));
        if (stated_length > 0)
            return fail(input_error(fmt::format("psid-length {} contradicts the rule: {} give each customer edge an IPv4 "
                                                "prefix /{}, which is not shared",
                                                stated_length, what(), ipv4_bits)));
        return PortSet::make(offset, 0, 0);
    }
    if (ipv4_bits > 32) {
        const std::uint32_t length = ipv4_bits - 32;
        if (stated_length > 0 && stated_length != length)
            return fail(input_error(fmt::format("psid-length {} contradicts the rule: {} make it {}", stated_length, what(),
                                                length)));
        auto set = PortSet::make(offset, length, fields.psid.value_or(0));
        if (!set)
            return fail(with_context(what(), set.error()));
        return set;
    }
    const std::uint32_t psid = fields.psid.value_or(0);
    if (psid > 0 && stated_length == 0)
        return fail(input_error(fmt::format("PSID {} is stated without psid-length, which must be 1 to 16", psid)));
    if (stated_length > 0 && !fields.psid)
        return fail(input_error(fmt::format("psid-length {} is stated without psid: {} leave no EA bits to carry one",
                                            stated_length, what())));
    return PortSet::make(offset, stated_length, psid);
}

}  // namespace

Result<MapRule> MapRule::make(const MapRuleFields& fields)
{
    if (auto complete = refuse_missing(fields); !complete)
        return fail(complete.error());
    const std::uint32_t n = fields.rule_ipv6->length;
    const std::uint32_t o = *fields.ea_length;
    const std::uint32_t r = fields.rule_ipv4->length;
    const std::uint32_t offset = fields.psid_offset.value_or(6);
    if (offset > 15)
        return fail(input_error(fmt::format("PSID offset {} is out of range: 0 to 15", offset)));
    if (o > 48)
        return fail(input_error(fmt::format("EA length {} is out of range: 0 to 48", o)));
    if (n + o > 128)
        return fail(input_error(fmt::format("rule IPv6 prefix length {} and EA length {} need {} bits of an IPv6 address, "
                                            "which has 128",
                                            n, o, n + o)));
    const auto set = port_set_shape(fields, r + o, offset);
    if (!set)
        return fail(set.error());

    MapRule rule;
    rule.ipv6_prefix_ = *fields.rule_ipv6;
    rule.ipv4_prefix_ = *fields.rule_ipv4;
    rule.ea_length_ = o;
    rule.psid_offset_ = offset;
    rule.psid_length_ = set->psid_length();
    if (r + o == 32 && set->shared())
        rule.psid_ = set->psid();
    rule.iid_ = fields.iid.value_or(IidFormat::rfc7597);
    return rule;
}

}  // namespace mape
