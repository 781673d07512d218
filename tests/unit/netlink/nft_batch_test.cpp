// Batches as bytes: framing, labels, splitting, and the expressions of each statement beside its text. That they are what
// nft itself sends is proved live, by tests/netns/nft_twin_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "../nft/samples.h"
#include "../nft/statements.h"
#include "netlink/attributes.h"
#include "netlink/nft_messages.h"
#include "nft/batch.h"

using namespace mape;
using namespace mape::netlink;

namespace {

std::vector<const nlmsghdr*> messages_of(const nft::Batch& batch)
{
    std::vector<const nlmsghdr*> messages;
    std::span<const std::byte> rest = batch.bytes;
    while (!rest.empty()) {
        const auto message = next_message(rest);
        REQUIRE(message);
        messages.push_back(*message);
    }
    return messages;
}

unsigned nft_type(const nlmsghdr& message)
{
    return message.nlmsg_type & 0xffU;
}

bool is_nft(const nlmsghdr& message, unsigned type)
{
    return message.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | type);
}

std::string hex(std::span<const std::byte> bytes)
{
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

std::string rendered(std::span<const std::byte> bytes, bool inside);

std::string value_of(std::span<const std::byte> attribute, bool inside)
{
    nlattr header;
    std::memcpy(&header, attribute.data(), sizeof header);
    const auto payload = attribute.subspan(sizeof header, header.nla_len - sizeof header);
    if ((header.nla_type & NLA_F_NESTED) != 0)
        return "(" + rendered(payload, true) + ")";
    if (const auto text = as_text(payload))
        return *text;
    if (!inside && payload.size() == sizeof(std::uint32_t)) {
        std::uint32_t number;
        std::memcpy(&number, payload.data(), sizeof number);
        return fmt::format("{}", ntohl(number));
    }
    return hex(payload);
}

std::string rendered(std::span<const std::byte> bytes, bool inside)
{
    std::string text;
    while (bytes.size() >= sizeof(nlattr)) {
        nlattr header;
        std::memcpy(&header, bytes.data(), sizeof header);
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", header.nla_type & NLA_TYPE_MASK, value_of(bytes, inside));
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(header.nla_len), bytes.size()));
    }
    return text;
}

/// The expressions of the only rule of a ruleset.
std::string bytecode_of(std::vector<nft::Statement> statements)
{
    nft::Table table{{nft::Family::ip, "t"}};
    table.maps = {{"plain", {{0, 0, "r"}, {1, 1, "r"}}}, {"interval", {{0, 3, "r"}}}};
    table.chains = {{"r"}, {"c", {}, {{std::move(statements)}}}};
    const nft::Batch batch = nft::replace_batch({{table}});
    std::string text;
    for (const nlmsghdr* message : messages_of(batch)) {
        if (!is_nft(*message, NFT_MSG_NEWRULE))
            continue;
        const Attributes rule(attributes_in(*message), "rule");
        const auto list = raw_attributes(*rule.bytes(NFTA_RULE_EXPRESSIONS));
        REQUIRE(list);
        for (const RawAttribute& element : *list) {
            const Attributes expression(element.payload, "expression");
            std::string data;
            if (const auto bytes = expression.bytes(NFTA_EXPR_DATA))
                data = rendered(*bytes, false);
            const std::string name = expression.text(NFTA_EXPR_NAME).value_or("");
            if (name == "lookup" && data.find("%d") != std::string::npos) {
                const auto flags = data.find(" 5=");
                data = data.substr(0, data.find("__")) + "SET" + (flags == std::string::npos ? "" : data.substr(flags));
            }
            text += fmt::format("{}{}{}{}", text.empty() ? "" : "; ", name, data.empty() ? "" : " ", data);
        }
    }
    return text;
}

}  // namespace

TEST_CASE("each statement compiles to what nft makes of its text")
{
    for (const statement_samples::Sample& sample : statement_samples::all()) {
        CAPTURE(sample.text);
        CHECK(bytecode_of(sample.statements) == sample.bytecode);
    }
}

TEST_CASE("a batch is framed, labelled and acknowledged once")
{
    const auto ruleset = napt_ruleset(samples::seeds());
    REQUIRE(ruleset);
    const nft::Batch batch = nft::replace_batch(*ruleset);
    const auto messages = messages_of(batch);
    REQUIRE(messages.size() == batch.labels.size());
    CHECK(messages.front()->nlmsg_type == NFNL_MSG_BATCH_BEGIN);
    CHECK(messages.back()->nlmsg_type == NFNL_MSG_BATCH_END);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        CHECK(messages[i]->nlmsg_seq == i);
        CHECK(batch.labels[i].sequence == i);
        CHECK(!batch.labels[i].label.empty());
        CHECK(((messages[i]->nlmsg_flags & NLM_F_ACK) != 0) == (i == messages.size() - 2));
        CHECK((messages[i]->nlmsg_flags & NLM_F_REQUEST) != 0);
    }
    CHECK(nft_type(*messages[1]) == NFT_MSG_NEWTABLE);
    CHECK(nft_type(*messages[2]) == NFT_MSG_DELTABLE);
    CHECK(nft_type(*messages[3]) == NFT_MSG_NEWTABLE);
    CHECK(batch.labels[2].label == "delete the old table ip mape_mape0");
    const auto find = [&](const std::string& label) {
        return std::any_of(batch.labels.begin(), batch.labels.end(),
                           [&](const Labelled& each) { return each.label == label; });
    };
    CHECK(find("add rule nat_out 1 of table ip mape_mape0: oifname != \"mape0\" accept"));
    CHECK(find("add chain nat_out of table ip mape_mape0"));
    CHECK(find("add elements of map turn of table ip mape_mape0"));
    CHECK(find("add table ip6 mape_mape0"));
}

TEST_CASE("same ruleset, same bytes")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        const auto ruleset = napt_ruleset(sample.parameters);
        REQUIRE(ruleset);
        const auto first = nft::replace_batch(*ruleset);
        // Another ruleset between the two must not shine through the padding.
        (void)nft::replace_batch(*napt_ruleset(samples::seeds()));
        CHECK((first.bytes == nft::replace_batch(*ruleset).bytes));
    }
}

TEST_CASE("deleting: a table that is not there is no error")
{
    const nft::Batch batch = nft::delete_batch({{nft::Family::ip, "a"}, {nft::Family::ip6, "b"}});
    const auto messages = messages_of(batch);
    REQUIRE(messages.size() == 6);
    CHECK(nft_type(*messages[1]) == NFT_MSG_NEWTABLE);
    CHECK(nft_type(*messages[2]) == NFT_MSG_DELTABLE);
    CHECK(nft_type(*messages[4]) == NFT_MSG_DELTABLE);
    CHECK((messages[4]->nlmsg_flags & NLM_F_ACK) != 0);
    CHECK(family_in(*messages[4]) == protocol_family(nft::Family::ip6));
    CHECK(messages_of(nft::delete_batch({})).size() == 2);
}

TEST_CASE("32767 elements: every one once, in order, no attribute longer than it may be")
{
    const auto ruleset = napt_ruleset(samples::line("192.0.2.1", 15, 1, 1));
    REQUIRE(ruleset);
    const nft::Batch batch = nft::replace_batch(*ruleset);
    std::uint32_t next = 0;
    unsigned parts = 0;
    for (const nlmsghdr* message : messages_of(batch)) {
        if (!is_nft(*message, NFT_MSG_NEWSETELEM))
            continue;
        const Attributes attributes(attributes_in(*message), "elements");
        if (attributes.text(NFTA_SET_ELEM_LIST_SET) != "__map%d")
            continue;
        const auto elements = raw_attributes(*attributes.bytes(NFTA_SET_ELEM_LIST_ELEMENTS));
        REQUIRE(elements);
        ++parts;
        for (const RawAttribute& element : *elements) {
            const Attributes each(element.payload, "element");
            CHECK(each.nested(NFTA_SET_ELEM_KEY).u32(NFTA_DATA_VALUE) == next);
            ++next;
            const auto data = each.nested(NFTA_SET_ELEM_DATA).bytes(NFTA_DATA_VALUE);
            REQUIRE(data);
            CHECK(data->size() == 8);
        }
    }
    CHECK(next == 32767);
    CHECK(parts > 10);
}
