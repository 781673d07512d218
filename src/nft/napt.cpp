#include "nft/napt.h"

#include <algorithm>

#include <fmt/format.h>

#include "nft/napt_parts.h"
#include "nft/text.h"

namespace mape {

namespace {

using nft::Protocol;

constexpr unsigned smallest_mtu = 68;  // RFC 791 3.2
constexpr unsigned largest_mtu = 65535;

/// nft's text has no way to write such a name: its scanner's "string" is letters, digits and / - _ .
constexpr std::string_view unspeakable = ":@+";

Result<void> check(const NaptParameters& parameters)
{
    const PortSet& ports = parameters.ports;
    if (parameters.tunnel.str().find_first_of(unspeakable) != std::string::npos)
        return fail(input_error(fmt::format("tunnel name \"{}\": a table cannot be named after it, because nft has no way "
                                            "to write one of \"{}\" in a name",
                                            parameters.tunnel.str(), unspeakable)));
    if (parameters.tunnel_mtu < smallest_mtu || parameters.tunnel_mtu > largest_mtu)
        return fail(input_error(
            fmt::format("tunnel MTU {}: {} to {} is allowed", parameters.tunnel_mtu, smallest_mtu, largest_mtu)));
    if (parameters.ipv4.length == 0)
        return fail(input_error("0.0.0.0/0 is no address of a customer edge"));
    if (parameters.ipv4.length < 32 && ports.shared())
        return fail(input_error(fmt::format("{} is a prefix: only an address of its own can be shared by ports",
                                            to_text(parameters.ipv4))));
    if (parameters.ipv4.length < 32 && !parameters.reserved.empty())
        return fail(input_error(fmt::format("ports of a prefix ({}) cannot be reserved", to_text(parameters.ipv4))));
    if (parameters.all_protocols && ports.shared())
        return fail(input_error("protocols all: only where the address is not shared; a protocol without ports has no "
                                "place in a port set"));
    if (!parameters.all_protocols && parameters.protocols.empty())
        return fail(input_error("no protocol is left to translate"));
    for (const LanNotrack& pair : parameters.lan_notrack)
        if (pair.lan.length == 0)
            return fail(input_error("lan-notrack: 0.0.0.0/0 is not a LAN"));
    for (const OpenPorts& open : parameters.open) {
        if (open.protocol == Protocol::icmp)
            return fail(input_error("icmp has no ports to open; echo requests are always answered"));
        if (!ports.shared())
            continue;
        for (std::uint32_t port = open.ports.first; port <= open.ports.last; ++port)
            if (!ports.contains(static_cast<std::uint16_t>(port)))
                return fail(input_error(fmt::format("open {} {}: port {} is not in the port set, so no packet for it comes",
                                                    nft::to_text(open.protocol), to_text(open.ports), port)));
    }
    return {};
}

/// The parts of `ranges` (ascending, disjoint) that none of `taken` (in any order) touches, in one pass over both.
std::vector<PortRange> without(const std::vector<PortRange>& ranges, std::vector<PortRange> taken)
{
    std::sort(taken.begin(), taken.end());
    std::vector<PortRange> left;
    left.reserve(ranges.size() + taken.size());
    auto next = taken.begin();
    for (const PortRange range : ranges) {
        std::uint32_t first = range.first;
        for (; next != taken.end() && next->first <= range.last; ++next) {
            if (next->first > first)
                left.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(next->first - 1)});
            first = std::max(first, next->last + std::uint32_t{1});
            // It may reach into the next range.
            if (next->last > range.last)
                break;
        }
        if (first <= range.last)
            left.push_back({static_cast<std::uint16_t>(first), range.last});
    }
    return left;
}

}  // namespace

std::string table_name(const InterfaceName& tunnel)
{
    return "mape_" + tunnel.str();
}

std::vector<PortRange> source_ports(const PortSet& set, const std::vector<PortRange>& reserved)
{
    // More tries than this the kernel does not make in one range.
    constexpr std::uint32_t longest = 128;

    std::vector<PortRange> taken = reserved;
    taken.push_back({0, 0});  // port 0 means "none" to most hosts
    const std::vector<PortRange> ranges = without(set.ranges(), std::move(taken));

    std::vector<PortRange> pieces;
    for (const PortRange range : ranges) {
        const std::uint32_t count = (range.size() + longest - 1) / longest;
        // As even as can be: pieces of one size need no weights.
        std::uint32_t first = range.first;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t size = (range.last - first + 1U) / (count - i);
            pieces.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(first + size - 1)});
            first += size;
        }
    }
    return pieces;
}

Result<nft::Ruleset> napt_ruleset(const NaptParameters& parameters)
{
    if (auto checked = check(parameters); !checked)
        return fail(checked.error());

    nft::Napt napt{parameters, parameters.protocols, {}, false, {}};
    std::sort(napt.protocols.begin(), napt.protocols.end());
    napt.protocols.erase(std::unique(napt.protocols.begin(), napt.protocols.end()), napt.protocols.end());
    for (const Protocol protocol : napt.protocols)
        if (protocol == Protocol::icmp)
            napt.icmp = true;
        else
            napt.with_ports.push_back(protocol);
    if (parameters.ports.shared() || !parameters.reserved.empty()) {
        napt.pieces = source_ports(parameters.ports, parameters.reserved);
        if (napt.pieces.empty())
            return fail(input_error("no port is left for source NAT", "reserve fewer"));
    }

    nft::Ruleset ruleset;
    nft::Table& table = ruleset.tables.emplace_back(nft::Table{{nft::Family::ip, table_name(parameters.tunnel)}});
    nft::add_source_nat(table, napt);
    nft::add_inbound_guard(table, napt);
    nft::add_mss_clamp(table, napt);
    nft::add_outbound_guard(table, napt);
    nft::add_lan_notrack(table, napt);
    if (parameters.wan && parameters.br)
        ruleset.tables.push_back(nft::ipv6_guard(napt));

    const std::string mark = nft::mark(ruleset, parameters.version);
    for (nft::Table& each : ruleset.tables)
        each.comment = mark;
    return ruleset;
}

nft::Ruleset shut_egress(const InterfaceName& tunnel)
{
    using namespace nft;
    Chain chain{.name = "shut", .base = Base{Base::Type::filter, Hook::postrouting, priority::filter}};
    chain.rules.push_back(rule(InterfaceMatch{InterfaceMatch::Direction::out, Op::eq, tunnel}, drop()));
    Ruleset ruleset;
    Table& table = ruleset.tables.emplace_back();
    table.name = {Family::inet, table_name(tunnel)};
    table.chains.push_back(std::move(chain));
    table.comment = mark(ruleset, "shut");
    return ruleset;
}

namespace nft {

std::vector<Rule> log_count_drop(const Napt& napt, const std::string& what, const std::string& counter)
{
    std::vector<Rule> rules;
    if (napt.parameters.log_rate)
        rules.push_back(rule(*napt.parameters.log_rate, Log{napt.parameters.tunnel.str() + " " + what + ": "}));
    rules.push_back(rule(CounterReference{counter}, drop()));
    return rules;
}

}  // namespace nft
}  // namespace mape
