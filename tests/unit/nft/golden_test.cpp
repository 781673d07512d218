// Parameters in, text out, compared with tests/golden/ruleset/*.nft. MAPE_UPDATE_GOLDEN=1 writes them anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "nft/text.h"
#include "samples.h"

TEST_CASE("rulesets are the golden ones")
{
    for (const samples::Sample& sample : samples::all()) {
        if (!sample.golden)
            continue;
        CAPTURE(sample.name);
        const auto ruleset = mape::napt_ruleset(sample.parameters);
        REQUIRE(ruleset);
        const std::string text = mape::nft::to_text(*ruleset);
        const std::string path = std::string(MAPE_TEST_DATA) + "/../golden/ruleset/" + sample.name + ".nft";
        if (std::getenv("MAPE_UPDATE_GOLDEN") != nullptr)
            std::ofstream(path) << text;
        std::ifstream file(path);
        const std::string golden{std::istreambuf_iterator<char>(file), {}};
        REQUIRE_MESSAGE(!golden.empty(), "no golden file: run with MAPE_UPDATE_GOLDEN=1");
        CHECK(text == golden);
    }
}
