// A subscriber's line: everything stated about it, resolved against the rule tables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "map/customer_edge.h"
#include "map/map_rule.h"
#include "map/rule_table.h"

namespace mape {

/// What the user stated, keys of [map] in the configuration.
struct LineFields {
    std::optional<Ipv6Prefix> prefix;  ///< the end-user prefix
    std::optional<std::string> isp;    ///< restricts the search to one provider's rows
    MapRuleFields rule;                ///< either no rule_ipv6 (a table has the rule; single fields override it) or a whole rule
    std::optional<Ipv6Address> br;
    std::optional<Ipv4Prefix> ipv4;    ///< fixed-address line: the contract's address or block
    std::optional<Ipv6Address> ce;     ///< fixed-address line: the contract's CE address; its form gives the iid if none is stated
};

/// Where a stated value came from, by configuration key: "psid-offset" -> "--psid-offset" or "mape0.conf:7".
using Origins = std::map<std::string, std::string, std::less<>>;

/// One row of `calc --explain`.
struct Explained {
    std::string name;    ///< term of the design: "rule IPv6 prefix", "PSID", ...
    std::string value;
    std::string source;  ///< "table ocn (ocn.tsv:12)", "bits 38-55 of the prefix", "--br", "default (RFC 7597 5.1)", ...
};

struct Line {
    MapRule rule;                       ///< for a fixed-address line a rule of EA length 0 that gives its address
    CustomerEdge edge;
    std::optional<Ipv6Address> br;
    std::optional<std::string> isp;     ///< of the table row
    std::optional<Confidence> confidence;
    std::string rule_source;            ///< the row's source, "configuration" or "fixed address"
    std::optional<unsigned> table_mtu;
    std::vector<Explained> explained;
    std::vector<std::string> warnings;  ///< includes the edge's
};

/// Resolves a line. Errors (each with what to do): no prefix; prefix in no table (names the tables searched); half a rule
/// (names the missing keys); everything MapRule::make and derive_customer_edge refuse; ipv4/ce together with a rule;
/// an unknown isp (names the known ones).
/// Warns: unverified or partial row; a BR, PSID offset, interface identifier, EA length or IPv4 prefix that leads elsewhere
/// than the row of the table for this prefix; a BR that no row gives and that differs in one 16-bit group from a known BR
/// (not on a fixed-address line: its relay is often the neighbour of the shared one); a stated PSID that EA bits overrule;
/// a CE address outside the prefix; the edge's warnings.
[[nodiscard]] Result<Line> resolve_line(const LineFields& fields, const RuleTables& tables, const Origins& origins);

}  // namespace mape
