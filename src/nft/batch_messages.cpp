#include "nft/batch_messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

namespace mape::nft {

namespace {

constexpr std::size_t longest_attribute = UINT16_MAX;
constexpr std::size_t longest_message = longest_attribute + 4096;

std::uint16_t number_of(Family family)
{
    switch (family) {
    case Family::ip: return NFPROTO_IPV4;
    case Family::ip6: return NFPROTO_IPV6;
    case Family::inet: return NFPROTO_INET;
    case Family::netdev: return NFPROTO_NETDEV;
    }
    return NFPROTO_UNSPEC;
}

}  // namespace

Messages::Messages() : room_(longest_message)
{
    put_control(NFNL_MSG_BATCH_BEGIN, "change the nf_tables ruleset");
}

nlmsghdr* Messages::begin(std::uint16_t type, Family family, std::uint16_t flags)
{
    return nftnl_nlmsg_build_hdr(reinterpret_cast<char*>(room_.data()), type, number_of(family), flags, sequence_);
}

void Messages::end(std::string label)
{
    nlmsghdr header;
    std::memcpy(&header, room_.data(), sizeof header);
    last_ = batch_.bytes.size();
    batch_.bytes.insert(batch_.bytes.end(), room_.begin(),
                        room_.begin() + static_cast<std::ptrdiff_t>(MNL_ALIGN(header.nlmsg_len)));
    batch_.labels.push_back({sequence_++, std::move(label)});
    // libmnl leaves the padding behind an attribute as it finds it: same ruleset, same bytes.
    std::fill_n(room_.begin(), MNL_ALIGN(header.nlmsg_len), std::byte{0});
}

void Messages::put_control(std::uint16_t type, std::string label)
{
    char* const room = reinterpret_cast<char*>(room_.data());
    if (type == NFNL_MSG_BATCH_BEGIN)
        nftnl_batch_begin(room, sequence_);
    else
        nftnl_batch_end(room, sequence_);
    end(std::move(label));
}

void Messages::add_elements(Family family, nftnl_set* set, const std::string& label)
{
    const Handle<nftnl_set_elems_iter, nftnl_set_elems_iter_destroy> iterator{nftnl_set_elems_iter_create(set)};
    if (!iterator)
        throw std::bad_alloc();
    for (nftnl_set_elem* element = nftnl_set_elems_iter_next(iterator.get()); element != nullptr;) {
        nlmsghdr* message = begin(NFT_MSG_NEWSETELEM, family, NLM_F_CREATE);
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, nftnl_set_get_str(set, NFTNL_SET_TABLE));
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, nftnl_set_get_str(set, NFTNL_SET_NAME));
        mnl_attr_put_u32(message, NFTA_SET_ELEM_LIST_SET_ID, htonl(nftnl_set_get_u32(set, NFTNL_SET_ID)));
        nlattr* list = mnl_attr_nest_start(message, NFTA_SET_ELEM_LIST_ELEMENTS);
        const std::uint32_t list_start = message->nlmsg_len - static_cast<std::uint32_t>(sizeof(nlattr));
        for (int i = 1; element != nullptr; ++i) {
            const std::uint32_t before = message->nlmsg_len;
            nftnl_set_elem_nlmsg_build(message, element, i);
            if (message->nlmsg_len - list_start > longest_attribute) {
                std::memset(reinterpret_cast<char*>(message) + before, 0, message->nlmsg_len - before);
                message->nlmsg_len = before;
                break;
            }
            element = nftnl_set_elems_iter_next(iterator.get());
        }
        mnl_attr_nest_end(message, list);
        end(label);
    }
}

Batch Messages::finish()
{
    nlmsghdr header;
    std::memcpy(&header, batch_.bytes.data() + last_, sizeof header);
    if (sequence_ > 1)
        header.nlmsg_flags = static_cast<std::uint16_t>(header.nlmsg_flags | NLM_F_ACK);
    std::memcpy(batch_.bytes.data() + last_, &header, sizeof header);
    put_control(NFNL_MSG_BATCH_END, "commit the nf_tables ruleset");
    return std::move(batch_);
}

}  // namespace mape::nft
