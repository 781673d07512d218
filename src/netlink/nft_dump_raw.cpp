#include "netlink/nft_dump_raw.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <set>

#include "netlink/attributes.h"
#include "netlink/nft_dump_socket.h"
#include "netlink/nft_dump_text.h"

namespace mape::netlink {

namespace {

using Part = TableText::Part;

unsigned answer_type(Part part)
{
    switch (part) {
    case Part::table: return NFT_MSG_NEWTABLE;
    case Part::objects: return NFT_MSG_NEWOBJ;
    case Part::flowtables: return NFT_MSG_NEWFLOWTABLE;
    case Part::chains: return NFT_MSG_NEWCHAIN;
    case Part::sets: return NFT_MSG_NEWSET;
    case Part::rules: return NFT_MSG_NEWRULE;
    }
    return NFT_MSG_MAX;
}

bool is_of_type(const nlmsghdr& message, unsigned type)
{
    return message.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | type);
}

void append(std::vector<std::byte>& messages, const nlmsghdr& message)
{
    const auto bytes = bytes_of(message);
    messages.insert(messages.end(), bytes.begin(), bytes.end());
    messages.resize(NLMSG_ALIGN(messages.size()));
}

Result<void> read_answer(Socket& socket, Message request, std::vector<std::byte>& messages)
{
    const std::size_t before = messages.size();
    return socket.dump(
        std::move(request), reading_ruleset,
        [&](const nlmsghdr& message) -> Result<void> {
            append(messages, message);
            return {};
        },
        [&] { messages.resize(before); });
}

/// Calls `each` with the messages of one type.
template <class Use>
Result<void> each_of(std::span<const std::byte> messages, unsigned type, Use&& use)
{
    while (!messages.empty()) {
        const auto message = next_message(messages);
        if (!message)
            return fail(message.error());
        if (is_of_type(**message, type))
            if (Result<void> used = use(**message); !used)
                return used;
    }
    return {};
}

bool is_constant(std::uint32_t set_flags)
{
    constexpr std::uint32_t both = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT;
    return (set_flags & both) == both;
}

Result<void> read_table(Socket& socket, const nft::TableName& table, Elements elements, std::vector<std::byte>& messages)
{
    const TableText requests(table);
    std::set<std::string> sets;
    for (const Part part : TableText::parts) {
        const std::size_t before = messages.size();
        if (auto read = read_answer(socket, requests.request(part), messages); !read)
            return read;
        if (part == Part::table && messages.size() == before)
            return {};
        if (part != Part::sets)
            continue;
        auto named = each_of(std::span(messages).subspan(before), NFT_MSG_NEWSET, [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "set");
            if (family_in(message) == protocol_family(table.family) && attributes.text(NFTA_SET_TABLE) == table.name
                && (elements == Elements::all || !is_constant(attributes.be32(NFTA_SET_FLAGS).value_or(0))))
                sets.insert(attributes.text(NFTA_SET_NAME).value_or(""));
            return attributes.check();
        });
        if (!named)
            return named;
    }
    for (const std::string& set : sets)
        if (auto read = read_answer(socket, TableText::elements_request(table, set), messages); !read)
            return read;
    return {};
}

}  // namespace

Result<RawTables> read_tables(Socket& socket, const std::vector<nft::TableName>& tables, Elements elements)
{
    return consistently(socket, [&](std::uint32_t generation) -> Result<RawTables> {
        RawTables raw{generation, {}};
        for (const nft::TableName& table : tables)
            if (auto read = read_table(socket, table, elements, raw.messages); !read)
                return fail(std::move(read.error()));
        return raw;
    });
}

Result<std::vector<std::string>> lines_of(const nft::TableName& table, std::span<const std::byte> messages)
{
    TableText text(table);
    for (const Part part : TableText::parts) {
        auto added = each_of(messages, answer_type(part), [&](const nlmsghdr& message) { return text.add(part, message); });
        if (!added)
            return fail(std::move(added.error()));
        text.finish(part);
    }
    for (std::size_t set = 0; set < text.set_count(); ++set) {
        auto added = each_of(messages, NFT_MSG_NEWSETELEM, [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "set elements");
            if (family_in(message) != protocol_family(table.family)
                || attributes.text(NFTA_SET_ELEM_LIST_TABLE) != table.name
                || attributes.text(NFTA_SET_ELEM_LIST_SET) != text.set_name(set))
                return attributes.check();
            return text.add_elements(set, message);
        });
        if (!added)
            return fail(std::move(added.error()));
        text.finish_elements(set);
    }
    return text.take();
}

}  // namespace mape::netlink
