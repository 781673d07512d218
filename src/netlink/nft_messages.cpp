#include "netlink/nft_messages.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "netlink/message_builder.h"

namespace mape::netlink {

std::uint8_t protocol_family(nft::Family family)
{
    switch (family) {
    case nft::Family::ip: return NFPROTO_IPV4;
    case nft::Family::ip6: return NFPROTO_IPV6;
    case nft::Family::inet: return NFPROTO_INET;
    case nft::Family::netdev: return NFPROTO_NETDEV;
    }
    return NFPROTO_UNSPEC;
}

std::optional<nft::Family> family_of(std::uint8_t protocol_family)
{
    switch (protocol_family) {
    case NFPROTO_IPV4: return nft::Family::ip;
    case NFPROTO_IPV6: return nft::Family::ip6;
    case NFPROTO_INET: return nft::Family::inet;
    case NFPROTO_NETDEV: return nft::Family::netdev;
    default: return std::nullopt;
    }
}

Message read_request(unsigned type, std::uint8_t family, std::initializer_list<NamedAttribute> names)
{
    MessageBuilder builder(NFNL_SUBSYS_NFTABLES << 8 | type, 0);
    builder.family_header(nfgenmsg{family, NFNETLINK_V0, 0});
    for (const NamedAttribute& name : names)
        builder.text_nul(name.type, name.text);
    return builder.finish();
}

std::optional<std::uint8_t> family_in(const nlmsghdr& message)
{
    const auto payload = payload_of(message);
    if (payload.size() < sizeof(nfgenmsg))
        return std::nullopt;
    nfgenmsg header;
    std::memcpy(&header, payload.data(), sizeof header);
    return header.nfgen_family;
}

std::span<const std::byte> attributes_in(const nlmsghdr& message)
{
    const auto payload = payload_of(message);
    return payload.subspan(std::min(payload.size(), sizeof(nfgenmsg)));
}

Result<std::vector<RawAttribute>> raw_attributes(std::span<const std::byte> bytes)
{
    std::vector<RawAttribute> attributes;
    while (bytes.size() >= sizeof(nlattr)) {
        nlattr header;
        std::memcpy(&header, bytes.data(), sizeof header);
        const unsigned type = header.nla_type & NLA_TYPE_MASK;
        if (header.nla_len < sizeof header || header.nla_len > bytes.size())
            return fail(failure(fmt::format("malformed nf_tables message from the kernel: attribute {} claims {} bytes "
                                            "of {}",
                                            type, header.nla_len, bytes.size())));
        attributes.push_back({type, bytes.subspan(sizeof header, header.nla_len - sizeof header)});
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(header.nla_len), bytes.size()));
    }
    return attributes;
}

std::optional<std::string> as_text(std::span<const std::byte> payload)
{
    if (payload.size() < 2 || payload.back() != std::byte{0})
        return std::nullopt;
    std::string text(reinterpret_cast<const char*>(payload.data()), payload.size() - 1);
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        return std::nullopt;
    return text;
}

std::string comment_in(std::span<const std::byte> user_data, std::uint8_t type)
{
    constexpr std::size_t header = 2;
    while (user_data.size() >= header) {
        const auto length = static_cast<std::size_t>(user_data[1]);
        if (length > user_data.size() - header)
            return {};
        if (user_data[0] == std::byte{type})
            return as_text(user_data.subspan(header, length)).value_or("");
        user_data = user_data.subspan(header + length);
    }
    return {};
}

Result<std::vector<RawExpression>> raw_expressions(std::span<const std::byte> rule_expressions)
{
    auto list = raw_attributes(rule_expressions);
    if (!list)
        return fail(std::move(list.error()));
    std::vector<RawExpression> expressions;
    expressions.reserve(list->size());
    for (const RawAttribute& element : *list) {
        auto parts = raw_attributes(element.payload);
        if (!parts)
            return fail(std::move(parts.error()));
        RawExpression& expression = expressions.emplace_back();
        for (const RawAttribute& part : *parts) {
            if (part.type == NFTA_EXPR_NAME)
                expression.name = as_text(part.payload).value_or("?");
            if (part.type != NFTA_EXPR_DATA)
                continue;
            auto data = raw_attributes(part.payload);
            if (!data)
                return fail(std::move(data.error()));
            expression.data = std::move(*data);
        }
    }
    return expressions;
}

}  // namespace mape::netlink
