#include "map/interface_identifier.h"

#include "values.h"

using namespace mape;
using namespace mape::test;

TEST_CASE("interface identifiers, PSID right-aligned in both formats")
{
    CHECK(interface_identifier(IidFormat::rfc7597, v4("192.0.2.18"), 0x34) == v6("::0:c000:212:34").bits(64, 64));
    CHECK(interface_identifier(IidFormat::draft03, v4("14.9.26.101"), 0xa1) == v6("::e:91a:6500:a100").bits(64, 64));
    CHECK(interface_identifier(IidFormat::rfc7597, v4("255.255.255.255"), 0xffff) == 0x0000ffffffffffffULL);
    CHECK(interface_identifier(IidFormat::draft03, v4("255.255.255.255"), 0xffff) == 0x00ffffffffffff00ULL);
    CHECK(interface_identifier(IidFormat::draft03, v4("198.51.100.123"), 0) == v6("::c6:3364:7b00:0").bits(64, 64));
}

TEST_CASE("names of the formats")
{
    CHECK(parse_iid_format("rfc7597") == IidFormat::rfc7597);
    CHECK(parse_iid_format("draft03") == IidFormat::draft03);
    CHECK(to_text(IidFormat::rfc7597) == "rfc7597");
    CHECK(to_text(IidFormat::draft03) == "draft03");
    for (const char* text : {"", "draft", "draft03 ", "RFC7597", "draft-03"})
        CHECK_FALSE(parse_iid_format(text).has_value());
}
