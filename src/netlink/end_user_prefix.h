// Where the end-user IPv6 prefix of `prefix = auto` may be seen in the kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "net/address.h"
#include "netlink/rtnl_read.h"

namespace mape::netlink {

struct PrefixCandidate {
    Ipv6Prefix prefix;
    bool delegated = false;  ///< seen as the route of a DHCPv6-PD client, perhaps besides addresses
    std::string seen;        ///< "address 2001:db8:1:2::1/64 on eth0"; several joined by ", "
    bool operator==(const PrefixCandidate&) const = default;
};

/// Candidates from addresses on `devices` (indices of WAN and LAN devices) and from routes, best first: delegated before
/// others, shorter before longer, then by value; each prefix once. Choosing is the caller's job.
///
/// Addresses: global unicast (not fc00::/7), neither deprecated nor tentative nor failed in duplicate address detection, not
/// ours (IFA_PROTO). The prefix is the on-link one; where that is longer than 64 bits (a DHCPv6 IA_NA address has 128) or
/// shorter than 32, the /64 around the address.
/// Routes: unreachable, blackhole, prohibit or throw, of a global prefix of 40 to 64 bits, in any table: what PD clients
/// (dhcpcd, systemd-networkd) set for the part of a delegation that they have not given away (RFC 7084 WPD-5).
[[nodiscard]] std::vector<PrefixCandidate> end_user_prefix_candidates(const NetworkState& state,
                                                                      std::span<const unsigned> devices);

/// Scope of the address as its bits say it: 2000::/3 and everything else that is not unspecified, loopback, IPv4-mapped,
/// link-local, site-local, unique local (fc00::/7) or multicast.
[[nodiscard]] bool is_global_unicast(const Ipv6Address& address);

}  // namespace mape::netlink
