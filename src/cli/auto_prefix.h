// prefix = auto: the end-user prefix among what the kernel shows.
#pragma once

#include <span>

#include "apply/settings.h"
#include "base/result.h"
#include "map/rule_table.h"
#include "netlink/end_user_prefix.h"

namespace mape::cli {

/// The candidate that the stated rule, or else a rule table, knows. Candidates that are one customer edge to it (a /56 and
/// a /64 of it) are one; a fixed-address line has no rule, there the one that holds all others counts.
/// Refused: none known, several different ones; each with what was seen and where.
[[nodiscard]] Result<netlink::PrefixCandidate> choose_prefix(std::span<const netlink::PrefixCandidate> candidates,
                                                             const LineFields& fields, const RuleTables& tables);

/// Looks at WAN and LAN devices, as `settings` names them or as auto finds them, and chooses. A stated WAN that does not
/// exist is a failure, not bad input.
[[nodiscard]] Result<netlink::PrefixCandidate> find_end_user_prefix(const netlink::NetworkState& state,
                                                                    const Settings& settings, const InterfaceName& tunnel,
                                                                    const RuleTables& tables);

}  // namespace mape::cli
