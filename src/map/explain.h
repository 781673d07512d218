// The rows of `calc --explain`: each value of a line with the input it came from.
#pragma once

#include "map/line.h"

namespace mape {

/// What a line was resolved from. `row` is the table row its rule comes from, null where the rule was stated.
struct Inputs {
    const LineFields& fields;
    const Origins& origins;
    const RuleRow* row;
};

[[nodiscard]] std::vector<Explained> explain(const Line& line, const Inputs& inputs);

/// Where the value of `key` was stated; the key itself where `origins` does not say.
[[nodiscard]] std::string origin(const Origins& origins, std::string_view key);

}  // namespace mape
