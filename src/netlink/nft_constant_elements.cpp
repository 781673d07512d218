// Elements of constant sets as the kernel would show them, from the batch that made the sets.
#include "netlink/nft_dump_raw.h"

#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <map>

#include <fmt/format.h>

#include "netlink/attributes.h"
#include "netlink/nft_messages.h"

namespace mape::netlink {

namespace {

constexpr std::string_view number_of_name = "%d";

/// `message` with the list of its elements only, for the set `name`.
void append_elements(std::vector<std::byte>& messages, const nft::TableName& table, const std::string& name,
                     const nlmsghdr& message, std::span<const std::byte> elements)
{
    const std::size_t start = messages.size();
    messages.resize(start + MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(nfgenmsg)) + MNL_ALIGN(MNL_ATTR_HDRLEN + table.name.size() + 1)
                    + MNL_ALIGN(MNL_ATTR_HDRLEN + name.size() + 1) + MNL_ALIGN(MNL_ATTR_HDRLEN + elements.size()));
    nlmsghdr* made = mnl_nlmsg_put_header(messages.data() + start);
    made->nlmsg_type = message.nlmsg_type;
    auto* family = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(made, sizeof(nfgenmsg)));
    family->nfgen_family = protocol_family(table.family);
    mnl_attr_put_strz(made, NFTA_SET_ELEM_LIST_TABLE, table.name.c_str());
    mnl_attr_put_strz(made, NFTA_SET_ELEM_LIST_SET, name.c_str());
    mnl_attr_put(made, NFTA_SET_ELEM_LIST_ELEMENTS, elements.size(), elements.data());
}

}  // namespace

Result<std::vector<std::byte>> constant_elements(const nft::TableName& table, std::span<const std::byte> batch)
{
    std::vector<std::byte> messages;
    std::map<std::string, unsigned> next_number;
    std::map<std::uint32_t, std::string> names;  // by the id within the batch
    while (!batch.empty()) {
        const auto message = next_message(batch);
        if (!message)
            return fail(message.error());
        const nlmsghdr& header = **message;
        const Attributes attributes(attributes_in(header), "set");
        if (family_in(header) != protocol_family(table.family))
            continue;
        if (header.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWSET)
            && attributes.text(NFTA_SET_TABLE) == table.name) {
            std::string name = attributes.text(NFTA_SET_NAME).value_or("");
            const std::uint32_t flags = attributes.be32(NFTA_SET_FLAGS).value_or(0);
            if ((flags & NFT_SET_ANONYMOUS) == 0 || !name.ends_with(number_of_name))
                continue;
            const unsigned number = next_number[name]++;
            name.replace(name.size() - number_of_name.size(), number_of_name.size(), fmt::format("{}", number));
            if ((flags & NFT_SET_CONSTANT) != 0)
                names[attributes.be32(NFTA_SET_ID).value_or(0)] = std::move(name);
        } else if (header.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWSETELEM)
                   && attributes.text(NFTA_SET_ELEM_LIST_TABLE) == table.name) {
            const auto name = names.find(attributes.be32(NFTA_SET_ELEM_LIST_SET_ID).value_or(0));
            const auto elements = attributes.bytes(NFTA_SET_ELEM_LIST_ELEMENTS);
            if (name != names.end() && elements)
                append_elements(messages, table, name->second, header, *elements);
        }
        if (auto good = attributes.check(); !good)
            return fail(std::move(good.error()));
    }
    return messages;
}

}  // namespace mape::netlink
