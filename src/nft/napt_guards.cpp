// Guards: what may come out of the tunnel, and what may go into it.
#include "nft/napt_parts.h"

#include <algorithm>

namespace mape::nft {

namespace {

/// `open` by protocol, ranges ascending and merged where they touch: what ServiceMatch asks for.
std::vector<ServiceMatch> services(std::vector<OpenPorts> open)
{
    std::sort(open.begin(), open.end(), [](const OpenPorts& a, const OpenPorts& b) {
        return std::pair(a.protocol, a.ports) < std::pair(b.protocol, b.ports);
    });
    std::vector<ServiceMatch> services;
    for (const OpenPorts& each : open) {
        if (services.empty() || services.back().protocol != each.protocol) {
            services.push_back({each.protocol, {each.ports}});
            continue;
        }
        PortRange& last = services.back().ports.back();
        if (each.ports.first <= last.last + 1U)
            last.last = std::max(last.last, each.ports.last);
        else
            services.back().ports.push_back(each.ports);
    }
    return services;
}

/// The nat hook sees the first packet of a flow: nothing here costs an established one. A new flow must be for our address
/// and, where that is shared, for a port of the set.
Chain new_flows_in(const Napt& napt)
{
    Chain chain{"nat_in",
                Base{Base::Type::nat, Hook::prerouting, priority::dstnat - 1},
                {rule(napt.from_tunnel(Op::ne), accept()),
                 rule(napt.destination_ours(Op::ne), CounterReference{"in_not_ours"}, drop())},
                "first packet of a flow only: established flows pay nothing for any of this"};
    if (!napt.shared()) {
        if (!napt.parameters.all_protocols)
            chain.rules.push_back(
                rule(ProtocolMatch{Op::ne, napt.protocols}, CounterReference{"in_outside_set"}, drop()));
        return chain;
    }
    if (!napt.with_ports.empty())
        chain.rules.push_back(
            rule_with({ProtocolMatch{Op::eq, napt.with_ports}}, napt.in_set(Field::th_dport), accept()));
    if (napt.icmp)
        chain.rules.push_back(
            rule_with({IcmpTypeMatch{{IcmpType::echo_request}}}, napt.in_set(Field::icmp_id), accept()));
    chain.rules.push_back(rule(CounterReference{"in_outside_set"}, drop()));
    return chain;
}

/// Packets for the host itself. An invalid one would be answered with a RST by the host's own TCP, which kills the
/// connection of the client it was meant for. One for an address that is not ours came past nat_in if conntrack does not
/// know it as new; a translated one has an inner address by now.
Chain packets_for_us(const Napt& napt)
{
    Chain chain{"input",
                Base{Base::Type::filter, Hook::input, priority::filter - 5},
                {rule(napt.from_tunnel(Op::ne), accept()),
                 rule(ConntrackStateMatch{ConntrackState::invalid}, CounterReference{"in_invalid"}, drop()),
                 rule(napt.destination_ours(Op::ne),
                      ConntrackStatusMatch{Op::ne, ConntrackStatus::snat | ConntrackStatus::dnat},
                      CounterReference{"in_not_ours"}, drop())},
                "packets for this host: 3 expressions each, more only for those out of the tunnel"};
    if (napt.parameters.inbound_open)
        return chain;

    chain.rules.push_back(rule(ConntrackStateMatch{ConntrackState::established | ConntrackState::related}, accept()));
    chain.rules.push_back(rule(IcmpTypeMatch{{IcmpType::echo_request}}, accept()));
    chain.rules.push_back(rule(ConntrackStatusMatch{Op::eq, ConntrackStatus::dnat}, accept()));
    for (ServiceMatch& service : services(napt.parameters.open))
        chain.rules.push_back(rule(std::move(service), accept()));
    chain.rules.push_back(rule(CounterReference{"in_closed"}, drop()));
    return chain;
}

/// Every packet the host sends or forwards comes through here: ordered so that the common ones leave early.
Chain every_packet(const Napt& napt)
{
    Chain chain{"out",
                Base{Base::Type::filter, Hook::postrouting, priority::srcnat + 1},
                {},
                "every packet: 2 expressions (TCP 5), then into the tunnel 8 to 10, elsewhere 5 to 7"};
    chain.rules.push_back(rule(TcpSynMatch{}, Verdict{Verdict::Kind::jump, "clamp"}));
    // Without the protocol an ICMP type or the SPI of ESP would pass for a port.
    if (!napt.shared())
        chain.rules.push_back(rule(napt.source_ours(Op::eq), accept()));
    else if (!napt.with_ports.empty())
        chain.rules.push_back(rule_with({napt.source_ours(Op::eq), ProtocolMatch{Op::eq, napt.with_ports}},
                                        napt.in_set(Field::th_sport), accept()));
    chain.rules.push_back(rule(napt.to_tunnel(Op::eq), go_to("out_guard")));
    chain.rules.push_back(rule(napt.from_tunnel(Op::ne), accept()));
    // Out of the tunnel into the LAN: replies and forwards are translated flows. Anything else was invalid, untracked or
    // for an address that is not ours.
    chain.rules.push_back(
        rule(ConntrackStatusMatch{Op::eq, ConntrackStatus::snat | ConntrackStatus::dnat}, accept()));
    chain.rules.push_back(rule(CounterReference{"in_not_ours"}, drop()));
    return chain;
}

/// What goes into the tunnel without a port of ours. Nothing is asked of conntrack: what it calls invalid, and flows that
/// are older than the NAT rules, are not translated, and so have a source that is not ours.
Chain rest_into_tunnel(const Napt& napt)
{
    Chain chain{"out_guard",
                {},
                {rule(napt.source_ours(Op::ne), CounterReference{"out_wrong_source"}, drop())},
                "packets into the tunnel without a port of ours: ICMP, and what must not leave"};
    if (!napt.shared())
        return chain;
    if (napt.icmp) {
        chain.rules.push_back(rule_with({IcmpTypeMatch{{IcmpType::echo_reply, IcmpType::echo_request}}},
                                        napt.in_set(Field::icmp_id), accept()));
        chain.rules.push_back(rule(IcmpTypeMatch{{IcmpType::destination_unreachable, IcmpType::time_exceeded,
                                                  IcmpType::parameter_problem}},
                                   accept()));
    }
    chain.rules.push_back(rule(LaterFragmentMatch{}, accept()));
    chain.rules.push_back(rule(ProtocolMatch{Op::ne, napt.protocols}, go_to("other")));
    chain.rules.push_back(rule(CounterReference{"out_outside_set"}, drop()));
    return chain;
}

}  // namespace

void add_inbound_guard(Table& table, const Napt& napt)
{
    table.counters.push_back({"in_invalid", "out of the tunnel for this host, of no connection that is known"});
    table.counters.push_back({"in_not_ours", "out of the tunnel, for an address that is not ours"});
    if (napt.shared() || !napt.parameters.all_protocols)
        table.counters.push_back({"in_outside_set", "out of the tunnel, new, for a port outside the set"});
    if (!napt.parameters.inbound_open)
        table.counters.push_back({"in_closed", "out of the tunnel for this host, neither a reply nor an open port"});
    table.chains.push_back(new_flows_in(napt));
    table.chains.push_back(packets_for_us(napt));
}

void add_outbound_guard(Table& table, const Napt& napt)
{
    table.counters.push_back({"out_wrong_source", "into the tunnel with an address that is not ours: not translated"});
    if (napt.shared())
        table.counters.push_back({"out_outside_set", "into the tunnel with our address and a port outside the set"});
    table.chains.push_back(rest_into_tunnel(napt));
    table.chains.push_back(every_packet(napt));
}

Table ipv6_guard(const Napt& napt)
{
    constexpr std::uint8_t ipv6_in_ipv6 = 41;
    const NaptParameters& parameters = napt.parameters;
    Table table{{Family::ip6, table_name(parameters.tunnel)}};
    table.counters.push_back({"in_ipv6", "IPv6 packets from the border relay in the tunnel, which is for IPv4"});
    table.chains.push_back({"dropped", {}, log_count_drop(napt, "IPv6 in the tunnel", "in_ipv6")});
    // The header's compare first: it is false for all but tunnels.
    table.chains.push_back(
        {"input",
         Base{Base::Type::filter, Hook::input, priority::filter},
         {rule(NextHeaderMatch{ipv6_in_ipv6}, Ip6SourceMatch{*parameters.br},
               InterfaceMatch{InterfaceMatch::Direction::in, Op::eq, *parameters.wan}, go_to("dropped"))},
         "IPv6 packets for this host, tunnelled ones included: 2 expressions each"});
    return table;
}

}  // namespace mape::nft
