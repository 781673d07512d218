#include "netlink/nft_dump.h"

#include <linux/netfilter/nf_tables.h>

#include "netlink/nft_dump_raw.h"
#include "netlink/nft_dump_socket.h"
#include "nft/napt.h"
#include "nft/text.h"

namespace mape::netlink {

Result<std::vector<std::string>> dump_table(Socket& socket, const nft::TableName& table)
{
    const auto raw = read_tables(socket, {table});
    if (!raw)
        return fail(raw.error());
    return lines_of(table, raw->messages);
}

Result<std::vector<NamedTable>> tables_named_after(Socket& socket, const InterfaceName& tunnel)
{
    auto tables = all_tables(socket);
    if (!tables)
        return fail(std::move(tables.error()));
    const std::string name = table_name(tunnel);
    std::vector<NamedTable> named;
    for (TableInKernel& table : *tables)
        if (const auto family = family_of(table.family); family && table.name == name)
            named.push_back({{*family, name}, std::move(table.comment)});
    return named;
}

Result<std::vector<nft::TableName>> our_tables(Socket& socket, const InterfaceName& tunnel)
{
    const auto named = tables_named_after(socket, tunnel);
    if (!named)
        return fail(named.error());
    std::vector<nft::TableName> ours;
    for (const NamedTable& table : *named)
        if (nft::is_mark(table.comment))
            ours.push_back(table.name);
    return ours;
}

Result<std::map<std::string, CounterValue>> read_counters(Socket& socket, const nft::TableName& table)
{
    const std::uint8_t family = protocol_family(table.family);
    std::map<std::string, CounterValue> counters;
    auto done = socket.dump(
        read_request(NFT_MSG_GETOBJ, family, {{NFTA_OBJ_TABLE, table.name}}), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            const auto counter = parse_counter(message);
            if (!counter)
                return fail(counter.error());
            if (*counter && (*counter)->family == family && (*counter)->table == table.name)
                counters[(*counter)->name] = (*counter)->value;
            return {};
        },
        [&] { counters.clear(); });
    return done.map([&] { return std::move(counters); });
}

}  // namespace mape::netlink
