#include "apply/observed.h"

#include "netlink/socket.h"
#include "nft/napt.h"
#include "nft/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <span>

namespace mape {

namespace {

/// Every family that a table of a ruleset may be in.
std::vector<nft::TableName> possible_tables(const InterfaceName& tunnel)
{
    const std::string name = table_name(tunnel);
    return {{nft::Family::ip, name}, {nft::Family::ip6, name}, {nft::Family::netdev, name}};
}

Result<std::vector<std::string>> all_lines(const InterfaceName& tunnel, std::span<const std::byte> messages)
{
    std::vector<std::string> lines;
    for (const nft::TableName& table : possible_tables(tunnel)) {
        auto part = netlink::lines_of(table, messages);
        if (!part)
            return part;
        lines.insert(lines.end(), std::make_move_iterator(part->begin()), std::make_move_iterator(part->end()));
    }
    return lines;
}

Result<std::vector<std::string>> loaded_lines(const InterfaceName& tunnel, const RulesetMemory& memory)
{
    std::vector<std::byte> messages = memory.dump;
    for (const nft::TableName& table : possible_tables(tunnel)) {
        const auto constant = netlink::constant_elements(table, *memory.content.batch);
        if (!constant)
            return fail(constant.error());
        messages.insert(messages.end(), constant->begin(), constant->end());
    }
    return all_lines(tunnel, messages);
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

/// What differs between the load and now. The generation tells cheaply that nothing does, the messages nearly as cheaply; words
/// are made where both say that something may.
Result<void> compare(netlink::Socket& socket, const InterfaceName& tunnel, const RulesetMemory& memory, RulesetState& state)
{
    auto generation = netlink::ruleset_generation(socket);
    if (!generation)
        return fail(std::move(generation.error()));
    if (*generation == memory.generation)
        return {};
    using netlink::Elements;
    auto present = netlink::read_tables(socket, possible_tables(tunnel), Elements::of_changeable_sets);
    if (!present)
        return fail(std::move(present.error()));
    if (present->messages == memory.dump)
        return {};
    present = netlink::read_tables(socket, possible_tables(tunnel), Elements::all);
    if (!present)
        return fail(std::move(present.error()));
    auto now = all_lines(tunnel, present->messages);
    if (!now)
        return fail(std::move(now.error()));
    auto loaded = loaded_lines(tunnel, memory);
    if (!loaded)
        state.changed.push_back("what the state directory remembers of it is damaged");
    else
        tell_differences(std::move(*loaded), std::move(*now), state.changed);
    return {};
}

RulesetState observe_ruleset(netlink::Socket& socket, const InterfaceName& tunnel,
                             const std::optional<RulesetMemory>& memory)
{
    auto named = netlink::tables_named_after(socket, tunnel);
    if (!named)
        return blind(named.error());

    RulesetState state;
    using Presence = RulesetState::Presence;
    state.presence = Presence::absent;
    for (const netlink::NamedTable& table : *named) {
        if (!nft::is_mark(table.comment))
            state.presence = Presence::foreign;
        else if (table.name.family == nft::Family::inet)
            state.egress_shut = true;
        else if (state.presence == Presence::absent)
            state.presence = Presence::ours;
    }
    if (memory)
        state.translation = memory->translation;
    if (state.presence != Presence::ours)
        return state;
    if (!memory) {
        state.changed.push_back("the state directory does not know what was loaded");
        return state;
    }
    state.mark = memory->content.mark;
    if (auto compared = compare(socket, tunnel, *memory, state); !compared)
        return blind(compared.error());
    return state;
}

}  // namespace

Observed observe(netlink::NetworkState network, const InterfaceName& tunnel, const std::vector<std::string>& sysctl_keys,
                 std::optional<RulesetMemory> memory, const Sysctl& sysctl)
{
    Observed observed;
    observed.network = std::move(network);
    auto netfilter = netlink::Socket::open(NETLINK_NETFILTER);
    if (!netfilter) {
        observed.ruleset = blind(netfilter.error());
    } else {
        observed.ruleset = observe_ruleset(*netfilter, tunnel, memory);
        if (memory && observed.ruleset.presence != RulesetState::Presence::unknown)
            observed.ruleset.loaded = std::move(memory->content);
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

Result<netlink::RawTables> dump_ruleset(const InterfaceName& tunnel)
{
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return fail(std::move(socket.error()));
    return netlink::read_tables(*socket, possible_tables(tunnel), netlink::Elements::of_changeable_sets);
}

}  // namespace mape
