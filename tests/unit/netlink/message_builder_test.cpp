#include "netlink/message_builder.h"

#include <bit>
#include <doctest/doctest.h>

#include "wire.h"

using namespace mape;
using namespace mape::netlink;

TEST_CASE("attributes are padded to four bytes and nests know their length")
{
    if (std::endian::native != std::endian::little)
        return;
    MessageBuilder builder(16, 5);
    builder.u8(1, 0xab).be32(2, 0x01020304).nest(3, [&] { builder.text_nul(4, "abc").text(5, "de"); });
    CHECK(wire::to_hex(builder.finish()) ==
          "34000000" "1000" "0500" "00000000" "00000000"
          "0500" "0100" "ab000000"
          "0800" "0200" "01020304"
          "1400" "0300"
          "0800" "0400" "61626300"
          "0600" "0500" "64650000");
}

TEST_CASE("an attribute of 65535 bytes is the longest")
{
    const std::vector<std::byte> longest(65535 - 4);
    CHECK_NOTHROW(MessageBuilder(16, 0).bytes(1, longest));
    const std::vector<std::byte> longer(65535 - 3);
    CHECK_THROWS_AS(MessageBuilder(16, 0).bytes(1, longer), std::length_error);
    MessageBuilder builder(16, 0);
    CHECK_THROWS_AS(builder.nest(2, [&] { builder.bytes(1, longest); }), std::length_error);
}
