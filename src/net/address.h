// IPv4 and IPv6 addresses and prefixes as values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mape {

/// An IPv4 address; `value` is in host order, so 192.0.2.1 is 0xc0000201.
struct Ipv4Address {
    std::uint32_t value = 0;

    /// Dotted quad only, as inet_pton reads it.
    [[nodiscard]] static Result<Ipv4Address> parse(std::string_view text);
    auto operator<=>(const Ipv4Address&) const = default;
};

/// An IPv6 address; bytes in network order. Bit 0 is the most significant bit of bytes[0].
struct Ipv6Address {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] static Result<Ipv6Address> parse(std::string_view text);
    /// Bits [first, first+count) as a number, most significant first. count <= 64, first+count <= 128.
    [[nodiscard]] std::uint64_t bits(unsigned first, unsigned count) const;
    /// Overwrites bits [first, first+count) with the low `count` bits of `value`.
    void set_bits(unsigned first, unsigned count, std::uint64_t value);
    /// The 16-bit group number `index` (0..7), as between two colons.
    [[nodiscard]] std::uint16_t group(unsigned index) const;
    auto operator<=>(const Ipv6Address&) const = default;
};

/// Address and length (0..32); host bits are zero: parse() and make() refuse others.
struct Ipv4Prefix {
    Ipv4Address address;
    unsigned length = 32;

    /// "192.0.2.0/24"; without "/" a length of 32.
    [[nodiscard]] static Result<Ipv4Prefix> parse(std::string_view text);
    [[nodiscard]] bool contains(Ipv4Address other) const;
    [[nodiscard]] Ipv4Address last() const;
    auto operator<=>(const Ipv4Prefix&) const = default;
};

/// Address and length (0..128); host bits are zero: parse() refuses others.
struct Ipv6Prefix {
    Ipv6Address address;
    unsigned length = 128;

    /// "2001:db8::/32"; a length is required.
    [[nodiscard]] static Result<Ipv6Prefix> parse(std::string_view text);
    /// The prefix of `length` that holds `address`.
    [[nodiscard]] static Ipv6Prefix of(const Ipv6Address& address, unsigned length);
    [[nodiscard]] bool contains(const Ipv6Address& other) const;
    [[nodiscard]] bool contains(const Ipv6Prefix& other) const;
    auto operator<=>(const Ipv6Prefix&) const = default;
};

/// Canonical text (RFC 5952 for IPv6).
[[nodiscard]] std::string to_text(Ipv4Address address);
[[nodiscard]] std::string to_text(const Ipv6Address& address);
[[nodiscard]] std::string to_text(const Ipv4Prefix& prefix);
[[nodiscard]] std::string to_text(const Ipv6Prefix& prefix);

}  // namespace mape
