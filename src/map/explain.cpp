#include "map/explain.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape {

namespace {

std::string bit_range(unsigned first, unsigned count)
{
    if (count == 1)
        return fmt::format("bit {} of the end-user prefix", first);
    return fmt::format("bits {}-{} of the end-user prefix", first, first + count - 1);
}

class Sources {
public:
    Sources(const Line& line, const Inputs& inputs) : line_(line), inputs_(inputs) {}

    [[nodiscard]] std::string rule_ipv6() const
    {
        if (fixed())
            return fmt::format("first {} bits of the end-user prefix", line_.rule.ipv6_prefix().length);
        return from_rule("rule-ipv6");
    }
    [[nodiscard]] std::string rule_ipv4() const { return fixed() ? stated("ipv4") : from_rule("rule-ipv4"); }
    [[nodiscard]] std::string ea_length() const
    {
        return fixed() ? "a fixed address needs no EA bits" : from_rule("ea-length");
    }
    [[nodiscard]] std::string psid_offset() const
    {
        return optional("psid-offset", inputs_.fields.rule.psid_offset.has_value(), "default (RFC 7597 5.1)");
    }
    [[nodiscard]] std::string iid() const
    {
        if (inputs_.fields.ce && !inputs_.fields.rule.iid && line_.edge.ce.bits(64, 64) == identifier())
            return "form of the CE address";
        return optional("iid", inputs_.fields.rule.iid.has_value(), "default (RFC 7597 6)");
    }
    [[nodiscard]] std::string br() const
    {
        if (!line_.br)
            return "not stated";
        return inputs_.fields.br ? stated("br") : table();
    }
    [[nodiscard]] std::string end_user_prefix() const
    {
        return inputs_.fields.prefix ? stated("prefix") : "the /64 of the CE address";
    }
    [[nodiscard]] std::string ipv4() const
    {
        if (fixed())
            return stated("ipv4");
        if (suffix_bits() == 0)
            return "the rule IPv4 prefix";
        return "rule IPv4 prefix, then " + bit_range(line_.rule.ipv6_prefix().length, suffix_bits());
    }
    [[nodiscard]] std::string psid() const
    {
        if (!line_.edge.ports.shared())
            return "not shared";
        if (psid_in_ea())
            return bit_range(line_.rule.ipv6_prefix().length + suffix_bits(), line_.rule.psid_length());
        return stated("psid");
    }
    [[nodiscard]] std::string psid_length() const
    {
        if (!line_.edge.ports.shared())
            return "not shared";
        if (psid_in_ea())
            return fmt::format("rule IPv4 prefix length {} + EA length {} - 32", line_.rule.ipv4_prefix().length,
                               line_.rule.ea_length());
        return stated("psid-length");
    }
    [[nodiscard]] std::string ce() const
    {
        return inputs_.fields.ce ? stated("ce") : "MAP prefix, subnet 0, interface identifier";
    }

private:
    [[nodiscard]] std::uint64_t identifier() const
    {
        return interface_identifier(line_.rule.iid(), line_.edge.ipv4.address, 0);
    }
    [[nodiscard]] bool fixed() const { return inputs_.fields.ipv4.has_value(); }
    [[nodiscard]] unsigned suffix_bits() const
    {
        return line_.edge.ipv4.length - line_.rule.ipv4_prefix().length;
    }
    [[nodiscard]] bool psid_in_ea() const { return line_.rule.ea_length() > suffix_bits(); }
    [[nodiscard]] std::string stated(std::string_view key) const { return origin(inputs_.origins, key); }
    [[nodiscard]] std::string table() const
    {
        const RuleRow& row = *inputs_.row;
        return fmt::format("table {} ({}:{}), {}", row.isp, row.file, row.line, to_text(row.confidence));
    }
    [[nodiscard]] std::string from_rule(std::string_view key) const { return inputs_.row ? table() : stated(key); }
    [[nodiscard]] std::string optional(std::string_view key, bool is_stated, std::string_view fallback) const
    {
        if (is_stated)
            return stated(key);
        return inputs_.row ? table() : std::string(fallback);
    }

    const Line& line_;
    const Inputs& inputs_;
};

}  // namespace

std::vector<Explained> explain(const Line& line, const Inputs& inputs)
{
    const Sources from(line, inputs);
    const MapRule& rule = line.rule;
    const CustomerEdge& edge = line.edge;
    const bool address = edge.ipv4.length == 32;
    const IidFormat other = rule.iid() == IidFormat::draft03 ? IidFormat::rfc7597 : IidFormat::draft03;
    return {
        {"rule IPv6 prefix", to_text(rule.ipv6_prefix()), from.rule_ipv6()},
        {"rule IPv4 prefix", to_text(rule.ipv4_prefix()), from.rule_ipv4()},
        {"EA length", fmt::format("{}", rule.ea_length()), from.ea_length()},
        {"PSID offset", fmt::format("{}", rule.psid_offset()), from.psid_offset()},
        {"interface identifier", std::string(to_text(rule.iid())), from.iid()},
        {"border relay", line.br ? to_text(*line.br) : "none", from.br()},
        {"end-user prefix", to_text(edge.end_user_prefix), from.end_user_prefix()},
        {address ? "IPv4 address" : "IPv4 prefix", address ? to_text(edge.ipv4.address) : to_text(edge.ipv4), from.ipv4()},
        {"PSID", fmt::format("{}", edge.ports.psid()), from.psid()},
        {"PSID length", fmt::format("{}", edge.ports.psid_length()), from.psid_length()},
        {"CE address", to_text(edge.ce), from.ce()},
        {fmt::format("CE address as {}", to_text(other)), to_text(edge.ce_other_iid), "for comparison, not used"},
        {"MAP prefix", to_text(edge.map_prefix), fmt::format("first {} bits of the end-user prefix", edge.map_prefix.length)},
    };
}

std::string origin(const Origins& origins, std::string_view key)
{
    const auto found = origins.find(key);
    return found == origins.end() ? std::string(key) : found->second;
}

}  // namespace mape
