// Source NAT over the port set.
//
// A flow gets the next piece of the set in turn. With one turn for all, other traffic advances it and one busy destination
// meets full pieces while others are free: 668-813 of 1008 ports to one destination before the first refusal. With a turn
// of its own for each 1/64 of the destinations it is 985 and more.
// A piece that reservation has cut gets a smaller share: unweighted, its flows are refused first.
//
// Each turn has the map of pieces in full. One map that all share would be a named one, and nft 1.0.6 lists that as "type 0",
// which it does not load: it drops the types of key and data where the data are ranges (the length of a range is not that of
// its typeof), and numgen has no type but by typeof. Chains of one piece each, to which a shared map of verdicts leads, take
// half the time to load and cost 370 instructions more on the first packet of a flow.
#include "nft/napt_parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace mape::nft {

namespace {

constexpr std::size_t most_turns = 64;

/// Elements of all maps together: 5 us and 100 bytes of kernel memory each.
constexpr std::size_t most_elements = 16384;

/// Keys for elements of these sizes: each gets as many as its size, over the greatest common divisor of all.
class Shares {
public:
    explicit Shares(std::uint32_t unit) : unit_(unit) {}
    std::pair<std::uint32_t, std::uint32_t> next(std::uint32_t size)
    {
        const std::uint32_t first = next_;
        next_ += size / unit_;
        return {first, next_ - 1};
    }

private:
    std::uint32_t unit_;
    std::uint32_t next_ = 0;
};

std::uint32_t common_size(const std::vector<PortRange>& pieces)
{
    std::uint32_t unit = 0;
    for (const PortRange piece : pieces)
        unit = std::gcd(unit, piece.size());
    return unit;
}

std::uint32_t ports_of(const std::vector<PortRange>& pieces)
{
    return std::accumulate(pieces.begin(), pieces.end(), std::uint32_t{0},
                           [](std::uint32_t sum, PortRange piece) { return sum + piece.size(); });
}

/// `pieces`: not empty.
Rule to_any_of(const Napt& napt, const std::vector<PortRange>& pieces)
{
    const Ipv4Address address = napt.parameters.ipv4.address;
    if (pieces.size() == 1)
        return rule(ProtocolMatch{Op::eq, napt.protocols}, SourceNat{address, address, pieces.front()});
    SourceNatMap map{address, {}};
    map.elements.reserve(pieces.size());
    Shares shares(common_size(pieces));
    for (const PortRange piece : pieces) {
        const auto [first, last] = shares.next(piece.size());
        map.elements.push_back({first, last, piece});
    }
    return rule(ProtocolMatch{Op::eq, napt.protocols}, std::move(map));
}

/// The rules of one turn. Single ports beside ranges, which one map cannot hold (see SourceNatMap), get a chain of their own
/// and the share they have of all ports.
std::vector<Rule> turn_rules(Table& table, const Napt& napt)
{
    std::vector<PortRange> ranges;
    std::vector<PortRange> singles;
    for (const PortRange piece : napt.pieces)
        (piece.size() == 1 ? singles : ranges).push_back(piece);
    if (ranges.empty() || singles.empty())
        return {to_any_of(napt, napt.pieces)};
    const std::uint32_t unit = std::gcd(ports_of(ranges), ports_of(singles));
    const std::uint32_t share = ports_of(singles) / unit;
    table.chains.push_back({"singles", {}, {to_any_of(napt, singles)}, "pieces of one port"});
    table.maps.push_back({"single", {{0, share - 1, "singles"}}, "the share of single ports; numgen is typed as meta cpu"});
    return {rule(NumgenVmap{ports_of(napt.pieces) / unit, "single"}), to_any_of(napt, ranges)};
}

void add_turns(Table& table, Chain& nat_out, const Napt& napt)
{
    const std::vector<Rule> rules = turn_rules(table, napt);
    const auto turns = static_cast<std::uint32_t>(std::min(most_turns, most_elements / napt.pieces.size()));
    if (turns <= 1 || napt.pieces.size() == 1) {
        nat_out.rules.insert(nat_out.rules.end(), rules.begin(), rules.end());
        return;
    }
    VerdictMap turn{"turn", {}, "a turn for each share of the destinations; jhash is typed as meta cpu"};
    for (std::uint32_t i = 0; i < turns; ++i) {
        turn.elements.push_back({i, i, fmt::format("turn{}", i)});
        table.chains.push_back({turn.elements.back().chain, {}, rules});
    }
    // An ICMP query has no port that its flow keeps.
    if (napt.icmp && !napt.with_ports.empty())
        nat_out.rules.push_back(rule(ProtocolMatch{Op::eq, {Protocol::icmp}}, HashVmap{false, turns, turn.name}));
    nat_out.rules.push_back(rule(HashVmap{!napt.with_ports.empty(), turns, turn.name}));
    table.maps.push_back(std::move(turn));
}

}  // namespace

void add_source_nat(Table& table, const Napt& napt)
{
    const NaptParameters& parameters = napt.parameters;
    // Of two nat chains at one priority the one loaded last comes first: before those of others, whenever they come.
    Chain nat_out{"nat_out",
                  Base{Base::Type::nat, Hook::postrouting, priority::srcnat - 1},
                  {rule(napt.to_tunnel(Op::ne), accept())},
                  "first packet of a flow only: established flows pay nothing for any of this"};

    const Ipv4Prefix& ipv4 = parameters.ipv4;
    const SourceNat whole_address{ipv4.address, ipv4.last()};
    if (!napt.pieces.empty())
        add_turns(table, nat_out, napt);
    else if (!parameters.all_protocols)
        nat_out.rules.push_back(rule(ProtocolMatch{Op::eq, napt.protocols}, whole_address));

    // Asked last: nearly every flow has been translated by now.
    if (parameters.all_protocols) {
        nat_out.rules.push_back(rule(whole_address));
    } else {
        table.counters.push_back({"other_protocol", "into the tunnel, of a protocol that is not translated"});
        table.chains.push_back({"other", {}, log_count_drop(napt, "other protocol", "other_protocol"),
                                "dropped on the way into the tunnel: each packet of a protocol that is not translated"});
        nat_out.rules.push_back(rule(go_to("other")));
    }
    table.chains.push_back(std::move(nat_out));
}

}  // namespace mape::nft
