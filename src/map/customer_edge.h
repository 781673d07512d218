// What a rule and an end-user prefix make of one customer edge: RFC 7597 sections 5.2 and 6.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "map/map_rule.h"
#include "map/port_set.h"
#include "net/address.h"

namespace mape {

struct CustomerEdge {
    Ipv6Prefix end_user_prefix;
    Ipv6Prefix map_prefix;      ///< the first n + o bits of it; the subnet bits behind it are 0
    Ipv4Prefix ipv4;            ///< /32: an address; shorter: an assigned prefix
    PortSet ports;
    Ipv6Address ce;             ///< in the rule's interface-identifier format
    Ipv6Address ce_other_iid;   ///< in the other one, for --explain
    std::vector<std::string> warnings;
};

/// Refused with a sentence: an end-user prefix shorter than n + o, one outside the rule, one in 2408::/22 (NTT's closed
/// network). Warned of: bits that are not zero between n + o and 64.
[[nodiscard]] Result<CustomerEdge> derive_customer_edge(const MapRule& rule, const Ipv6Prefix& end_user_prefix);

/// The customer edge that owns `port` of `ipv4`: the reverse question. Its end-user prefix is its map prefix.
/// Refused: an address outside the rule's IPv4 prefix, a port that no PSID owns (see psid_of_port), a port of another
/// PSID than the one the rule states.
[[nodiscard]] Result<CustomerEdge> owner_of(const MapRule& rule, Ipv4Address ipv4, std::uint16_t port);

/// Refuses 2408::/22, NTT's closed network, which no MAP-E provider hands out.
[[nodiscard]] Result<void> refuse_closed_network(const Ipv6Prefix& prefix);

}  // namespace mape
