#include "netlink/conntrack.h"
#include "netlink/message_builder.h"

#include <cstring>
#include <doctest/doctest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>

using namespace mape;
using namespace mape::netlink;

namespace {

struct Side {
    const char* source;
    const char* destination;
    std::uint16_t source_port;
    std::uint16_t destination_port;
};

void put(MessageBuilder& builder, unsigned type, const Side& side, std::uint8_t protocol)
{
    builder.nest(type | NLA_F_NESTED, [&] {
        builder.nest(CTA_TUPLE_IP | NLA_F_NESTED, [&] {
            builder.ipv4(CTA_IP_V4_SRC, *Ipv4Address::parse(side.source)).ipv4(CTA_IP_V4_DST, *Ipv4Address::parse(side.destination));
        });
        builder.nest(CTA_TUPLE_PROTO | NLA_F_NESTED, [&] {
            builder.u8(CTA_PROTO_NUM, protocol);
            if (protocol == IPPROTO_ICMP)
                builder.be16(CTA_PROTO_ICMP_ID, side.destination_port);
            else if (protocol != IPPROTO_GRE)
                builder.be16(CTA_PROTO_SRC_PORT, side.source_port).be16(CTA_PROTO_DST_PORT, side.destination_port);
        });
    });
}

Message entry(const Side& original, const Side& reply, std::uint8_t protocol, std::uint8_t family = NFPROTO_IPV4)
{
    MessageBuilder builder(NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW, 0);
    builder.family_header(nfgenmsg{family, NFNETLINK_V0, 0});
    put(builder, CTA_TUPLE_ORIG, original, protocol);
    put(builder, CTA_TUPLE_REPLY, reply, protocol);
    builder.be32(CTA_STATUS, 0x18e).be32(CTA_ID, 0x12345678);
    return builder.finish();
}

std::optional<FlowAt> flow(const Message& message, const char* address = "153.240.174.134")
{
    auto parsed = parse_flow(*reinterpret_cast<const nlmsghdr*>(message.data()), *Ipv4Address::parse(address));
    REQUIRE(parsed);
    return std::move(*parsed);
}

const Side lan{"192.168.1.10", "198.51.100.1", 40000, 53};
const Side answer{"198.51.100.1", "153.240.174.134", 53, 1728};

}  // namespace

TEST_CASE("an entry belongs to the address it is translated to, and has the outer port")
{
    const auto found = flow(entry(lan, answer, IPPROTO_UDP));
    REQUIRE(found);
    CHECK(found->outer.protocol == IPPROTO_UDP);
    CHECK(found->outer.port == 1728);
    CHECK_FALSE(flow(entry(lan, answer, IPPROTO_UDP), "153.240.174.135"));
    CHECK_FALSE(flow(entry(lan, {"198.51.100.1", "192.168.1.10", 53, 40000}, IPPROTO_UDP)));
}

TEST_CASE("an entry from outside belongs to the address it was sent to")
{
    const auto found = flow(entry({"198.51.100.1", "153.240.174.134", 5000, 1729}, {"192.168.1.2", "198.51.100.1", 80, 5000}, IPPROTO_TCP));
    REQUIRE(found);
    CHECK(found->outer.port == 1729);
}

TEST_CASE("ICMP has its identifier, other protocols have nothing, another family is passed over")
{
    CHECK(flow(entry(lan, answer, IPPROTO_ICMP))->outer.port == 1728);
    CHECK_FALSE(flow(entry(lan, answer, IPPROTO_GRE))->outer.port);
    CHECK_FALSE(flow(entry(lan, answer, IPPROTO_UDP, NFPROTO_IPV6)));
}

TEST_CASE("the deletion names the very entry: its original tuple, byte for byte, and its identifier")
{
    const Message message = entry(lan, answer, IPPROTO_UDP);
    const auto found = flow(message);
    REQUIRE(found);
    MessageBuilder wanted(NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE, 0);
    wanted.family_header(nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
    put(wanted, CTA_TUPLE_ORIG, lan, IPPROTO_UDP);
    wanted.be32(CTA_ID, 0x12345678);
    CHECK(found->deletion == wanted.finish());
}

TEST_CASE("an entry cut at any length is an error or no entry, never a crash")
{
    const Message whole = entry(lan, answer, IPPROTO_UDP);
    for (std::size_t length = sizeof(nlmsghdr); length < whole.size(); length += 4) {
        Message cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const auto size = static_cast<std::uint32_t>(length);
        std::memcpy(cut.data(), &size, sizeof size);
        const auto parsed = parse_flow(*reinterpret_cast<const nlmsghdr*>(cut.data()), *Ipv4Address::parse("153.240.174.134"));
        if (!parsed)
            CHECK_FALSE(parsed.error().message.empty());
    }
}
