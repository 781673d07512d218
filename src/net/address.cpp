#include "net/address.h"

#include "base/number.h"

#include <algorithm>
#include <arpa/inet.h>
#include <fmt/format.h>

namespace mape {

namespace {

struct SplitPrefix {
    std::string_view address;
    std::string_view length;  // empty where there was no '/'
    bool has_length;
};

SplitPrefix split(std::string_view text)
{
    const auto slash = text.find('/');
    if (slash == std::string_view::npos)
        return {text, {}, false};
    return {text.substr(0, slash), text.substr(slash + 1), true};
}

std::uint32_t ipv4_mask(unsigned length)
{
    return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}

}  // namespace

Result<Ipv4Address> Ipv4Address::parse(std::string_view text)
{
    in_addr raw{};
    if (text.find('\0') != std::string_view::npos || inet_pton(AF_INET, std::string(text).c_str(), &raw) != 1)
        return fail(input_error(fmt::format("\"{}\" is not an IPv4 address such as 192.0.2.1", text)));
    return Ipv4Address{ntohl(raw.s_addr)};
}

Result<Ipv6Address> Ipv6Address::parse(std::string_view text)
{
    Ipv6Address address;
    if (text.find('\0') != std::string_view::npos
        || inet_pton(AF_INET6, std::string(text).c_str(), address.bytes.data()) != 1)
        return fail(input_error(fmt::format("\"{}\" is not an IPv6 address such as 2001:db8::1", text)));
    return address;
}

std::uint64_t Ipv6Address::bits(unsigned first, unsigned count) const
{
    std::uint64_t value = 0;
    for (unsigned bit = first; bit < first + count; ++bit)
        value = value << 1 | ((bytes[bit / 8] >> (7 - bit % 8)) & 1U);
    return value;
}

void Ipv6Address::set_bits(unsigned first, unsigned count, std::uint64_t value)
{
    for (unsigned i = 0; i < count; ++i) {
        const unsigned bit = first + count - 1 - i;
        const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
        if ((value >> i) & 1U)
            bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | mask);
        else
            bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] & ~mask);
    }
}

std::uint16_t Ipv6Address::group(unsigned index) const
{
    return static_cast<std::uint16_t>(bits(index * 16, 16));
}

Result<Ipv4Prefix> Ipv4Prefix::parse(std::string_view text)
{
    const SplitPrefix parts = split(text);
    auto address = Ipv4Address::parse(parts.address);
    const auto length = parts.has_length ? parse_number(parts.length, 0, 32) : 32U;
    if (!address || !length)
        return fail(input_error(fmt::format("\"{}\" is not an IPv4 prefix such as 192.0.2.0/24", text)));
    const Ipv4Prefix prefix{{address->value & ipv4_mask(*length)}, *length};
    if (prefix.address != *address)
        return fail(input_error(fmt::format("{} has host bits set: did you mean {}?", text, to_text(prefix))));
    return prefix;
}

bool Ipv4Prefix::contains(Ipv4Address other) const
{
    return (other.value & ipv4_mask(length)) == address.value;
}

Ipv4Address Ipv4Prefix::last() const
{
    return {address.value | ~ipv4_mask(length)};
}

Result<Ipv6Prefix> Ipv6Prefix::parse(std::string_view text)
{
    const SplitPrefix parts = split(text);
    auto address = Ipv6Address::parse(parts.address);
    const auto length = parts.has_length ? parse_number(parts.length, 0, 128) : std::nullopt;
    if (!address || !length)
        return fail(input_error(fmt::format("\"{}\" is not an IPv6 prefix such as 2001:db8:12:3400::/56", text)));
    const Ipv6Prefix prefix = of(*address, *length);
    if (prefix.address != *address)
        return fail(input_error(fmt::format("{} has host bits set: did you mean {}?", text, to_text(prefix))));
    return prefix;
}

Ipv6Prefix Ipv6Prefix::of(const Ipv6Address& address, unsigned length)
{
    Ipv6Prefix prefix{address, length};
    std::size_t byte = length / 8;
    if (length % 8 != 0) {
        prefix.address.bytes[byte] &= static_cast<std::uint8_t>(0xff00U >> (length % 8));
        ++byte;
    }
    std::fill(prefix.address.bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(byte, 16)),
              prefix.address.bytes.end(), std::uint8_t{0});
    return prefix;
}

bool Ipv6Prefix::contains(const Ipv6Address& other) const
{
    return of(other, length).address == address;
}

bool Ipv6Prefix::contains(const Ipv6Prefix& other) const
{
    return other.length >= length && contains(other.address);
}

std::string to_text(Ipv4Address address)
{
    return fmt::format("{}.{}.{}.{}", address.value >> 24, address.value >> 16 & 0xff, address.value >> 8 & 0xff,
                       address.value & 0xff);
}

std::string to_text(const Ipv6Address& address)
{
    char text[INET6_ADDRSTRLEN];
    return inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
}

std::string to_text(const Ipv4Prefix& prefix)
{
    return fmt::format("{}/{}", to_text(prefix.address), prefix.length);
}

std::string to_text(const Ipv6Prefix& prefix)
{
    return fmt::format("{}/{}", to_text(prefix.address), prefix.length);
}

}  // namespace mape
