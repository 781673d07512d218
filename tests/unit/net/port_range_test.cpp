#include "net/port_range.h"

#include <doctest/doctest.h>

using namespace mape;

TEST_CASE("port ranges")
{
    CHECK(*PortRange::parse("4928-4943") == PortRange{4928, 4943});
    CHECK(*PortRange::parse("443") == PortRange{443, 443});
    CHECK(*PortRange::parse("0-65535") == PortRange{0, 65535});
    CHECK(PortRange{0, 65535}.size() == 65536);
    CHECK(PortRange{443, 443}.size() == 1);
    CHECK(PortRange{10, 20}.contains(10));
    CHECK(PortRange{10, 20}.contains(20));
    CHECK_FALSE(PortRange{10, 20}.contains(9));
    CHECK_FALSE(PortRange{10, 20}.contains(21));
    CHECK(to_text(PortRange{4928, 4943}) == "4928-4943");
    CHECK(to_text(PortRange{443, 443}) == "443");
}

TEST_CASE("what is not a port range")
{
    for (const char* text : {"", "-", "1-", "-1", "2-1", "65536", "0-65536", "1-2-3", "1 - 2", "http", "1:2"}) {
        CAPTURE(text);
        const auto range = PortRange::parse(text);
        REQUIRE_FALSE(range.has_value());
        CHECK(range.error().message.find("is not a port or a port range such as 4928-4943 (0 to 65535)") != std::string::npos);
    }
}
