#include "../../support/sample_plan.h"
#include "../../support/temporary_directory.h"
#include "apply/observed.h"
#include "base/file.h"

#include <doctest/doctest.h>

using namespace mape;
using namespace mape::test;

TEST_CASE("what was remembered of a ruleset comes back, byte for byte")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("ruleset");
    const RulesetMemory memory{sample_ruleset(), {"table ip mape_mape0", "", "rule with \"quotes\" and \xff"}};
    REQUIRE(write_ruleset_memory(path, memory));
    const auto read = read_ruleset_memory(path);
    REQUIRE(read);
    CHECK(read->content.mark == memory.content.mark);
    CHECK(read->content.text == memory.content.text);
    CHECK(read->content.batch == memory.content.batch);
    CHECK(read->dump == memory.dump);
}

TEST_CASE("a memory that is missing, cut at any length, longer or of another format is none")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("ruleset");
    CHECK_FALSE(read_ruleset_memory(path));
    REQUIRE(write_ruleset_memory(path, {sample_ruleset(), {"a line"}}));
    const std::string whole = *read_file(path, 1 << 20);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        REQUIRE(replace_file(path, whole.substr(0, length)));
        CHECK_FALSE(read_ruleset_memory(path));
    }
    REQUIRE(replace_file(path, whole + "x"));
    CHECK_FALSE(read_ruleset_memory(path));
    REQUIRE(replace_file(path, "{}\n" + whole));
    CHECK_FALSE(read_ruleset_memory(path));
}
