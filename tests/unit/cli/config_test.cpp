#include "cli/config.h"

#include <doctest/doctest.h>

using namespace mape;
using namespace mape::cli;

namespace {

Settings settings_of(const ConfigText& config, const std::vector<Assignment>& options = {})
{
    std::vector<ConfigError> errors = config.errors;
    Settings settings = make_settings(config, options, errors);
    for (const ConfigError& error : errors)
        FAIL_CHECK(error.error.message);
    return settings;
}

}  // namespace

TEST_CASE("comments, blanks, CRLF and a byte order mark")
{
    const ConfigText config = parse_config("\xef\xbb\xbf# first\r\n\r\n  [tunnel]  # ours\r\n ; no\r\n\tmtu  =  1400 # inline\r\n"
                                           "metric=5", "dir/mape0.conf");
    REQUIRE(config.errors.empty());
    REQUIRE(config.assignments.size() == 2);
    CHECK(config.assignments[0].row->name == "mtu");
    CHECK(config.assignments[0].value == "1400");
    CHECK(config.assignments[0].origin == "mape0.conf:5");
    CHECK(config.assignments[0].line == 5);
    const Settings settings = settings_of(config);
    CHECK(settings.mtu == 1400U);
    CHECK(settings.metric == 5);
    CHECK(settings.origins.at("metric") == "mape0.conf:6");
}

TEST_CASE("each error knows its line and key, and none hides the next")
{
    const ConfigText config = parse_config("[map]\npeeraddr = ::1\n\nmtu = 1\n[nat]\nreserve = 1\nreserve = 2\n"
                                           "protocols = tcp\nprotocols = udp\n", "f");
    REQUIRE(config.errors.size() == 3);
    CHECK(config.errors[0].line == 2);
    CHECK(config.errors[0].key == "peeraddr");
    CHECK(config.errors[1].error.message == "f:4: mtu does not belong into [map]");
    CHECK(config.errors[1].error.hint == "it belongs into [tunnel]");
    CHECK(config.errors[2].error.message == "f:9: protocols stands twice; it is in line 8 too");
    CHECK(config.assignments.size() == 3);
}

TEST_CASE("an unknown section is one error, not one a key")
{
    const ConfigText config = parse_config("[tunel]\nmtu = 1400\nmetric = 5\n", "f");
    REQUIRE(config.errors.size() == 1);
    CHECK(config.errors[0].error.hint == "did you mean [tunnel]?");
}

TEST_CASE("an option takes the place of all the file's values of its key")
{
    const ConfigText config = parse_config("[nat]\nreserve = 1\nreserve = nonsense\n[tunnel]\nmtu = 1400\n", "f");
    const Settings settings = settings_of(config, {{find_option("reserve"), "7", "--reserve", "--reserve 7", "", 0},
                                                   {find_option("reserve"), "8", "--reserve", "--reserve 8", "", 0}});
    REQUIRE(settings.reserve.size() == 2);
    CHECK(std::get<PortRange>(settings.reserve[0]) == PortRange{7, 7});
    CHECK(settings.mtu == 1400U);
    CHECK(settings.origins.at("reserve") == "--reserve");
}

TEST_CASE("any bytes: errors, never more than that")
{
    std::string text;
    for (unsigned i = 0; i < 70000; ++i)
        text += static_cast<char>(i * 2654435761U >> 13);
    CHECK_FALSE(parse_config(text, "f").errors.empty());
    for (const std::string_view line : {"[", "]", "[]", "[map", "=", "= =", "a", "[map]]", "#", ";", "[map]\n=", "[map]\nbr=#", "*=1"})
        (void)parse_config(line, "f");
}

TEST_CASE("one error out of several")
{
    const ConfigText config = parse_config("[map]\na = 1\nb = 2\n", "dir/f");
    CHECK(first_of(config.errors).hint == "1 more thing is wrong: mape-gen check dir/f lists all");
}
