#include "netlink/conntrack.h"

#include <netinet/in.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#include "netlink/attributes.h"
#include "netlink/message_builder.h"
#include "netlink/nft_messages.h"

namespace mape::netlink {

namespace {

MessageBuilder conntrack_message(unsigned type)
{
    MessageBuilder builder(NFNL_SUBSYS_CTNETLINK << 8 | type, 0);
    builder.family_header(nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
    return builder;
}

// The answer to a question that has no entry: gone by itself meanwhile, or no conntrack in this kernel.
bool is_nothing_there(const Error& error)
{
    return error.errnum == ENOENT || error.errnum == EINVAL || error.errnum == EOPNOTSUPP || error.errnum == EPROTONOSUPPORT;
}

/// The destination of a direction, if it is `address`.
std::optional<OuterPort> destination_at(const Attributes& tuple, Ipv4Address address)
{
    if (tuple.nested(CTA_TUPLE_IP).ipv4(CTA_IP_V4_DST) != address)
        return std::nullopt;
    const Attributes protocol = tuple.nested(CTA_TUPLE_PROTO);
    auto port = protocol.be16(CTA_PROTO_DST_PORT);
    if (!port)
        port = protocol.be16(CTA_PROTO_ICMP_ID);
    return OuterPort{protocol.u8(CTA_PROTO_NUM).value_or(0), port};
}

}  // namespace

Result<std::optional<FlowAt>> parse_flow(const nlmsghdr& message, Ipv4Address address)
{
    if (family_in(message) != NFPROTO_IPV4)
        return std::nullopt;
    const Attributes attributes(attributes_in(message), "conntrack entry");
    auto outer = destination_at(attributes.nested(CTA_TUPLE_REPLY), address);
    if (!outer)
        outer = destination_at(attributes.nested(CTA_TUPLE_ORIG), address);
    const auto original = attributes.bytes(CTA_TUPLE_ORIG);
    const auto zone = attributes.bytes(CTA_ZONE);
    const auto identifier = attributes.bytes(CTA_ID);
    if (auto good = attributes.check(); !good)
        return fail(std::move(good.error()));
    if (!outer || !original)
        return std::nullopt;
    MessageBuilder key = conntrack_message(IPCTNL_MSG_CT_DELETE);
    key.bytes(CTA_TUPLE_ORIG | unsigned{NLA_F_NESTED}, *original);
    if (zone)
        key.bytes(CTA_ZONE, *zone);
    // Without it an entry that has taken the place of this one would go.
    if (identifier)
        key.bytes(CTA_ID, *identifier);
    return FlowAt{*outer, key.finish()};
}

Result<std::size_t> delete_flows(Socket& socket, Ipv4Address address, const std::function<bool(const OuterPort&)>& doomed)
{
    const std::string what = fmt::format("delete the conntrack entries of {}", to_text(address));
    std::vector<Message> deletions;
    auto dumped = socket.dump(
        conntrack_message(IPCTNL_MSG_CT_GET).finish(), what,
        [&](const nlmsghdr& message) -> Result<void> {
            auto flow = parse_flow(message, address);
            if (!flow)
                return fail(std::move(flow.error()));
            if (*flow && doomed((*flow)->outer))
                deletions.push_back(std::move((*flow)->deletion));
            return {};
        },
        [&] { deletions.clear(); });
    if (!dumped)
        return is_nothing_there(dumped.error()) ? Result<std::size_t>(0) : fail(std::move(dumped.error()));
    std::size_t deleted = 0;
    for (Message& deletion : deletions) {
        auto done = socket.request(std::move(deletion), what);
        if (!done && done.error().errnum != ENOENT)
            return fail(std::move(done.error()));
        deleted += done ? 1U : 0U;
    }
    return deleted;
}

}  // namespace mape::netlink
