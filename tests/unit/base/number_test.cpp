#include "base/number.h"

#include <doctest/doctest.h>

using mape::parse_number;

TEST_CASE("numbers, decimal and hexadecimal, within their limits")
{
    CHECK(parse_number("0", 0, 15) == 0U);
    CHECK(parse_number("15", 0, 15) == 15U);
    CHECK(parse_number("007", 0, 15) == 7U);
    CHECK(parse_number("0x0f", 0, 15) == 15U);
    CHECK(parse_number("0XFF", 0, 255) == 255U);
    CHECK(parse_number("4294967295", 0, 4294967295) == 4294967295U);
    CHECK(parse_number("0xffffffff", 0, 4294967295) == 4294967295U);
    CHECK(parse_number("5", 5, 5) == 5U);
}

TEST_CASE("what is not a number, or out of its limits")
{
    for (const char* text : {"", " ", "x", "0x", "0xg", "1 ", " 1", "+1", "-1", "1.0", "1e3", "--1", "0x-1", "0x+1", "0x0x1", "12a"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_number(text, 0, 4294967295).has_value());
    }
    CHECK_FALSE(parse_number("16", 0, 15).has_value());
    CHECK_FALSE(parse_number("4", 5, 15).has_value());
    CHECK_FALSE(parse_number("4294967296", 0, 4294967295).has_value());
    CHECK_FALSE(parse_number("99999999999999999999999", 0, 4294967295).has_value());
    CHECK_FALSE(parse_number(std::string_view("1\0", 2), 0, 15).has_value());
}
