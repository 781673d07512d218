// nf_tables messages: requests that read, attributes in the order they came. Not for others than nft_dump.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "netlink/reply.h"
#include "nft/ruleset.h"

namespace mape::netlink {

/// NFPROTO_* of a family.
[[nodiscard]] std::uint8_t protocol_family(nft::Family family);
/// nullopt: one that nft::Family does not have (arp, bridge).
[[nodiscard]] std::optional<nft::Family> family_of(std::uint8_t protocol_family);

/// NFT_MSG_GET... for `family` (NFPROTO_UNSPEC: all), filtered by what `names` says: attribute type and text.
struct NamedAttribute {
    unsigned type;
    std::string_view text;
};
[[nodiscard]] Message read_request(unsigned type, std::uint8_t family, std::initializer_list<NamedAttribute> names = {});

/// nfgen_family of a message; nullopt if it is too short for one.
[[nodiscard]] std::optional<std::uint8_t> family_in(const nlmsghdr& message);
/// What follows the nfgenmsg; empty if the message is too short.
[[nodiscard]] std::span<const std::byte> attributes_in(const nlmsghdr& message);

struct RawAttribute {
    unsigned type;
    std::span<const std::byte> payload;
};
/// All of them in their order. Error: one that claims more bytes than there are.
[[nodiscard]] Result<std::vector<RawAttribute>> raw_attributes(std::span<const std::byte> bytes);

/// Text with one NUL, at the end; nullopt for anything else.
[[nodiscard]] std::optional<std::string> as_text(std::span<const std::byte> payload);

/// nft's comment in user data (libnftnl/udata.h: type, length, value); empty if there is none. `type` is the
/// NFTNL_UDATA_*_COMMENT, 0 for tables.
[[nodiscard]] std::string comment_in(std::span<const std::byte> user_data, std::uint8_t type);

/// One expression of a rule: NFTA_EXPR_NAME and what is in NFTA_EXPR_DATA.
struct RawExpression {
    std::string name;
    std::vector<RawAttribute> data;
};
[[nodiscard]] Result<std::vector<RawExpression>> raw_expressions(std::span<const std::byte> rule_expressions);

}  // namespace mape::netlink
