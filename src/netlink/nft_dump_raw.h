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

/// Everything in `tables`, at one moment.
[[nodiscard]] Result<RawTables> read_tables(Socket& socket, const std::vector<nft::TableName>& tables);

/// The present generation alone. Commits of nf_tables count; what packets do (counters, dynamic sets) and devices that go
/// (net/netfilter/nf_tables_api.c 6.1, nf_tables_netdev_event) do not.
[[nodiscard]] Result<std::uint32_t> ruleset_generation(Socket& socket);

/// The lines of dump_table() for one of the tables in `messages`. Pure; `messages` is not trusted.
[[nodiscard]] Result<std::vector<std::string>> lines_of(const nft::TableName& table, std::span<const std::byte> messages);

}  // namespace mape::netlink
