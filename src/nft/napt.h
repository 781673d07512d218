// The rules of a MAP-E customer edge: source NAT over its port set, guards, MSS clamp, notrack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "map/port_set.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/port_range.h"
#include "nft/ruleset.h"

namespace mape {

/// A service of the router itself that may be reached from the tunnel.
struct OpenPorts {
    nft::Protocol protocol = nft::Protocol::tcp;  ///< one that has ports: not icmp
    PortRange ports;                              ///< must lie in the port set (and may lie in a reserved range)
};

/// Packets between these two are not tracked by conntrack, in either direction.
struct LanNotrack {
    Ipv4Prefix lan;
    Ipv4Address router;  ///< the router's own address in that LAN
};

struct NaptParameters {
    InterfaceName tunnel;
    std::optional<InterfaceName> wan;  ///< with br: protocol 41 from the BR is counted there
    std::optional<Ipv6Address> br;
    Ipv4Prefix ipv4;                   ///< /32: an address, shared or not; shorter: an assigned prefix (ports not shared)
    PortSet ports;
    unsigned tunnel_mtu = 1460;        ///< bytes, 68..65535; the MSS is clamped to this - 40
    std::vector<PortRange> reserved;   ///< left out of source NAT; any order, may overlap; parts outside the set are ignored
    std::vector<nft::Protocol> protocols{nft::Protocol::tcp,     nft::Protocol::udp,  nft::Protocol::icmp,
                                         nft::Protocol::udplite, nft::Protocol::sctp, nft::Protocol::dccp};
    bool all_protocols = false;        ///< every IP protocol is translated; only where the address is not shared
    bool inbound_open = false;         ///< false: from the tunnel to the router only replies, icmp, forwards and `open`
    std::vector<OpenPorts> open;
    std::vector<LanNotrack> lan_notrack;
    std::optional<nft::LimitRate> log_rate = nft::LimitRate{5, nft::LimitRate::Per::minute};  ///< nullopt: nothing is logged
    std::string version = "0";         ///< of the program, for the mark
};

/// Name of our tables, in each family: "mape_" and the tunnel, with characters that nft's text has no place for in a
/// name ('-', ':', '@', '+', '.') as '_'.
[[nodiscard]] std::string table_name(const InterfaceName& tunnel);

/// The whole ruleset of one customer edge: table ip, and table ip6 if wan and br are known.
///
/// Names that others may rely on: table_name(); counters in_closed, in_invalid, in_ipv6, in_not_ours, in_outside_set,
/// other_protocol, out_outside_set, out_wrong_source.
///
/// Refused (input): a shared port set with a prefix, no protocol at all, all_protocols on a shared address, no port left
/// after reservation, an open port outside the set or of a protocol without ports, an MTU out of range.
///
/// Shape and measurements: a chain of its own for each piece of the port set, 64 round robins chosen by destination, see
/// napt_source.cpp; what each chain costs whom stands in the chain's comment.
[[nodiscard]] Result<nft::Ruleset> napt_ruleset(const NaptParameters& parameters);

/// A table of the same name in family inet that drops whatever leaves through the tunnel, for as long as what a packet would
/// get does not belong together. Of that family because table ip holds the ruleset, which is replaced meanwhile.
[[nodiscard]] nft::Ruleset shut_egress(const InterfaceName& tunnel);

/// Ports that source NAT hands out: the set without the reserved ranges, ascending, cut so that no piece has more than
/// 128 ports: the kernel searches a larger range only in part (net/netfilter/nf_nat_core.c, commit a504b703bb1d).
[[nodiscard]] std::vector<PortRange> source_ports(const PortSet& set, const std::vector<PortRange>& reserved);

}  // namespace mape
