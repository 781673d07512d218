#include <doctest/doctest.h>

#include "nft/ruleset.h"

using namespace mape::nft;

TEST_CASE("protocols by name")
{
    for (const Protocol protocol :
         {Protocol::icmp, Protocol::tcp, Protocol::udp, Protocol::dccp, Protocol::sctp, Protocol::udplite})
        CHECK(parse_protocol(to_text(protocol)) == protocol);
    for (const char* text : {"", "TCP", "gre", "tcp ", "6", "all"}) {
        CAPTURE(text);
        const auto parsed = parse_protocol(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().kind == mape::ErrorKind::input);
        CHECK(parsed.error().message.find("udplite") != std::string::npos);
    }
}

TEST_CASE("rates")
{
    for (const char* text : {"5/minute", "1/second", "1000000/hour", "7/day"}) {
        const auto rate = LimitRate::parse(text);
        REQUIRE(rate);
        CHECK(to_text(*rate) == text);
    }
    for (const char* text : {"", "5", "/minute", "0/minute", "5/", "5/week", "5/minutes", "-5/minute", "1000001/day",
                             "5/minute ", "5 /minute", "5/minute/minute"}) {
        CAPTURE(text);
        CHECK(!LimitRate::parse(text));
    }
}

TEST_CASE("a map has interval keys as soon as one element has more than one")
{
    CHECK_FALSE(VerdictMap{"m", {{0, 0, "a"}, {1, 1, "b"}}}.interval());
    CHECK(VerdictMap{"m", {{0, 0, "a"}, {1, 2, "b"}}}.interval());
}
