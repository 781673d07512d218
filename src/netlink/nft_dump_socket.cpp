#include "netlink/nft_dump_socket.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

namespace mape::netlink {

Result<std::vector<TableInKernel>> all_tables(Socket& socket)
{
    std::vector<TableInKernel> tables;
    auto done = socket.dump(
        read_request(NFT_MSG_GETTABLE, NFPROTO_UNSPEC), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            auto table = parse_table(message);
            if (!table)
                return fail(std::move(table.error()));
            tables.push_back(std::move(*table));
            return {};
        },
        [&] { tables.clear(); });
    return done.map([&] { return std::move(tables); });
}

Result<std::uint32_t> ruleset_generation(Socket& socket)
{
    std::uint32_t number = 0;
    auto done = socket.get(read_request(NFT_MSG_GETGEN, NFPROTO_UNSPEC), reading_ruleset,
                           [&](const nlmsghdr& message) -> Result<void> {
                               const auto generation = parse_generation(message);
                               if (!generation)
                                   return fail(generation.error());
                               number = *generation;
                               return {};
                           });
    return done.map([&] { return number; });
}

}  // namespace mape::netlink
