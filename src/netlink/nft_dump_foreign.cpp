// Other programs' tables: what of them gets in the way of ours.
#include "netlink/nft_dump.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "netlink/nft_dump_socket.h"
#include "nft/text.h"

namespace mape::netlink {

namespace {

Result<bool> set_names(Socket& socket, std::uint8_t family, const std::string& table, const std::string& set,
                       const std::string& device)
{
    bool named = false;
    auto done = socket.dump(
        read_request(NFT_MSG_GETSETELEM, family, {{NFTA_SET_ELEM_LIST_TABLE, table}, {NFTA_SET_ELEM_LIST_SET, set}}),
        reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            const auto elements = parse_elements(message);
            if (!elements)
                return fail(elements.error());
            named = named || std::any_of(elements->begin(), elements->end(),
                                         [&](const auto& element) { return names_device(element, device); });
            return {};
        },
        [&] { named = false; });
    return done.map([&] { return named; });
}

Result<bool> chain_names(Socket& socket, std::uint8_t family, const std::string& table, const std::string& chain,
                         const std::string& device)
{
    OutgoingDevices found;
    auto done = socket.dump(
        read_request(NFT_MSG_GETRULE, family, {{NFTA_RULE_TABLE, table}, {NFTA_RULE_CHAIN, chain}}), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            const auto rule = parse_nft_rule(message);
            if (!rule)
                return fail(rule.error());
            // Older kernels filter less than they were asked to.
            if (rule->table != table || rule->chain != chain)
                return {};
            const auto expressions = raw_expressions(rule->expressions);
            if (!expressions)
                return fail(expressions.error());
            look_at(*expressions, device, found);
            return {};
        },
        [&] { found = {}; });
    if (!done)
        return fail(std::move(done.error()));
    for (const std::string& set : found.sets) {
        const auto named = set_names(socket, family, table, set, device);
        if (!named || *named)
            return named;
    }
    return found.named;
}

/// A rule of the table has a `ct` expression.
Result<bool> asks_conntrack(Socket& socket, std::uint8_t family, const std::string& table)
{
    bool asks = false;
    auto done = socket.dump(
        read_request(NFT_MSG_GETRULE, family, {{NFTA_RULE_TABLE, table}}), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            const auto rule = parse_nft_rule(message);
            if (!rule)
                return fail(rule.error());
            if (rule->family != family || rule->table != table)
                return {};
            const auto expressions = raw_expressions(rule->expressions);
            if (!expressions)
                return fail(expressions.error());
            asks = asks || std::any_of(expressions->begin(), expressions->end(),
                                       [](const RawExpression& expression) { return expression.name == "ct"; });
            return {};
        },
        [&] { asks = false; });
    return done.map([&] { return asks; });
}

bool is_ours(const std::vector<TableInKernel>& tables, std::uint8_t family, const std::string& name)
{
    return std::any_of(tables.begin(), tables.end(), [&](const TableInKernel& table) {
        return table.family == family && table.name == name && nft::is_mark(table.comment);
    });
}

/// The base chains of families ip and inet at `hook`, of others.
Result<std::vector<ChainInKernel>> foreign_chains(Socket& socket, std::uint32_t hook)
{
    const auto tables = all_tables(socket);
    if (!tables)
        return fail(tables.error());
    std::vector<ChainInKernel> chains;
    auto done = socket.dump(
        read_request(NFT_MSG_GETCHAIN, NFPROTO_UNSPEC), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            auto chain = parse_chain(message);
            if (!chain)
                return fail(std::move(chain.error()));
            if ((chain->family == NFPROTO_IPV4 || chain->family == NFPROTO_INET) && !chain->type.empty()
                && chain->hook == hook && !is_ours(*tables, chain->family, chain->table))
                chains.push_back(std::move(*chain));
            return {};
        },
        [&] { chains.clear(); });
    return done.map([&] { return std::move(chains); });
}

Result<std::vector<ForeignNatChain>> read_foreign_nat_chains(Socket& socket, const InterfaceName& tunnel)
{
    const auto chains = foreign_chains(socket, NF_INET_POST_ROUTING);
    if (!chains)
        return fail(chains.error());
    std::vector<ForeignNatChain> nat;
    for (const ChainInKernel& chain : *chains) {
        if (chain.type != "nat")
            continue;
        const auto named = chain_names(socket, chain.family, chain.table, chain.name, tunnel.str());
        if (!named)
            return fail(named.error());
        nat.push_back({*family_of(chain.family), chain.table, chain.name, chain.priority, *named});
    }
    return nat;
}

}  // namespace

Result<std::vector<ForeignNatChain>> foreign_nat_chains(Socket& socket, const InterfaceName& tunnel)
{
    return consistently(socket, [&](std::uint32_t) { return read_foreign_nat_chains(socket, tunnel); });
}

Result<std::vector<std::string>> foreign_stateful_input(Socket& socket)
{
    const auto chains = foreign_chains(socket, NF_INET_LOCAL_IN);
    if (!chains)
        return fail(chains.error());
    std::set<std::pair<std::uint8_t, std::string>> tables;
    for (const ChainInKernel& chain : *chains)
        tables.emplace(chain.family, chain.table);
    std::vector<std::string> stateful;
    for (const auto& [family, table] : tables) {
        const auto asks = asks_conntrack(socket, family, table);
        if (!asks)
            return fail(asks.error());
        if (*asks)
            stateful.push_back(fmt::format("{} {}", nft::to_text(*family_of(family)), table));
    }
    std::sort(stateful.begin(), stateful.end());
    return stateful;
}

}  // namespace mape::netlink
