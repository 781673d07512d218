#include "netlink/attributes.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fmt/format.h>
#include <linux/netlink.h>

namespace mape::netlink {

Attributes::Attributes(std::span<const std::byte> bytes, std::string where)
    : Attributes(bytes, std::move(where), std::make_shared<std::optional<Error>>())
{
}

Attributes::Attributes(std::span<const std::byte> bytes, std::string where, std::shared_ptr<std::optional<Error>> error)
    : where_(std::move(where)), error_(std::move(error))
{
    while (!bytes.empty()) {
        nlattr header{};
        if (bytes.size() < sizeof header) {
            // Padding behind the last attribute is legal, half an attribute header is not: the kernel pads with less
            // than NLA_ALIGNTO, which is the header's own size, so what is left here can only be told by its content.
            if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; }))
                note(fmt::format("{} bytes are left where an attribute should start", bytes.size()));
            return;
        }
        std::memcpy(&header, bytes.data(), sizeof header);
        const unsigned type = header.nla_type & NLA_TYPE_MASK;
        if (header.nla_len < sizeof header || header.nla_len > bytes.size()) {
            note(fmt::format("attribute {} claims {} bytes of {}", type, header.nla_len, bytes.size()));
            return;
        }
        entries_.push_back({type, bytes.subspan(sizeof header, header.nla_len - sizeof header)});
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(header.nla_len), bytes.size()));
    }
}

const Attributes::Entry* Attributes::find(unsigned type) const
{
    const auto it = std::find_if(entries_.rbegin(), entries_.rend(), [type](const Entry& e) { return e.type == type; });
    return it == entries_.rend() ? nullptr : &*it;
}

void Attributes::note(std::string message) const
{
    if (!*error_)
        *error_ = failure(fmt::format("malformed {} from the kernel: {}", where_, message));
}

std::optional<std::span<const std::byte>> Attributes::bytes(unsigned type, std::size_t size) const
{
    const Entry* entry = find(type);
    if (!entry)
        return std::nullopt;
    if (entry->payload.size() < size) {
        note(fmt::format("attribute {} has {} bytes, not {}", type, entry->payload.size(), size));
        return std::nullopt;
    }
    return entry->payload;
}

template <class T>
std::optional<T> Attributes::number(unsigned type) const
{
    const auto payload = bytes(type, sizeof(T));
    if (!payload)
        return std::nullopt;
    T value{};
    std::memcpy(&value, payload->data(), sizeof value);
    return value;
}

std::optional<std::uint8_t> Attributes::u8(unsigned type) const { return number<std::uint8_t>(type); }
std::optional<std::uint16_t> Attributes::u16(unsigned type) const { return number<std::uint16_t>(type); }
std::optional<std::uint32_t> Attributes::u32(unsigned type) const { return number<std::uint32_t>(type); }

std::optional<std::uint16_t> Attributes::be16(unsigned type) const
{
    const auto value = number<std::uint16_t>(type);
    return value ? std::optional(ntohs(*value)) : std::nullopt;
}

std::optional<std::uint32_t> Attributes::be32(unsigned type) const
{
    const auto value = number<std::uint32_t>(type);
    return value ? std::optional(ntohl(*value)) : std::nullopt;
}

std::optional<Ipv4Address> Attributes::ipv4(unsigned type) const
{
    const auto value = be32(type);
    return value ? std::optional(Ipv4Address{*value}) : std::nullopt;
}

std::optional<Ipv6Address> Attributes::ipv6(unsigned type) const
{
    const auto value = number<std::array<std::uint8_t, 16>>(type);
    return value ? std::optional(Ipv6Address{*value}) : std::nullopt;
}

std::optional<std::string> Attributes::text(unsigned type) const
{
    const auto payload = bytes(type);
    if (!payload)
        return std::nullopt;
    const auto* chars = reinterpret_cast<const char*>(payload->data());
    return std::string(chars, std::find(chars, chars + payload->size(), '\0'));
}

Attributes Attributes::nested(unsigned type) const
{
    const Entry* entry = find(type);
    return Attributes(entry ? entry->payload : std::span<const std::byte>{}, fmt::format("{}, attribute {}", where_, type),
                      error_);
}

Result<void> Attributes::check() const
{
    if (*error_)
        return fail(**error_);
    return {};
}

}  // namespace mape::netlink
