#include "net/interface_name.h"

#include <doctest/doctest.h>

using mape::InterfaceName;

TEST_CASE("device names")
{
    for (const char* text : {"eth0", "enx001122334455", "enp1s0.100", "v6plus-tnl", "br_lan", "eth0:1", "veth@if2", "a", "wan+", "..."}) {
        CAPTURE(text);
        const auto name = InterfaceName::parse(text);
        REQUIRE(name.has_value());
        CHECK(name->str() == text);
    }
}

TEST_CASE("what is not a device name")
{
    for (const char* text : {"", ".", "..", "sixteen-letters-", "eth 0", "eth/0", "eth*", "eth0\"", "eth0\n", "e\xc3\xa9", "a;b", "$x"}) {
        CAPTURE(text);
        const auto name = InterfaceName::parse(text);
        REQUIRE_FALSE(name.has_value());
        CHECK(name.error().message.find("is not a device name: 1 to 15") != std::string::npos);
    }
    CHECK_FALSE(InterfaceName::parse(std::string_view("eth0\0", 5)).has_value());
}
