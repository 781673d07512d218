// nf_tables read back: what is there, whether it is what we loaded, what it has counted.
//
// All of it needs CAP_NET_ADMIN. `socket` is one of NETLINK_NETFILTER. A kernel without nf_tables answers EOPNOTSUPP or
// EINVAL, which stay in the error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/interface_name.h"
#include "netlink/socket.h"
#include "nft/ruleset.h"

namespace mape::netlink {

/// Everything in one table as text, an object a line: the table itself, counters, named sets, flowtables, chains, rules in
/// their order, and the elements of sets. Anonymous sets are named after the rule that uses them ("out 2 set 1"). Left out
/// is what differs between two loads of one ruleset (handles, use counts, numbers of anonymous sets) and what moves while
/// packets pass (counters, quotas, limits).
///
/// Two dumps from one kernel are equal exactly if the tables are: expressions and user data are kept attribute by attribute,
/// also those that this program knows nothing of. Sorted but for rules. Empty if there is no such table.
[[nodiscard]] Result<std::vector<std::string>> dump_table(Socket& socket, const nft::TableName& table);

/// A table that is named as the tables of a tunnel are.
struct NamedTable {
    nft::TableName name;
    std::string comment;  ///< nft's comment; of ours, the mark (nft::mark)
};

/// The tables that have the name of `tunnel`'s, in any family, whoever made them.
[[nodiscard]] Result<std::vector<NamedTable>> tables_named_after(Socket& socket, const InterfaceName& tunnel);

/// Those of them that carry our mark, for nft::delete_batch.
[[nodiscard]] Result<std::vector<nft::TableName>> our_tables(Socket& socket, const InterfaceName& tunnel);

struct CounterValue {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    bool operator==(const CounterValue&) const = default;
};

/// The named counters of a table; empty if there is no such table.
[[nodiscard]] Result<std::map<std::string, CounterValue>> read_counters(Socket& socket, const nft::TableName& table);

/// A chain of type nat at postrouting, of family ip or inet, that is not in one of our tables.
struct ForeignNatChain {
    nft::Family family;
    std::string table;
    std::string chain;
    int priority;
    bool names_tunnel;  ///< a rule of it compares the outgoing device with `tunnel`
};

[[nodiscard]] Result<std::vector<ForeignNatChain>> foreign_nat_chains(Socket& socket, const InterfaceName& tunnel);

/// Tables of others that ask conntrack for the state of packets and have a chain at input, as "ip filter": untracked packets
/// do not count as established there.
[[nodiscard]] Result<std::vector<std::string>> foreign_stateful_input(Socket& socket);

}  // namespace mape::netlink
