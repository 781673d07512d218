// Entries of conntrack, found and deleted over nfnetlink (net/netfilter/nf_conntrack_netlink.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "net/address.h"
#include "netlink/socket.h"

namespace mape::netlink {

/// A flow as far as it concerns one address of ours: the port or query identifier it has there.
struct OuterPort {
    std::uint8_t protocol;              ///< IPPROTO_*
    std::optional<std::uint16_t> port;  ///< none: a protocol without ports
};

/// The entry of one message (IPCTNL_MSG_CT_NEW) if it belongs to `address`: translated to it, or sent to it from outside, or
/// a flow of the router itself. nullopt: it does not, or it is not IPv4.
struct FlowAt {
    OuterPort outer;
    Message deletion;  ///< IPCTNL_MSG_CT_DELETE for this very entry: its original tuple, zone and identifier
};
[[nodiscard]] Result<std::optional<FlowAt>> parse_flow(const nlmsghdr& message, Ipv4Address address);

/// Deletes the entries of `address` that `doomed` agrees to, and no other; returns how many. `socket` is one of
/// NETLINK_NETFILTER. Deleting by address in one message works on 6.18 and answers EINVAL on 6.1: so dumped and deleted one by
/// one. A kernel without conntrack has none to delete.
[[nodiscard]] Result<std::size_t> delete_flows(Socket& socket, Ipv4Address address,
                                               const std::function<bool(const OuterPort&)>& doomed);

}  // namespace mape::netlink
