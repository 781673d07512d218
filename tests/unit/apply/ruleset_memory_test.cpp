#include "../../support/sample_plan.h"
#include "../../support/temporary_directory.h"
#include "apply/ruleset_memory.h"
#include "base/file.h"

#include <doctest/doctest.h>

using namespace mape;
using namespace mape::test;

namespace {

const JournalScope scope{"boot-1", "4026531840", "mape0"};

RulesetMemory sample_memory()
{
    return {scope, sample_ruleset(), "153.240.174.134 6/6/44", 4294967295U, {std::byte{0}, std::byte{0x0a}, std::byte{0xff}}};
}

}  // namespace

TEST_CASE("what was remembered of a ruleset comes back, byte for byte")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("ruleset");
    const RulesetMemory memory = sample_memory();
    REQUIRE(replace_file(path, to_text(memory)));
    const auto read = read_ruleset_memory(path, scope);
    REQUIRE(read);
    CHECK(read->content.mark == memory.content.mark);
    CHECK(!read->content.model);
    CHECK(*read->content.batch == *memory.content.batch);
    CHECK(read->translation == memory.translation);
    CHECK(read->generation == memory.generation);
    CHECK(read->dump == memory.dump);
    CHECK(to_text(memory).size() < size_to_expect(memory.content));
}

TEST_CASE("a memory that is missing, cut at any length, longer or of another format is none")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("ruleset");
    CHECK_FALSE(read_ruleset_memory(path, scope));
    const std::string whole = to_text(sample_memory());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        REQUIRE(replace_file(path, whole.substr(0, length)));
        CHECK_FALSE(read_ruleset_memory(path, scope));
    }
    REQUIRE(replace_file(path, whole + "x"));
    CHECK_FALSE(read_ruleset_memory(path, scope));
    REQUIRE(replace_file(path, "{}\n" + whole));
    CHECK_FALSE(read_ruleset_memory(path, scope));
}

TEST_CASE("a memory of another boot or namespace is none: generations of two namespaces may be equal")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("ruleset");
    REQUIRE(replace_file(path, to_text(sample_memory())));
    CHECK_FALSE(read_ruleset_memory(path, {"boot-2", scope.netns, "mape0"}));
    CHECK_FALSE(read_ruleset_memory(path, {"boot-1", "1", "mape0"}));
    CHECK_FALSE(read_ruleset_memory(path, {"boot-1", scope.netns, "mape1"}));
}

TEST_CASE("a translation is an address and a port set")
{
    const Ipv4Prefix address = *Ipv4Prefix::parse("192.0.2.1/32");
    CHECK(translation_text(address, *PortSet::make(6, 6, 44)) == "192.0.2.1 6/6/44");
    CHECK(translation_text(address, *PortSet::make(6, 0, 0)) == translation_text(address, *PortSet::make(4, 0, 0)));
    CHECK(translation_text(*Ipv4Prefix::parse("192.0.2.0/28"), *PortSet::make(6, 0, 0)) == "192.0.2.0/28");
}
