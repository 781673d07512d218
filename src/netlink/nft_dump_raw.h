// Tables as the kernel's messages show them, kept as they are: cheap to take and to store, put into words only where somebody
// wants to know what differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "netlink/socket.h"
#include "nft/ruleset.h"

namespace mape::netlink {

struct RawTables {
    std::uint32_t generation = 0;     ///< how many changes the namespace's ruleset had had then; each commit counts one
    std::vector<std::byte> messages;  ///< netlink messages in the order they came, each at a multiple of 4 bytes
};

/// Elements of which sets. Those of a constant anonymous set stay as they are as long as the set exists, which its handle tells
/// (nf_tables_api.c, nf_tables_newsetelem, nf_tables_delsetelem: EBUSY). Most of a ruleset of ours are such.
enum class Elements { all, of_changeable_sets };

/// Everything in `tables`, at one moment.
[[nodiscard]] Result<RawTables> read_tables(Socket& socket, const std::vector<nft::TableName>& tables,
                                            Elements elements = Elements::all);

/// The present generation alone. Commits of nf_tables count; what packets do (counters, dynamic sets) and devices that go
/// (net/netfilter/nf_tables_api.c 6.1, nf_tables_netdev_event) do not.
[[nodiscard]] Result<std::uint32_t> ruleset_generation(Socket& socket);

/// What read_tables() leaves out with Elements::of_changeable_sets, for one of the tables, from the batch that made it anew: messages
/// to put behind the others. A set in a batch has a pattern for a name; the kernel fills in the first number that is free in the
/// table (nf_tables_api.c, nf_tables_set_alloc_name), in the order of the messages. Pure; `batch` is not trusted.
[[nodiscard]] Result<std::vector<std::byte>> constant_elements(const nft::TableName& table, std::span<const std::byte> batch);

/// The lines of dump_table() for one of the tables in `messages`. Pure; `messages` is not trusted.
[[nodiscard]] Result<std::vector<std::string>> lines_of(const nft::TableName& table, std::span<const std::byte> messages);

}  // namespace mape::netlink
