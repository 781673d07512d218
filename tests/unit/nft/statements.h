// Every kind of statement: as value, as text, as the expressions nft 1.0.6 compiles that text to.
//
// Expressions are written as they are on the wire: name and attributes, "N=..." with 32-bit numbers in decimal, everything
// else in hexadecimal (linux/netfilter/nf_tables.h has the attributes). "SET" stands for an anonymous set; its id is left out.
#pragma once

#include <string>
#include <vector>

#include "nft/ruleset.h"

namespace statement_samples {

struct Sample {
    std::vector<mape::nft::Statement> statements;
    std::string text;
    std::string bytecode;
};

inline std::vector<Sample> all()
{
    using namespace mape;
    using namespace mape::nft;
    const InterfaceName mape0 = *InterfaceName::parse("mape0");
    const Ipv4Address a = *Ipv4Address::parse("192.0.2.1");
    const auto prefix = [](const char* text) { return *Ipv4Prefix::parse(text); };
    using Direction = InterfaceMatch::Direction;
    using Side = AddressMatch::Side;
    return {
        {{InterfaceMatch{Direction::in, Op::eq, mape0}},
         R"(iifname "mape0")",
         "meta 2=6 1=1; cmp 1=1 2=0 3=(1=6d617065300000000000000000000000)"},
        {{InterfaceMatch{Direction::out, Op::ne, mape0}},
         R"(oifname != "mape0")",
         "meta 2=7 1=1; cmp 1=1 2=1 3=(1=6d617065300000000000000000000000)"},
        {{ProtocolMatch{Op::eq, {Protocol::tcp}}},
         "meta l4proto tcp",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=06)"},
        {{ProtocolMatch{Op::ne, {Protocol::icmp}}},
         "meta l4proto != icmp",
         "meta 2=16 1=1; cmp 1=1 2=1 3=(1=01)"},
        {{ProtocolMatch{Op::eq, {Protocol::icmp, Protocol::tcp, Protocol::udp, Protocol::dccp, Protocol::sctp, Protocol::udplite}}},
         "meta l4proto { icmp, tcp, udp, dccp, sctp, udplite }",
         "meta 2=16 1=1; lookup 2=1 1=SET"},
        {{ProtocolMatch{Op::ne, {Protocol::tcp, Protocol::udp}}},
         "meta l4proto != { tcp, udp }",
         "meta 2=16 1=1; lookup 2=1 1=SET 5=1"},
        {{AddressMatch{Side::source, Op::eq, prefix("192.0.2.1")}},
         "ip saddr 192.0.2.1",
         "payload 1=1 2=1 3=12 4=4; cmp 1=1 2=0 3=(1=c0000201)"},
        {{AddressMatch{Side::destination, Op::ne, prefix("192.0.2.1")}},
         "ip daddr != 192.0.2.1",
         "payload 1=1 2=1 3=16 4=4; cmp 1=1 2=1 3=(1=c0000201)"},
        {{AddressMatch{Side::source, Op::eq, prefix("192.168.1.0/24")}},
         "ip saddr 192.168.1.0/24",
         "payload 1=1 2=1 3=12 4=3; cmp 1=1 2=0 3=(1=c0a801)"},
        {{AddressMatch{Side::destination, Op::ne, prefix("192.0.2.16/28")}},
         "ip daddr != 192.0.2.16/28",
         "payload 1=1 2=1 3=16 4=4; bitwise 1=1 2=1 3=4 4=(1=fffffff0) 5=(1=00000000); cmp 1=1 2=1 3=(1=c0000210)"},
        {{NextHeaderMatch{41}},
         "ip6 nexthdr 41",
         "payload 1=1 2=1 3=6 4=1; cmp 1=1 2=0 3=(1=29)"},
        {{Ip6SourceMatch{*Ipv6Address::parse("2001:380:a120::9")}},
         "ip6 saddr 2001:380:a120::9",
         "payload 1=1 2=1 3=8 4=16; cmp 1=1 2=0 3=(1=20010380a12000000000000000000009)"},
        {{BitsMatch{Field::th_sport, 0x03f0, 0x02c0}},
         "th sport & 0x03f0 == 0x02c0",
         "payload 1=1 2=2 3=0 4=2; bitwise 1=1 2=1 3=2 4=(1=03f0) 5=(1=0000); cmp 1=1 2=0 3=(1=02c0)"},
        {{BitsMatch{Field::th_dport, 0xffff, 4711}},
         "th dport 4711",
         "payload 1=1 2=2 3=2 4=2; cmp 1=1 2=0 3=(1=1267)"},
        {{BitsMatch{Field::icmp_id, 0xc000, 0}},
         "icmp id & 0xc000 == 0x0000",
         "payload 1=1 2=2 3=4 4=2; bitwise 1=1 2=1 3=2 4=(1=c000) 5=(1=0000); cmp 1=1 2=0 3=(1=0000)"},
        {{MinimumMatch{Field::th_sport, 1024}},
         "th sport >= 1024",
         "payload 1=1 2=2 3=0 4=2; cmp 1=1 2=5 3=(1=0400)"},
        {{MinimumMatch{Field::icmp_id, 4096}},
         "icmp id >= 4096",
         "payload 1=1 2=2 3=4 4=2; cmp 1=1 2=5 3=(1=1000)"},
        {{ServiceMatch{Protocol::tcp, {{22, 22}}}},
         "tcp dport 22",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=06); payload 1=1 2=2 3=2 4=2; cmp 1=1 2=0 3=(1=0016)"},
        {{ServiceMatch{Protocol::udp, {{100, 200}}}},
         "udp dport 100-200",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=11); payload 1=1 2=2 3=2 4=2; cmp 1=1 2=5 3=(1=0064); "
         "cmp 1=1 2=3 3=(1=00c8)"},
        {{ServiceMatch{Protocol::sctp, {{22, 22}, {80, 80}}}},
         "sctp dport { 22, 80 }",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=84); payload 1=1 2=2 3=2 4=2; lookup 2=1 1=SET"},
        {{ServiceMatch{Protocol::tcp, {{22, 22}, {1000, 2000}}}},
         "tcp dport { 22, 1000-2000 }",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=06); payload 1=1 2=2 3=2 4=2; lookup 2=1 1=SET"},
        {{IcmpTypeMatch{{IcmpType::echo_request}}},
         "icmp type echo-request",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=01); payload 1=1 2=2 3=0 4=1; cmp 1=1 2=0 3=(1=08)"},
        {{IcmpTypeMatch{{IcmpType::destination_unreachable, IcmpType::time_exceeded, IcmpType::parameter_problem}}},
         "icmp type { destination-unreachable, time-exceeded, parameter-problem }",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=01); payload 1=1 2=2 3=0 4=1; lookup 2=1 1=SET"},
        {{TcpSynMatch{}},
         "tcp flags & (syn | rst) == syn",
         "meta 2=16 1=1; cmp 1=1 2=0 3=(1=06); payload 1=1 2=2 3=13 4=1; "
         "bitwise 1=1 2=1 3=1 4=(1=06) 5=(1=00); cmp 1=1 2=0 3=(1=02)"},
        {{LaterFragmentMatch{}},
         "ip frag-off & 0x1fff != 0",
         "payload 1=1 2=1 3=6 4=2; bitwise 1=1 2=1 3=2 4=(1=1fff) 5=(1=0000); cmp 1=1 2=1 3=(1=0000)"},
        {{ConntrackStateMatch{ConntrackState::invalid}},
         "ct state invalid",
         "ct 2=0 1=1; bitwise 1=1 2=1 3=4 4=(1=01000000) 5=(1=00000000); cmp 1=1 2=1 3=(1=00000000)"},
        {{ConntrackStateMatch{ConntrackState::established | ConntrackState::related}},
         "ct state established,related",
         "ct 2=0 1=1; bitwise 1=1 2=1 3=4 4=(1=06000000) 5=(1=00000000); cmp 1=1 2=1 3=(1=00000000)"},
        {{ConntrackStatusMatch{Op::eq, ConntrackStatus::snat | ConntrackStatus::dnat}},
         "ct status snat,dnat",
         "ct 2=2 1=1; bitwise 1=1 2=1 3=4 4=(1=30000000) 5=(1=00000000); cmp 1=1 2=1 3=(1=00000000)"},
        {{ConntrackStatusMatch{Op::ne, ConntrackStatus::snat | ConntrackStatus::dnat}},
         "ct status & (snat | dnat) == 0",
         "ct 2=2 1=1; bitwise 1=1 2=1 3=4 4=(1=30000000) 5=(1=00000000); cmp 1=1 2=0 3=(1=00000000)"},
        {{LimitRate{5, LimitRate::Per::minute}},
         "limit rate 5/minute burst 5 packets",
         "limit 1=0000000000000005 2=000000000000003c 3=5 4=0 5=0"},
        {{CounterReference{"in_closed"}},
         R"(counter name "in_closed")",
         "objref 1=1 2=696e5f636c6f736564"},
        {{Log{"mape0 other protocol: "}},
         R"(log prefix "mape0 other protocol: " level info)",
         "log 2=mape0 other protocol:  5=6"},
        {{MaxSegmentSize{1420}},
         "tcp option maxseg size set 1420",
         "immediate 1=1 2=(1=058c); exthdr 7=1 2=02 3=2 4=2 6=1"},
        {{Notrack{}},
         "notrack",
         "notrack"},
        {{Verdict{Verdict::Kind::accept}},
         "accept",
         "immediate 1=0 2=(2=(1=00000001))"},
        {{Verdict{Verdict::Kind::drop}},
         "drop",
         "immediate 1=0 2=(2=(1=00000000))"},
        {{Verdict{Verdict::Kind::jump, "clamp"}},
         "jump clamp",
         "immediate 1=0 2=(2=(1=fffffffd 2=clamp))"},
        {{Verdict{Verdict::Kind::go_to, "r0"}},
         "goto r0",
         "immediate 1=0 2=(2=(1=fffffffc 2=r0))"},
        {{SourceNat{a, a}},
         "snat ip to 192.0.2.1",
         "immediate 1=1 2=(1=c0000201); nat 1=0 2=2 3=1"},
        {{SourceNat{a, *Ipv4Address::parse("192.0.2.9")}},
         "snat ip to 192.0.2.1-192.0.2.9 persistent",
         "immediate 1=1 2=(1=c0000201); immediate 1=2 2=(1=c0000209); nat 1=0 2=2 3=1 4=2 7=8"},
        {{SourceNat{a, a, PortRange{1728, 1743}}},
         "snat ip to 192.0.2.1:1728-1743",
         "immediate 1=1 2=(1=c0000201); immediate 1=2 2=(1=06c0); immediate 1=3 2=(1=06cf); "
         "nat 1=0 2=2 3=1 5=2 6=3 7=2"},
        {{SourceNat{a, a, PortRange{1728, 1728}}},
         "snat ip to 192.0.2.1:1728",
         "immediate 1=1 2=(1=c0000201); immediate 1=2 2=(1=06c0); nat 1=0 2=2 3=1 5=2 7=2"},
        {{SourceNatMap{a, {{0, 0, {1728, 1743}}, {1, 1, {2752, 2767}}}}},
         "snat ip to numgen inc mod 2 map { 0 : 192.0.2.1 . 1728-1743, 1 : 192.0.2.1 . 2752-2767 }",
         "numgen 1=1 2=2 3=0 4=0; lookup 2=1 3=1 1=SET; nat 1=0 2=2 3=1 4=10 5=9 6=11"},
        {{SourceNatMap{a, {{0, 2, {1728, 1730}}, {3, 4, {2752, 2753}}}}},
         "snat ip to numgen inc mod 5 map { 0-2 : 192.0.2.1 . 1728-1730, 3-4 : 192.0.2.1 . 2752-2753 }",
         "numgen 1=1 2=5 3=0 4=0; byteorder 1=1 2=1 3=1 4=4 5=4; lookup 2=1 3=1 1=SET; nat 1=0 2=2 3=1 4=10 5=9 6=11"},
        {{SourceNatMap{a, {{0, 0, {1728, 1728}}, {1, 1, {1730, 1730}}}}},
         "snat ip to numgen inc mod 2 map { 0 : 192.0.2.1 . 1728, 1 : 192.0.2.1 . 1730 }",
         "numgen 1=1 2=2 3=0 4=0; lookup 2=1 3=1 1=SET; nat 1=0 2=2 3=1 5=9"},
        {{NumgenVmap{2, "plain"}},
         "numgen inc mod 2 vmap @plain",
         "numgen 1=1 2=2 3=0 4=0; lookup 2=1 3=0 1=plain 4=1"},
        {{NumgenVmap{4, "interval"}},
         "numgen inc mod 4 vmap @interval",
         "numgen 1=1 2=4 3=0 4=0; byteorder 1=1 2=1 3=1 4=4 5=4; lookup 2=1 3=0 1=interval 4=2"},
        {{HashVmap{true, 2, "plain"}},
         "jhash ip daddr . th dport mod 2 seed 0x1 vmap @plain",
         "payload 1=2 2=1 3=16 4=4; payload 1=13 2=2 3=2 4=2; hash 1=2 2=1 3=8 4=2 5=1 6=0 7=0; "
         "lookup 2=1 3=0 1=plain 4=1"},
        {{HashVmap{false, 2, "plain"}},
         "jhash ip daddr mod 2 seed 0x1 vmap @plain",
         "payload 1=2 2=1 3=16 4=4; hash 1=2 2=1 3=4 4=2 5=1 6=0 7=0; lookup 2=1 3=0 1=plain 4=1"},
    };
}

}  // namespace statement_samples
