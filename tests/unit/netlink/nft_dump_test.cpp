// The pure half of reading nf_tables back; the other half is tests/netns/nft_dump_test.cpp.
#include "netlink/nft_dump_parse.h"
#include "netlink/nft_dump_text.h"

#include <netinet/in.h>

#include <algorithm>

#include <doctest/doctest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "netlink/message_builder.h"
#include "wire.h"

using namespace mape;
using namespace mape::netlink;

namespace {

MessageBuilder object(unsigned type, std::uint8_t family = NFPROTO_IPV4)
{
    MessageBuilder builder(NFNL_SUBSYS_NFTABLES << 8 | type, NLM_F_MULTI);
    builder.family_header(nfgenmsg{family, NFNETLINK_V0, 0});
    return builder;
}

const nlmsghdr& header_in(const Message& message) { return *reinterpret_cast<const nlmsghdr*>(message.data()); }

const nft::TableName ours{nft::Family::ip, "mape_mape0"};

Message our_table() { return object(NFT_MSG_NEWTABLE).text_nul(NFTA_TABLE_NAME, "mape_mape0").u32(NFTA_TABLE_FLAGS, 0).finish(); }

Message our_chain(const char* name)
{
    return object(NFT_MSG_NEWCHAIN)
        .text_nul(NFTA_CHAIN_TABLE, "mape_mape0")
        .text_nul(NFTA_CHAIN_NAME, name)
        .text_nul(NFTA_CHAIN_TYPE, "nat")
        .finish();
}

/// The lines of a table with this one chain and nothing else.
std::vector<std::string> lines_with(const Message& chain)
{
    const Message table = our_table();
    TableText text(ours);
    REQUIRE(text.add(TableText::Part::table, header_in(table)));
    text.finish(TableText::Part::table);
    REQUIRE(text.exists());
    REQUIRE(text.add(TableText::Part::chains, header_in(chain)));
    text.finish(TableText::Part::chains);
    return text.take();
}

}  // namespace

TEST_CASE("a table as lines")
{
    CHECK(lines_with(our_chain("out")) == std::vector<std::string>{"table ip mape_mape0: 2=00000000", "chain out: 7=\"nat\""});
}

TEST_CASE("a name of any bytes stays in its line")
{
    CHECK(lines_with(our_chain("a\nb")).back() == "chain 0x610a6200: 7=\"nat\"");
}

TEST_CASE("what is in other tables and families is passed over")
{
    const Message other_table =
        object(NFT_MSG_NEWCHAIN).text_nul(NFTA_CHAIN_TABLE, "mape_mape1").text_nul(NFTA_CHAIN_NAME, "out").finish();
    const Message other_family =
        object(NFT_MSG_NEWCHAIN, NFPROTO_IPV6).text_nul(NFTA_CHAIN_TABLE, "mape_mape0").text_nul(NFTA_CHAIN_NAME, "out").finish();
    CHECK(lines_with(other_table).size() == 1);
    CHECK(lines_with(other_family).size() == 1);
}

TEST_CASE("a part that starts over forgets what came")
{
    const Message table = our_table();
    TableText text(ours);
    REQUIRE(text.add(TableText::Part::table, header_in(table)));
    text.restart(TableText::Part::table);
    text.finish(TableText::Part::table);
    CHECK_FALSE(text.exists());
}

TEST_CASE("a counter, and an object that is none")
{
    const auto named = [](std::uint32_t type) {
        MessageBuilder builder = object(NFT_MSG_NEWOBJ);
        builder.text_nul(NFTA_OBJ_TABLE, "mape_mape0").text_nul(NFTA_OBJ_NAME, "dropped").be32(NFTA_OBJ_TYPE, type);
        builder.nest(NFTA_OBJ_DATA, [&] {
            const std::uint8_t packets[8] = {0, 0, 0, 0, 0, 0, 0, 3};
            const std::uint8_t bytes[8] = {0, 0, 0, 1, 0, 0, 0, 0};
            builder.raw(NFTA_COUNTER_PACKETS, packets, sizeof packets).raw(NFTA_COUNTER_BYTES, bytes, sizeof bytes);
        });
        return builder.finish();
    };
    const Message counter = named(NFT_OBJECT_COUNTER);
    const auto parsed = parse_counter(header_in(counter));
    REQUIRE(parsed);
    REQUIRE(*parsed);
    CHECK((*parsed)->name == "dropped");
    CHECK((*parsed)->value == CounterValue{3, 1ULL << 32});
    const Message quota = named(NFT_OBJECT_QUOTA);
    CHECK(parse_counter(header_in(quota)).value() == std::nullopt);
}

TEST_CASE("attributes that lie are errors")
{
    Message chain = our_chain("out");
    chain[sizeof(nlmsghdr) + sizeof(nfgenmsg)] = std::byte{0xff};
    CHECK_FALSE(parse_chain(header_in(chain)));
    CHECK_FALSE(parse_table(header_in(chain)));
    CHECK_FALSE(parse_nft_rule(header_in(chain)));
    CHECK_FALSE(parse_elements(header_in(chain)));
    CHECK_FALSE(parse_counter(header_in(chain)));
    CHECK_FALSE(parse_generation(header_in(chain)));
}
