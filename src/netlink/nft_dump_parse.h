// What single nf_tables messages say, from their bytes alone: no socket here. Not for others than nft_dump.
//
// Each takes one message of an answer, as reply.h's Each gets it. Short and lying attributes are errors. Spans and raw
// attributes point into the message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "netlink/nft_dump.h"
#include "netlink/nft_messages.h"

namespace mape::netlink {

/// The number of changes that the ruleset has had, out of NFT_MSG_NEWGEN.
[[nodiscard]] Result<std::uint32_t> parse_generation(const nlmsghdr& message);

struct TableInKernel {
    std::uint8_t family;  ///< NFPROTO_*
    std::string name;
    std::string comment;
};
[[nodiscard]] Result<TableInKernel> parse_table(const nlmsghdr& message);

struct ChainInKernel {
    std::uint8_t family;
    std::string table;
    std::string name;
    std::string type;                   ///< "nat", "filter"; empty: no base chain
    std::optional<std::uint32_t> hook;  ///< NF_INET_*
    int priority = 0;
};
[[nodiscard]] Result<ChainInKernel> parse_chain(const nlmsghdr& message);

struct RuleInKernel {
    std::uint8_t family;
    std::string table;
    std::string chain;
    std::span<const std::byte> expressions;  ///< for raw_expressions()
};
[[nodiscard]] Result<RuleInKernel> parse_nft_rule(const nlmsghdr& message);

struct CounterInKernel {
    std::uint8_t family;
    std::string table;
    std::string name;
    CounterValue value;
};
/// nullopt: a named object of another kind.
[[nodiscard]] Result<std::optional<CounterInKernel>> parse_counter(const nlmsghdr& message);

/// The elements of a set in one message, each as its attributes; in their order.
[[nodiscard]] Result<std::vector<std::vector<RawAttribute>>> parse_elements(const nlmsghdr& message);

/// What rules compare the outgoing device with.
struct OutgoingDevices {
    bool named = false;             ///< with the device that was asked for
    std::vector<std::string> sets;  ///< looked up in these: whether they name it is for names_device() to say
};
/// Adds what one rule says. "mape*" names mape0 too.
void look_at(const std::vector<RawExpression>& expressions, const std::string& device, OutgoingDevices& found);

/// Whether an element of a set of device names is `device`. One such as "mape*", the start of an interval, is not.
[[nodiscard]] bool names_device(const std::vector<RawAttribute>& element, const std::string& device);

}  // namespace mape::netlink
