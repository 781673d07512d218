// nf_tables messages, one after the other into one buffer: not for others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/object.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>

#include "base/handle.h"
#include "nft/batch.h"

namespace mape::nft {

using TableHandle = Handle<nftnl_table, nftnl_table_free>;
using ChainHandle = Handle<nftnl_chain, nftnl_chain_free>;
using ObjectHandle = Handle<nftnl_obj, nftnl_obj_free>;
using SetHandle = Handle<nftnl_set, nftnl_set_free>;
using RuleHandle = Handle<nftnl_rule, nftnl_rule_free>;

/// libnftnl's constructors fail for want of memory only. Throws std::bad_alloc then.
template <class HandleType, class T>
HandleType owned(T* object)
{
    if (object == nullptr)
        throw std::bad_alloc();
    return HandleType(object);
}

/// An element of a set, as NFTA_LIST_ELEM is to say it. Not libnftnl's: there are thousands, and each of those is an allocation
/// of half a kilobyte.
struct SetElement {
    std::array<std::byte, 4> key{};  ///< the set's NFTNL_SET_KEY_LEN first bytes count
    std::uint32_t flags = 0;         ///< NFT_SET_ELEM_*
    std::array<std::byte, 16> data{};
    std::uint32_t data_length = 0;   ///< 0: the map, if it is one, leads to a chain
    std::string jump = {};           ///< a chain, or empty
    bool open_end = false;           ///< the interval ends where the keys do: nft wants to be told when it lists
};

struct SetContent {
    SetHandle declaration;
    std::vector<SetElement> elements;
};

/// Appends messages to a Batch. libnftnl's builders do no bounds checks, so each message is built in room for the longest
/// one: an attribute of 64 KiB, and the rest.
class Messages {
public:
    enum class WithLabels { no, yes };
    explicit Messages(WithLabels with_labels);

    /// `type` is an NFT_MSG_*, `flags` beside NLM_F_REQUEST. `build` puts the payload behind the header.
    /// `label` makes the text.
    template <class Label, class Build>
    void add(std::uint16_t type, Family family, std::uint16_t flags, const Label& label, Build build)
    {
        build(begin(type, family, flags));
        end(with_labels_ == WithLabels::yes ? label() : std::string());
    }

    /// The elements of `set`, whose declaration has table, name and id, in as many messages as they need.
    void add_elements(Family family, const SetContent& set, const std::function<std::string()>& label);

    /// The batch with its end; the last message before that asks for the acknowledgement.
    [[nodiscard]] Batch finish();

private:
    nlmsghdr* begin(std::uint16_t type, Family family, std::uint16_t flags);
    void end(std::string label);
    void put_control(std::uint16_t type, std::string label);

    WithLabels with_labels_;
    Batch batch_;
    std::vector<std::byte> room_;
    std::size_t last_ = 0;  ///< where the last message starts
    std::uint32_t sequence_ = 0;
};

}  // namespace mape::nft
