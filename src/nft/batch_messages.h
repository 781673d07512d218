// nf_tables messages, one after the other into one buffer: not for others.
#pragma once

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

/// Appends messages to a Batch. libnftnl's builders do no bounds checks, so each message is built in room for the longest
/// one: an attribute of 64 KiB, and the rest.
class Messages {
public:
    Messages();

    /// `type` is an NFT_MSG_*, `flags` beside NLM_F_REQUEST. `build` puts the payload behind the header.
    template <class Build>
    void add(std::uint16_t type, Family family, std::uint16_t flags, std::string label, Build build)
    {
        build(begin(type, family, flags));
        end(std::move(label));
    }

    /// The elements of `set` in as many messages as they need, in time linear in their number.
    void add_elements(Family family, nftnl_set* set, const std::string& label);

    /// The batch with its end; the last message before that asks for the acknowledgement.
    [[nodiscard]] Batch finish();

private:
    nlmsghdr* begin(std::uint16_t type, Family family, std::uint16_t flags);
    void end(std::string label);
    void put_control(std::uint16_t type, std::string label);

    Batch batch_;
    std::vector<std::byte> room_;
    std::size_t last_ = 0;  ///< where the last message starts
    std::uint32_t sequence_ = 0;
};

}  // namespace mape::nft
