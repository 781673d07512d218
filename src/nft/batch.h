// A ruleset as an nf_tables netlink batch. Compiled into mape_netlink: uses libmnl and libnftnl.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "netlink/socket.h"
#include "nft/ruleset.h"

namespace mape::nft {

/// NFNL_MSG_BATCH_BEGIN, messages, NFNL_MSG_BATCH_END; what Socket::send_batch takes.
struct Batch {
    std::vector<std::byte> bytes;
    std::vector<netlink::Labelled> labels;  ///< one a message, in order, batch-begin's first; none if they were left out
};

/// Each table of `ruleset` replaced as a whole, in one transaction: added (so that it is there), deleted, added with all
/// it holds. The messages are what nft 1.0.6 sends for to_text(ruleset), expression for expression and user data for user
/// data. Pure and deterministic: same ruleset, same bytes. Sequence numbers count from 0. NLM_F_ACK is on the last inner
/// message only (an ACK a message overruns the receive buffer: nftables.md section 4).
///
/// Set elements are spread over messages whose NFTA_SET_ELEM_LIST_ELEMENTS stays below the 64 KiB of an attribute.
[[nodiscard]] Batch replace_batch(const Ruleset& ruleset);

/// The bytes of that alone: labels take as long as all the rest, and are wanted only where the kernel refuses a message.
[[nodiscard]] std::vector<std::byte> replace_batch_bytes(const Ruleset& ruleset);

/// Deletes the tables; a table that does not exist is no error.
[[nodiscard]] Batch delete_batch(const std::vector<TableName>& tables);

}  // namespace mape::nft
