// What the parts of the NAPT ruleset share: not for others.
#pragma once

#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "nft/napt.h"
#include "nft/ruleset.h"

namespace mape::nft {

/// The parameters, checked, with what every part asks of them.
struct Napt {
    const NaptParameters& parameters;
    std::vector<Protocol> protocols;   ///< ascending, each once
    std::vector<Protocol> with_ports;  ///< those without icmp
    bool icmp = false;                 ///< icmp is one of them
    std::vector<PortRange> pieces;     ///< what source NAT hands out; empty: the address alone, any port

    [[nodiscard]] bool shared() const { return parameters.ports.shared(); }

    [[nodiscard]] InterfaceMatch from_tunnel(Op op) const
    {
        return {InterfaceMatch::Direction::in, op, parameters.tunnel};
    }
    [[nodiscard]] InterfaceMatch to_tunnel(Op op) const
    {
        return {InterfaceMatch::Direction::out, op, parameters.tunnel};
    }
    [[nodiscard]] AddressMatch source_ours(Op op) const { return {AddressMatch::Side::source, op, parameters.ipv4}; }
    [[nodiscard]] AddressMatch destination_ours(Op op) const
    {
        return {AddressMatch::Side::destination, op, parameters.ipv4};
    }

    /// The port set as one mask compare, and one for the ports below its first block where there are such.
    [[nodiscard]] std::vector<Statement> in_set(Field field) const
    {
        const PortSet& set = parameters.ports;
        std::vector<Statement> statements{BitsMatch{field, set.mask(), set.value()}};
        if (set.minimum() > 0)
            statements.emplace_back(MinimumMatch{field, set.minimum()});
        return statements;
    }
};

inline Verdict accept() { return {Verdict::Kind::accept}; }
inline Verdict drop() { return {Verdict::Kind::drop}; }
inline Verdict go_to(std::string chain) { return {Verdict::Kind::go_to, std::move(chain)}; }

template <class... S>
Rule rule(S... statements)
{
    Rule made;
    made.statements.reserve(sizeof...(statements));
    (made.statements.emplace_back(std::move(statements)), ...);
    return made;
}

/// Matches `before`, then `between`, then `verdict`.
inline Rule rule_with(std::initializer_list<Statement> before, std::vector<Statement> between, Statement verdict)
{
    Rule made{before};
    made.statements.insert(made.statements.end(), std::make_move_iterator(between.begin()),
                           std::make_move_iterator(between.end()));
    made.statements.push_back(std::move(verdict));
    return made;
}

/// Rules that log at the configured rate under "TUNNEL WHAT: ", count and drop.
[[nodiscard]] std::vector<Rule> log_count_drop(const Napt& napt, const std::string& what, const std::string& counter);

// Each part adds its chains, maps and counters to a table.
void add_source_nat(Table& table, const Napt& napt);
void add_inbound_guard(Table& table, const Napt& napt);
void add_outbound_guard(Table& table, const Napt& napt);  ///< calls the chain of add_mss_clamp for TCP SYNs
void add_mss_clamp(Table& table, const Napt& napt);
void add_lan_notrack(Table& table, const Napt& napt);

/// Table ip6: counts and drops IPv6 packets that the BR sends through the tunnel. wan and br are known.
[[nodiscard]] Table ipv6_guard(const Napt& napt);

}  // namespace mape::nft
