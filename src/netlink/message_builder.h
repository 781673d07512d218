// Netlink messages written into a vector that grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <linux/netlink.h>

#include "net/address.h"
#include "netlink/reply.h"

namespace mape::netlink {

/// Header, family header, attributes, in this order. Sequence number and port id stay 0 for the socket to fill in.
/// An attribute's length is 16 bits; more is a bug of the caller and throws std::length_error.
class MessageBuilder {
public:
    MessageBuilder(unsigned type, unsigned flags)
    {
        nlmsghdr header{};
        header.nlmsg_type = static_cast<std::uint16_t>(type);
        header.nlmsg_flags = static_cast<std::uint16_t>(flags);
        append(&header, sizeof header);
    }

    /// struct ifinfomsg, rtmsg, ...; before any attribute.
    template <class T>
    MessageBuilder& family_header(const T& header)
    {
        append(&header, sizeof header);
        return *this;
    }

    MessageBuilder& raw(unsigned type, const void* data, std::size_t size)
    {
        const nlattr header{checked_length(sizeof(nlattr) + size), static_cast<std::uint16_t>(type)};
        append(&header, sizeof header);
        append(data, size);
        return *this;
    }
    MessageBuilder& bytes(unsigned type, std::span<const std::byte> data) { return raw(type, data.data(), data.size()); }

    /// Host order.
    MessageBuilder& u8(unsigned type, std::uint8_t value) { return raw(type, &value, sizeof value); }
    MessageBuilder& u16(unsigned type, std::uint16_t value) { return raw(type, &value, sizeof value); }
    MessageBuilder& u32(unsigned type, std::uint32_t value) { return raw(type, &value, sizeof value); }
    /// Host order here, network order on the wire.
    MessageBuilder& be16(unsigned type, std::uint16_t value) { return u16(type, htons(value)); }
    MessageBuilder& be32(unsigned type, std::uint32_t value) { return u32(type, htonl(value)); }
    MessageBuilder& ipv4(unsigned type, Ipv4Address address) { return be32(type, address.value); }
    MessageBuilder& ipv6(unsigned type, const Ipv6Address& address)
    {
        return raw(type, address.bytes.data(), address.bytes.size());
    }
    /// With a NUL behind it, which most kernel policies for names want (NLA_NUL_STRING).
    MessageBuilder& text_nul(unsigned type, std::string_view text)
    {
        const std::string with_nul(text);
        return raw(type, with_nul.c_str(), with_nul.size() + 1);
    }
    /// Without.
    MessageBuilder& text(unsigned type, std::string_view text) { return raw(type, text.data(), text.size()); }

    /// What `fill` adds goes inside. `type` may carry NLA_F_NESTED, which older kinds of message do without.
    template <class Fill>
    MessageBuilder& nest(unsigned type, Fill&& fill)
    {
        const std::size_t start = message_.size();
        const nlattr header{sizeof(nlattr), static_cast<std::uint16_t>(type)};
        append(&header, sizeof header);
        std::forward<Fill>(fill)();
        const std::uint16_t length = checked_length(message_.size() - start);
        std::memcpy(message_.data() + start, &length, sizeof length);
        return *this;
    }

    /// Length filled in.
    [[nodiscard]] Message finish()
    {
        const auto length = static_cast<std::uint32_t>(message_.size());
        std::memcpy(message_.data(), &length, sizeof length);
        return std::move(message_);
    }

private:
    static std::uint16_t checked_length(std::size_t length)
    {
        if (length > UINT16_MAX)
            throw std::length_error("netlink attribute longer than 64 KiB");
        return static_cast<std::uint16_t>(length);
    }
    // Everything starts at a multiple of 4; the padding belongs to the message, not to the attribute's length.
    void append(const void* data, std::size_t size)
    {
        const std::size_t start = message_.size();
        message_.resize(start + NLMSG_ALIGN(size));
        if (size != 0)
            std::memcpy(message_.data() + start, data, size);
    }

    Message message_;
};

}  // namespace mape::netlink
