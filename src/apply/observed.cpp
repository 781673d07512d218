#include "apply/observed.h"

#include "netlink/socket.h"
#include "nft/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/netlink.h>

namespace mape {

namespace {

/// One dump of all tables of ours, each line with its table's name in it.
Result<std::vector<std::string>> dump_tables(netlink::Socket& socket, const std::vector<nft::TableName>& tables)
{
    std::vector<std::string> lines;
    for (const nft::TableName& table : tables) {
        auto dump = netlink::dump_table(socket, table);
        if (!dump)
            return fail(std::move(dump.error()));
        lines.insert(lines.end(), std::make_move_iterator(dump->begin()), std::make_move_iterator(dump->end()));
    }
    return lines;
}

/// Lines of one that the other has not, both sorted, however often each stands.
void tell_differences(std::vector<std::string> loaded, std::vector<std::string> present, std::vector<std::string>& changed)
{
    if (loaded == present)
        return;
    std::sort(loaded.begin(), loaded.end());
    std::sort(present.begin(), present.end());
    std::vector<std::string> lines;
    std::set_difference(loaded.begin(), loaded.end(), present.begin(), present.end(), std::back_inserter(lines));
    for (const std::string& line : lines)
        changed.push_back("missing: " + line);
    lines.clear();
    std::set_difference(present.begin(), present.end(), loaded.begin(), loaded.end(), std::back_inserter(lines));
    for (const std::string& line : lines)
        changed.push_back("not ours: " + line);
    if (changed.empty())
        changed.push_back("the rules are in another order");
}

RulesetState blind(const Error& error)
{
    RulesetState state;
    state.why = to_text(error);
    return state;
}

RulesetState observe_ruleset(netlink::Socket& socket, const InterfaceName& tunnel,
                             const std::optional<RulesetMemory>& memory)
{
    auto named = netlink::tables_named_after(socket, tunnel);
    if (!named)
        return blind(named.error());
    auto ours = netlink::our_tables(socket, tunnel);
    if (!ours)
        return blind(ours.error());

    RulesetState state;
    using Presence = RulesetState::Presence;
    state.presence = ours->size() < named->size() ? Presence::foreign : ours->empty() ? Presence::absent : Presence::ours;
    if (memory)
        state.loaded = memory->content;
    if (state.presence != Presence::ours)
        return state;
    if (!memory) {
        state.changed.push_back("the state directory does not know what was loaded");
        return state;
    }
    auto present = dump_tables(socket, *ours);
    if (!present)
        return blind(present.error());
    state.mark = memory->content.mark;
    tell_differences(memory->dump, std::move(*present), state.changed);
    return state;
}

}  // namespace

Result<Observed> observe(const InterfaceName& tunnel, const std::vector<std::string>& sysctl_keys,
                         const std::optional<RulesetMemory>& memory, const Sysctl& sysctl)
{
    Observed observed;
    auto route = netlink::Socket::open(NETLINK_ROUTE);
    if (!route)
        return fail(std::move(route.error()));
    auto network = netlink::NetworkState::read(*route);
    if (!network)
        return fail(std::move(network.error()));
    observed.network = std::move(*network);

    auto netfilter = netlink::Socket::open(NETLINK_NETFILTER);
    if (!netfilter) {
        observed.ruleset = blind(netfilter.error());
    } else {
        observed.ruleset = observe_ruleset(*netfilter, tunnel, memory);
        if (auto foreign = netlink::foreign_nat_chains(*netfilter, tunnel))
            observed.foreign_nat = std::move(*foreign);
        if (auto stateful = netlink::foreign_stateful_input(*netfilter))
            observed.stateful_input = std::move(*stateful);
    }

    observed.forwarding = sysctl.read("net/ipv4/ip_forward").value_or(std::string());
    for (const std::string& key : sysctl_keys)
        if (auto value = sysctl.read(key))
            observed.values[key] = std::move(*value);
    return observed;
}

Result<std::vector<std::string>> dump_ruleset(const InterfaceName& tunnel)
{
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return fail(std::move(socket.error()));
    auto ours = netlink::our_tables(*socket, tunnel);
    if (!ours)
        return fail(std::move(ours.error()));
    return dump_tables(*socket, *ours);
}

}  // namespace mape
