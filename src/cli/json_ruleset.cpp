#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace mape::cli {

void set_ruleset(Output& output, const std::string& tunnel, const std::string& table, const std::string& ruleset)
{
    output.set_json({{"tunnel", tunnel}, {"table", table}, {"ruleset", ruleset}});
}

}  // namespace mape::cli
