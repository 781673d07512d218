#include "net/address.h"

#include <doctest/doctest.h>

using namespace mape;

namespace {

template <class T>
std::string error(const Result<T>& result)
{
    return result ? "no error" : to_text(result.error());
}

}  // namespace

TEST_CASE("IPv4 addresses")
{
    CHECK(Ipv4Address::parse("192.0.2.1")->value == 0xc0000201);
    CHECK(Ipv4Address::parse("255.255.255.255")->value == 0xffffffff);
    CHECK(to_text(Ipv4Address{0xc0000201}) == "192.0.2.1");
    CHECK(to_text(Ipv4Address{0}) == "0.0.0.0");
    for (const char* text : {"", "192.0.2", "192.0.2.256", "192.0.2.1 ", "0xc0000201", "192.0.2.1/32", "::1"}) {
        CAPTURE(text);
        CHECK_FALSE(Ipv4Address::parse(text).has_value());
    }
    CHECK_FALSE(Ipv4Address::parse(std::string_view("192.0.2.1\0", 10)).has_value());
    CHECK(error(Ipv4Address::parse("192.0.2")) == "\"192.0.2\" is not an IPv4 address such as 192.0.2.1");
}

TEST_CASE("IPv6 addresses")
{
    const Ipv6Address address = *Ipv6Address::parse("2001:db8:12:3400:0:c000:212:34");
    CHECK(address.bytes[0] == 0x20);
    CHECK(address.bytes[15] == 0x34);
    CHECK(address.group(0) == 0x2001);
    CHECK(address.group(3) == 0x3400);
    CHECK(address.group(7) == 0x34);
    CHECK(to_text(address) == "2001:db8:12:3400:0:c000:212:34");
    CHECK(to_text(*Ipv6Address::parse("2001:0DB8:0:0:1:0:0:1")) == "2001:db8::1:0:0:1");
    for (const char* text : {"", "2001:db8", "2001:db8::g", "192.0.2.1", "fe80::1%eth0", "2001:db8::/32", "::1 "}) {
        CAPTURE(text);
        CHECK_FALSE(Ipv6Address::parse(text).has_value());
    }
    CHECK_FALSE(Ipv6Address::parse(std::string_view("::1\0", 4)).has_value());
}

TEST_CASE("bits of an IPv6 address")
{
    Ipv6Address address = *Ipv6Address::parse("2001:db8:12:3400::ffff");
    CHECK(address.bits(0, 16) == 0x2001);
    CHECK(address.bits(40, 16) == 0x1234);
    CHECK(address.bits(0, 64) == 0x20010db800123400);
    CHECK(address.bits(64, 64) == 0xffff);
    CHECK(address.bits(112, 16) == 0xffff);
    CHECK(address.bits(111, 2) == 1);
    CHECK(address.bits(128, 0) == 0);
    address.set_bits(40, 16, 0xabcdef);
    CHECK(to_text(address) == "2001:db8:cd:ef00::ffff");
    address.set_bits(112, 16, 0);
    address.set_bits(127, 1, 1);
    CHECK(to_text(address) == "2001:db8:cd:ef00::1");
    address.set_bits(3, 0, 1);
    CHECK(to_text(address) == "2001:db8:cd:ef00::1");
}

TEST_CASE("every field of bits reads back, and nothing else changes")
{
    const Ipv6Address pattern = *Ipv6Address::parse("0123:4567:89ab:cdef:fedc:ba98:7654:3210");
    unsigned wrong = 0;
    for (unsigned first = 0; first <= 128; ++first) {
        for (unsigned count = 0; count <= 64 && first + count <= 128; count += 7) {
            Ipv6Address changed = pattern;
            const std::uint64_t inverted = ~pattern.bits(first, count);
            changed.set_bits(first, count, inverted);
            for (unsigned bit = 0; bit < 128; bit += 3) {
                const bool inside = bit >= first && bit < first + count;
                wrong += (changed.bits(bit, 1) != pattern.bits(bit, 1)) != inside;
            }
            changed.set_bits(first, count, ~inverted);
            wrong += changed != pattern;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("IPv4 prefixes")
{
    const Ipv4Prefix prefix = *Ipv4Prefix::parse("192.0.2.0/24");
    CHECK(prefix.length == 24);
    CHECK(to_text(prefix) == "192.0.2.0/24");
    CHECK(to_text(prefix.last()) == "192.0.2.255");
    CHECK(prefix.contains(Ipv4Address{0xc00002ff}));
    CHECK_FALSE(prefix.contains(Ipv4Address{0xc0000300}));
    CHECK(Ipv4Prefix::parse("192.0.2.1")->length == 32);
    CHECK(Ipv4Prefix::parse("0.0.0.0/0")->contains(Ipv4Address{0xffffffff}));
    CHECK(Ipv4Prefix::parse("0.0.0.0/0")->last().value == 0xffffffff);
    CHECK(error(Ipv4Prefix::parse("192.0.2.1/24")) == "192.0.2.1/24 has host bits set: did you mean 192.0.2.0/24?");
    CHECK(error(Ipv4Prefix::parse("192.0.2.1/0")) == "192.0.2.1/0 has host bits set: did you mean 0.0.0.0/0?");
    for (const char* text : {"192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/24/24", "/24", "192.0.2.0/255.255.255.0"}) {
        CAPTURE(text);
        CHECK(error(Ipv4Prefix::parse(text)).find("is not an IPv4 prefix such as 192.0.2.0/24") != std::string::npos);
    }
}

TEST_CASE("IPv6 prefixes")
{
    const Ipv6Prefix prefix = *Ipv6Prefix::parse("2001:db8:12:3400::/56");
    CHECK(to_text(prefix) == "2001:db8:12:3400::/56");
    CHECK(prefix.contains(*Ipv6Address::parse("2001:db8:12:34ff:ffff:ffff:ffff:ffff")));
    CHECK_FALSE(prefix.contains(*Ipv6Address::parse("2001:db8:12:3500::")));
    CHECK(prefix.contains(prefix));
    CHECK(prefix.contains(*Ipv6Prefix::parse("2001:db8:12:3412::/64")));
    CHECK_FALSE(prefix.contains(*Ipv6Prefix::parse("2001:db8:12::/48")));
    CHECK(Ipv6Prefix::parse("::/0")->contains(prefix));
    CHECK(Ipv6Prefix::of(*Ipv6Address::parse("2001:db8:12:34ff::1"), 56) == prefix);
    CHECK(Ipv6Prefix::of(prefix.address, 128).length == 128);
    CHECK(error(Ipv6Prefix::parse("2001:db8::1/64")) == "2001:db8::1/64 has host bits set: did you mean 2001:db8::/64?");
    for (const char* text : {"2001:db8::", "2001:db8::/129", "2001:db8::/", "2001:db8::/x", "/64", "192.0.2.0/24", "::/0/0"}) {
        CAPTURE(text);
        CHECK(error(Ipv6Prefix::parse(text)).find("is not an IPv6 prefix such as 2001:db8:12:3400::/56") != std::string::npos);
    }
}
