// A mapping rule: RFC 7597 section 5.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "map/interface_identifier.h"
#include "map/port_set.h"
#include "net/address.h"

namespace mape {

/// What a user, a table row or a provisioning answer states; syntax is right, nothing else is promised.
struct MapRuleFields {
    std::optional<Ipv6Prefix> rule_ipv6;
    std::optional<Ipv4Prefix> rule_ipv4;
    std::optional<std::uint32_t> ea_length;
    std::optional<std::uint32_t> psid_offset;
    std::optional<std::uint32_t> psid;
    std::optional<std::uint32_t> psid_length;
    std::optional<IidFormat> iid;
};

/// A rule whose invariants hold: o <= 48, n + o <= 128, a + k <= 16, and a PSID that fits.
///
/// r + o < 32: each CE gets an IPv4 prefix; = 32: an address, shared only if a PSID is stated;
/// > 32: a shared address, k = r + o - 32. RFC 7597 section 5.2.
class MapRule {
public:
    /// The only validation of a rule. Missing: rule_ipv6, rule_ipv4 and ea_length are required; psid_offset is 6 and
    /// iid rfc7597 by default. A stated PSID needs psid_length and a rule that gives a full address (r + o = 32);
    /// where EA bits carry the PSID it must not differ in length (psid_length 0 says nothing: RFC 7598 4.5).
    [[nodiscard]] static Result<MapRule> make(const MapRuleFields& fields);

    [[nodiscard]] const Ipv6Prefix& ipv6_prefix() const { return ipv6_prefix_; }
    [[nodiscard]] const Ipv4Prefix& ipv4_prefix() const { return ipv4_prefix_; }
    [[nodiscard]] unsigned ea_length() const { return ea_length_; }
    [[nodiscard]] unsigned psid_offset() const { return psid_offset_; }
    /// k; 0 when the address is not shared.
    [[nodiscard]] unsigned psid_length() const { return psid_length_; }
    /// The stated PSID where EA bits do not carry one.
    [[nodiscard]] std::optional<std::uint32_t> stated_psid() const { return psid_; }
    [[nodiscard]] IidFormat iid() const { return iid_; }
    /// n + o: how much of the end-user prefix the rule needs.
    [[nodiscard]] unsigned map_prefix_length() const { return ipv6_prefix_.length + ea_length_; }

private:
    MapRule() = default;
    Ipv6Prefix ipv6_prefix_;
    Ipv4Prefix ipv4_prefix_;
    unsigned ea_length_ = 0;
    unsigned psid_offset_ = 6;
    unsigned psid_length_ = 0;
    std::optional<std::uint32_t> psid_;
    IidFormat iid_ = IidFormat::rfc7597;
};

}  // namespace mape
