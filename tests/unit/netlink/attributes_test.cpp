#include "netlink/attributes.h"

#include <doctest/doctest.h>

#include "netlink/message_builder.h"
#include "wire.h"

using namespace mape;
using namespace mape::netlink;

namespace {

// The attributes alone, without the message's header.
wire::Bytes attributes(MessageBuilder builder)
{
    const Message message = builder.finish();
    return {message.begin() + NLMSG_HDRLEN, message.end()};
}

}  // namespace

TEST_CASE("values come back as they were written")
{
    MessageBuilder builder(0, 0);
    const auto address = *Ipv6Address::parse("2001:db8::1");
    builder.u8(1, 1).u16(2, 0x0203).u32(3, 0x04050607).be16(4, 0x0809).be32(5, 0x0a0b0c0d).text_nul(6, "eth0").text(7, "x");
    builder.ipv6(8, address).ipv4(9, Ipv4Address{0xc0000201});
    builder.nest(10 | NLA_F_NESTED, [&] { builder.u32(1, 99); });
    const wire::Bytes bytes = attributes(std::move(builder));
    const Attributes read(bytes, "thing");
    CHECK(read.u8(1) == 1);
    CHECK(read.u16(2) == 0x0203);
    CHECK(read.u32(3) == 0x04050607);
    CHECK(read.be16(4) == 0x0809);
    CHECK(read.be32(5) == 0x0a0b0c0d);
    CHECK(read.text(6) == "eth0");
    CHECK(read.text(7) == "x");
    CHECK(read.ipv6(8) == address);
    CHECK(read.ipv4(9) == Ipv4Address{0xc0000201});
    CHECK(read.nested(10).u32(1) == 99);
    CHECK_FALSE(read.has(11));
    CHECK_FALSE(read.u32(11).has_value());
    CHECK_FALSE(read.nested(11).has(1));
    CHECK(read.check());
}

TEST_CASE("of equal attributes the last one counts")
{
    MessageBuilder builder(0, 0);
    builder.u32(1, 10).u32(1, 20);
    const wire::Bytes bytes = attributes(std::move(builder));
    CHECK(Attributes(bytes, "thing").u32(1) == 20);
}

TEST_CASE("a short attribute is an error only when it is asked for")
{
    MessageBuilder builder(0, 0);
    builder.u8(1, 1).nest(2, [&] { builder.u8(3, 1); });
    const wire::Bytes bytes = attributes(std::move(builder));
    const Attributes read(bytes, "thing");
    CHECK(read.u8(1) == 1);
    CHECK(read.check());
    CHECK_FALSE(read.nested(2).u32(3).has_value());
    REQUIRE_FALSE(read.check());
    CHECK(read.check().error().message == "malformed thing, attribute 2 from the kernel: attribute 3 has 1 bytes, not 4");
    CHECK_FALSE(read.u32(1).has_value());
    CHECK(read.check().error().message == "malformed thing, attribute 2 from the kernel: attribute 3 has 1 bytes, not 4");
}

TEST_CASE("an attribute that claims too much or too little is an error")
{
    const auto message_of = [](const char* hex) {
        const wire::Bytes bytes = wire::from_hex(hex);
        const auto result = Attributes(bytes, "thing").check();
        return result ? std::string("good") : result.error().message;
    };
    CHECK(message_of("") == "good");
    CHECK(message_of("0800010000000000") == "good");
    CHECK(message_of("08000100000000") == "malformed thing from the kernel: attribute 1 claims 8 bytes of 7");
    CHECK(message_of("ffff010000000000") == "malformed thing from the kernel: attribute 1 claims 65535 bytes of 8");
    CHECK(message_of("0300010000000000") == "malformed thing from the kernel: attribute 1 claims 3 bytes of 8");
    CHECK(message_of("0000000000000000") == "malformed thing from the kernel: attribute 0 claims 0 bytes of 8");
    CHECK(message_of("0500010001") == "good");          // the last one need not be padded
    CHECK(message_of("0500010001000000" "0000") == "good");  // nor is padding behind it wrong
    CHECK(message_of("0500010001000000" "0001") ==
          "malformed thing from the kernel: 2 bytes are left where an attribute should start");
}
