// Bytes of messages for tests: hex in and out, and every way of damaging them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <linux/netlink.h>

namespace wire {

using Bytes = std::vector<std::byte>;

inline Bytes from_hex(std::string_view hex)
{
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
}

inline std::string to_hex(const Bytes& bytes)
{
    std::string hex;
    for (const std::byte b : bytes) {
        hex += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
        hex += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
    }
    return hex;
}

inline nlmsghdr header_of(const Bytes& message)
{
    nlmsghdr header{};
    std::memcpy(&header, message.data(), sizeof header);
    return header;
}

inline void set_header(Bytes& message, const nlmsghdr& header) { std::memcpy(message.data(), &header, sizeof header); }

/// Calls `parse` with `message` cut at every length, with the length field as it was and adjusted; and with every byte
/// replaced by some others. Each time in a buffer of just that size, so that AddressSanitizer sees a byte too many.
/// What comes back does not matter: only that it comes back.
template <class Parse>
void damage(const Bytes& message, Parse&& parse)
{
    for (std::size_t length = 0; length <= message.size(); ++length) {
        Bytes cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
        cut.shrink_to_fit();
        parse(cut);
        if (length >= sizeof(nlmsghdr)) {
            nlmsghdr header = header_of(cut);
            header.nlmsg_len = static_cast<std::uint32_t>(length);
            set_header(cut, header);
            parse(cut);
        }
    }
    Bytes changed = message;
    for (std::byte& b : changed) {
        const std::byte before = b;
        for (const unsigned other : {0x00U, 0x01U, 0x03U, 0x04U, 0x7fU, 0x80U, 0xffU}) {
            b = static_cast<std::byte>(other);
            parse(changed);
        }
        b = before;
    }
}

}  // namespace wire
