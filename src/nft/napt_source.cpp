// Source NAT over the port set.
//
// A flow gets the next piece of the set in turn. With one turn for all, other traffic advances it and one busy destination
// meets full pieces while others are free: 668-813 of 1008 ports to one destination before the first refusal. With a turn
// of its own for each 1/64 of the destinations it is 985 and more, for 400 instructions on the first packet of a flow.
// A piece that reservation has cut gets a smaller share: unweighted, its flows are refused first.
//
// nft 1.0.6 cannot say this with one map of address and ports that 64 rules share: it lists such a map as "type 0", which
// it does not load, and crashes on a map in a define. So a piece is a chain, and the map that is shared is one of verdicts.
#include "nft/napt_parts.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace mape::nft {

namespace {

/// More pieces than this (a >= 11, or single ports reserved one by one) become elements of one anonymous map instead of
/// chains: a chain with its set of protocols is 0.5 KB of kernel memory and three messages.
constexpr std::size_t most_chains = 1024;

/// Buckets of destinations. The kernel walks bucket times piece each time it validates the ruleset (1023 pieces: 0.1 s), and
/// a limit of 65536 jumps a network namespace is on its way (sysctl nf_tables_jumps_max_netns): many pieces get fewer.
constexpr std::uint32_t buckets_for(std::size_t pieces)
{
    return pieces <= 512 ? 64 : 32;
}

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
    [[nodiscard]] std::uint32_t total() const { return next_; }

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

Rule to_piece(const Napt& napt, PortRange piece)
{
    const Ipv4Address address = napt.parameters.ipv4.address;
    return rule(ProtocolMatch{Op::eq, napt.protocols}, SourceNat{address, address, piece});
}

Rule to_any_of(const Napt& napt, const std::vector<PortRange>& pieces)
{
    SourceNatMap map{napt.parameters.ipv4.address, {}};
    map.elements.reserve(pieces.size());
    Shares shares(common_size(pieces));
    for (const PortRange piece : pieces) {
        const auto [first, last] = shares.next(piece.size());
        map.elements.push_back({first, last, piece});
    }
    return rule(ProtocolMatch{Op::eq, napt.protocols}, std::move(map));
}

/// A chain a piece, and one turn for each bucket of destinations.
void add_chains(Table& table, Chain& nat_out, const Napt& napt)
{
    VerdictMap pick{"pick", {}, "the pieces of the port set by turn, a share of its size each; numgen is typed as meta cpu"};
    Shares shares(common_size(napt.pieces));
    for (std::size_t i = 0; i < napt.pieces.size(); ++i) {
        const auto [first, last] = shares.next(napt.pieces[i].size());
        pick.elements.push_back({first, last, fmt::format("r{}", i)});
        table.chains.push_back({fmt::format("r{}", i), {}, {to_piece(napt, napt.pieces[i])}});
    }

    const std::uint32_t buckets = buckets_for(napt.pieces.size());
    VerdictMap bucket{"bucket", {}, "a turn for each share of the destinations; jhash is typed as meta cpu"};
    for (std::uint32_t i = 0; i < buckets; ++i) {
        bucket.elements.push_back({i, i, fmt::format("b{}", i)});
        table.chains.push_back({fmt::format("b{}", i), {}, {rule(NumgenVmap{shares.total(), pick.name})}});
    }

    if (napt.icmp && !napt.with_ports.empty())
        nat_out.rules.push_back(rule(ProtocolMatch{Op::eq, {Protocol::icmp}}, HashVmap{false, buckets, bucket.name}));
    nat_out.rules.push_back(rule(HashVmap{!napt.with_ports.empty(), buckets, bucket.name}));
    table.maps.push_back(std::move(pick));
    table.maps.push_back(std::move(bucket));
}

/// One rule over one map. Single ports beside ranges, which one map cannot hold (see SourceNatMap), get a map of their own
/// and the share they have of all ports.
void add_map(Table& table, Chain& nat_out, const Napt& napt)
{
    std::vector<PortRange> ranges;
    std::vector<PortRange> singles;
    for (const PortRange piece : napt.pieces)
        (piece.size() == 1 ? singles : ranges).push_back(piece);
    if (ranges.empty() || singles.empty()) {
        nat_out.rules.push_back(to_any_of(napt, napt.pieces));
        return;
    }
    const auto ports = [](const std::vector<PortRange>& pieces) {
        std::uint32_t sum = 0;
        for (const PortRange piece : pieces)
            sum += piece.size();
        return sum;
    };
    const std::uint32_t unit = std::gcd(ports(ranges), ports(singles));
    Shares shares(unit);
    VerdictMap pick{"pick", {}, "pieces of several ports and of one, by turn, each kind with a share of its size"};
    const auto add = [&](const char* name, const std::vector<PortRange>& pieces) {
        const auto [first, last] = shares.next(ports(pieces));
        pick.elements.push_back({first, last, name});
        table.chains.push_back({name, {}, {to_any_of(napt, pieces)}});
    };
    add("ranges", ranges);
    add("singles", singles);
    nat_out.rules.push_back(rule(NumgenVmap{shares.total(), pick.name}));
    table.maps.push_back(std::move(pick));
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

    if (!parameters.all_protocols) {
        table.counters.push_back({"other_protocol", "into the tunnel, of a protocol that is not translated"});
        table.chains.push_back({"other", {}, log_count_drop(napt, "other protocol", "other_protocol"),
                                "dropped on the way into the tunnel: each packet of a protocol that is not translated"});
        nat_out.rules.push_back(rule(ProtocolMatch{Op::ne, napt.protocols}, go_to("other")));
    }

    const Ipv4Prefix& ipv4 = parameters.ipv4;
    const SourceNat whole_address{ipv4.address, ipv4.last()};
    if (napt.pieces.empty()) {
        nat_out.rules.push_back(rule(whole_address));
    } else {
        if (parameters.all_protocols)
            nat_out.rules.push_back(rule(ProtocolMatch{Op::ne, napt.protocols}, whole_address));
        if (napt.pieces.size() == 1)
            nat_out.rules.push_back(to_piece(napt, napt.pieces.front()));
        else if (napt.pieces.size() <= most_chains)
            add_chains(table, nat_out, napt);
        else
            add_map(table, nat_out, napt);
    }
    table.chains.push_back(std::move(nat_out));
}

}  // namespace mape::nft
