#include "nft/batch_messages.h"

#include "nft/batch_sets.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <libnftnl/common.h>
#include <libnftnl/udata.h>
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

Messages::Messages(WithLabels with_labels) : with_labels_(with_labels), room_(longest_message)
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
    if (with_labels_ == WithLabels::yes)
        batch_.labels.push_back({sequence_, std::move(label)});
    ++sequence_;
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

namespace {

/// As libnftnl's nftnl_set_elem_nlmsg_build() has it, attribute for attribute.
void put_element(nlmsghdr* message, const SetElement& element, std::uint16_t number, std::uint32_t key_length)
{
    nlattr* whole = mnl_attr_nest_start(message, number);
    if (element.flags != 0)
        mnl_attr_put_u32(message, NFTA_SET_ELEM_FLAGS, htonl(element.flags));
    nlattr* key = mnl_attr_nest_start(message, NFTA_SET_ELEM_KEY);
    mnl_attr_put(message, NFTA_DATA_VALUE, key_length, element.key.data());
    mnl_attr_nest_end(message, key);
    if (!element.jump.empty()) {
        nlattr* data = mnl_attr_nest_start(message, NFTA_SET_ELEM_DATA);
        nlattr* verdict = mnl_attr_nest_start(message, NFTA_DATA_VERDICT);
        mnl_attr_put_u32(message, NFTA_VERDICT_CODE, htonl(static_cast<std::uint32_t>(NFT_JUMP)));
        mnl_attr_put_strz(message, NFTA_VERDICT_CHAIN, element.jump.c_str());
        mnl_attr_nest_end(message, verdict);
        mnl_attr_nest_end(message, data);
    } else if (element.data_length > 0) {
        nlattr* data = mnl_attr_nest_start(message, NFTA_SET_ELEM_DATA);
        mnl_attr_put(message, NFTA_DATA_VALUE, element.data_length, element.data.data());
        mnl_attr_nest_end(message, data);
    }
    if (element.open_end) {
        static const UserData open = std::move(UserData().put(NFTNL_UDATA_SET_ELEM_FLAGS, NFTNL_SET_ELEM_F_INTERVAL_OPEN));
        mnl_attr_put(message, NFTA_SET_ELEM_USERDATA, open.size(), open.data());
    }
    mnl_attr_nest_end(message, whole);
}

}  // namespace

void Messages::add_elements(Family family, const SetContent& set, const std::function<std::string()>& label)
{
    const nftnl_set* declared = set.declaration.get();
    const std::uint32_t key_length = nftnl_set_get_u32(declared, NFTNL_SET_KEY_LEN);
    for (auto element = set.elements.begin(); element != set.elements.end();) {
        nlmsghdr* message = begin(NFT_MSG_NEWSETELEM, family, NLM_F_CREATE);
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, nftnl_set_get_str(declared, NFTNL_SET_TABLE));
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, nftnl_set_get_str(declared, NFTNL_SET_NAME));
        mnl_attr_put_u32(message, NFTA_SET_ELEM_LIST_SET_ID, htonl(nftnl_set_get_u32(declared, NFTNL_SET_ID)));
        nlattr* list = mnl_attr_nest_start(message, NFTA_SET_ELEM_LIST_ELEMENTS);
        const std::uint32_t list_start = message->nlmsg_len - static_cast<std::uint32_t>(sizeof(nlattr));
        for (std::uint16_t number = 1; element != set.elements.end(); ++number) {
            const std::uint32_t before = message->nlmsg_len;
            put_element(message, *element, number, key_length);
            if (message->nlmsg_len - list_start > longest_attribute) {
                std::memset(reinterpret_cast<char*>(message) + before, 0, message->nlmsg_len - before);
                message->nlmsg_len = before;
                break;
            }
            ++element;
        }
        mnl_attr_nest_end(message, list);
        end(with_labels_ == WithLabels::yes ? label() : std::string());
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
