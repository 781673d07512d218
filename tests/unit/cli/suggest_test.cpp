#include "cli/suggest.h"

#include "cli/options.h"

#include <array>
#include <doctest/doctest.h>
#include <set>

using namespace mape::cli;

TEST_CASE("the nearest word is one that a slip of the fingers makes")
{
    constexpr std::array<std::string_view, 4> known{"apply", "calc", "check", "psid-offset"};
    CHECK(nearest_word("aply", known) == "apply");
    CHECK(nearest_word("clac", known) == "calc");  // neighbours swapped: one slip
    CHECK(nearest_word("chekc", known) == "check");
    CHECK(nearest_word("psid-ofset", known) == "psid-offset");
    CHECK_FALSE(nearest_word("cash", known));
    CHECK_FALSE(nearest_word("", known));
    CHECK_FALSE(nearest_word(std::string(100000, 'a'), known));
}

TEST_CASE("a long word does not suggest a longer key of another meaning")
{
    CHECK(suggestion("forward", option_names()) == "");
}

TEST_CASE("other tools' names, however they are written")
{
    CHECK(suggestion("peeraddr", option_names()) == "it is called br here");
    CHECK(suggestion("PeerAddr", option_names(), "--") == "it is called --br here");
    CHECK(suggestion("upstream_interface", option_names()) == "it is called wan here");
    CHECK(suggestion("psid_offset", option_names()) == "did you mean psid-offset?");
    CHECK(suggestion("encaplimit", option_names()) == "the tunnel never adds an encapsulation limit header: leave it out");
}

TEST_CASE("each foreign name stands once, is none of ours, and names one of ours")
{
    std::set<std::string_view> seen;
    for (const ForeignName& row : foreign_names()) {
        INFO(row.name);
        CHECK(seen.insert(row.name).second);
        CHECK(find_option(row.name) == nullptr);
        CHECK((row.ours.empty() ? !row.sentence.empty() : find_option(row.ours) != nullptr));
    }
}
