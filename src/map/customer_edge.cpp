#include "map/customer_edge.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mape {

namespace {

// 2408::/22
constexpr Ipv6Prefix closed_network{{{0x24, 0x08}}, 22};

Ipv6Address customer_edge_address(const Ipv6Prefix& map_prefix, IidFormat format, Ipv4Address ipv4, std::uint16_t psid)
{
    Ipv6Address address = map_prefix.address;
    address.set_bits(64, 64, interface_identifier(format, ipv4, psid));
    if (map_prefix.length > 64) {
        const unsigned over = map_prefix.length - 64;
        address.set_bits(64, over, map_prefix.address.bits(64, over));
    }
    return address;
}

Result<void> refuse_mismatch(const MapRule& rule, const Ipv6Prefix& prefix)
{
    const Ipv6Prefix& rule_prefix = rule.ipv6_prefix();
    const unsigned common = std::min(rule_prefix.length, prefix.length);
    if (Ipv6Prefix::of(prefix.address, common) != Ipv6Prefix::of(rule_prefix.address, common))
        return fail(input_error(fmt::format("end-user prefix {} is not inside the rule IPv6 prefix {}", to_text(prefix),
                                            to_text(rule_prefix))));
    if (prefix.length < rule.map_prefix_length())
        return fail(input_error(fmt::format("end-user prefix {} is too short: the rule needs a /{} (rule IPv6 prefix {} and "
                                            "EA length {}), this is a /{}",
                                            to_text(prefix), rule.map_prefix_length(), to_text(rule_prefix),
                                            rule.ea_length(), prefix.length)));
    return {};
}

std::vector<std::string> subnet_warnings(const Ipv6Prefix& map_prefix, const Ipv6Prefix& end_user_prefix)
{
    const unsigned end = std::min(end_user_prefix.length, 64U);
    if (map_prefix.length >= end || end_user_prefix.address.bits(map_prefix.length, end - map_prefix.length) == 0)
        return {};
    return {fmt::format("bits {} to {} of {} are not zero: the CE address is made from the MAP prefix {} with subnet 0; a home "
                        "gateway that delegates a part of its prefix (a /60), or another /64 of the line, may be the cause",
                        map_prefix.length, end - 1, to_text(end_user_prefix), to_text(map_prefix))};
}

}  // namespace

Result<void> refuse_closed_network(const Ipv6Prefix& prefix)
{
    if (!closed_network.contains(prefix))
        return {};
    return fail(input_error(fmt::format("{} belongs to NTT's closed network (NGN, {}), not to a MAP-E provider: the line's "
                                        "IPv6 (IPoE) service is not provisioned yet",
                                        to_text(prefix), to_text(closed_network)),
                            "ask the provider whether IPoE has been opened for this line, then renew the prefix"));
}

Result<CustomerEdge> derive_customer_edge(const MapRule& rule, const Ipv6Prefix& end_user_prefix)
{
    if (auto open = refuse_closed_network(end_user_prefix); !open)
        return fail(open.error());
    if (auto match = refuse_mismatch(rule, end_user_prefix); !match)
        return fail(match.error());

    const unsigned n = rule.ipv6_prefix().length;
    const unsigned r = rule.ipv4_prefix().length;
    const unsigned ipv4_length = std::min(r + rule.ea_length(), 32U);
    const unsigned suffix_bits = ipv4_length - r;
    const bool psid_in_ea = rule.ea_length() > suffix_bits;

    // 64 bits wide: the shift is 32 for a rule that gives everybody 0.0.0.0/0.
    const std::uint64_t suffix = end_user_prefix.address.bits(n, suffix_bits) << (32 - ipv4_length);
    const Ipv4Prefix ipv4{{rule.ipv4_prefix().address.value | static_cast<std::uint32_t>(suffix)}, ipv4_length};
    const auto psid = psid_in_ea ? static_cast<std::uint32_t>(end_user_prefix.address.bits(n + suffix_bits, rule.psid_length()))
                                 : rule.stated_psid().value_or(0);
    const auto ports = PortSet::make(rule.psid_offset(), rule.psid_length(), psid);
    if (!ports)
        return fail(ports.error());

    const Ipv6Prefix map_prefix = Ipv6Prefix::of(end_user_prefix.address, rule.map_prefix_length());
    const IidFormat other = rule.iid() == IidFormat::draft03 ? IidFormat::rfc7597 : IidFormat::draft03;
    const auto psid16 = static_cast<std::uint16_t>(psid);
    return CustomerEdge{
        .end_user_prefix = end_user_prefix,
        .map_prefix = map_prefix,
        .ipv4 = ipv4,
        .ports = *ports,
        .ce = customer_edge_address(map_prefix, rule.iid(), ipv4.address, psid16),
        .ce_other_iid = customer_edge_address(map_prefix, other, ipv4.address, psid16),
        .warnings = subnet_warnings(map_prefix, end_user_prefix),
    };
}

Result<CustomerEdge> owner_of(const MapRule& rule, Ipv4Address ipv4, std::uint16_t port)
{
    if (!rule.ipv4_prefix().contains(ipv4))
        return fail(input_error(fmt::format("{} is not inside the rule IPv4 prefix {}", to_text(ipv4),
                                            to_text(rule.ipv4_prefix()))));
    const auto psid = psid_of_port(port, rule.psid_offset(), rule.psid_length());
    if (!psid)
        return fail(psid.error());
    if (rule.stated_psid() && *rule.stated_psid() != *psid)
        return fail(input_error(fmt::format("port {} of {} belongs to PSID {}, but the rule states PSID {}", port,
                                            to_text(ipv4), *psid, *rule.stated_psid())));

    const unsigned n = rule.ipv6_prefix().length;
    const unsigned ipv4_length = std::min(rule.ipv4_prefix().length + rule.ea_length(), 32U);
    const unsigned suffix_bits = ipv4_length - rule.ipv4_prefix().length;
    Ipv6Address address = rule.ipv6_prefix().address;
    // set_bits takes the low bits of its value: those above the suffix are the rule's own.
    address.set_bits(n, suffix_bits, std::uint64_t{ipv4.value} >> (32 - ipv4_length));
    address.set_bits(n + suffix_bits, rule.ea_length() - suffix_bits, *psid);
    return derive_customer_edge(rule, {address, rule.map_prefix_length()});
}

}  // namespace mape
