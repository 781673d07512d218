// Statements as nf_tables expressions, as nft 1.0.6 compiles them: not for others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "nft/batch_messages.h"
#include "nft/ruleset.h"

namespace mape::nft {

/// A named map of the rule's table.
struct MapReference {
    std::uint32_t id;  ///< within the batch
    bool interval;
};

/// What a rule asks of the batch it is for.
struct RuleContext {
    /// Puts an anonymous set into the batch, before the rule, and returns its id.
    std::function<std::uint32_t(SetContent)> add_set;
    std::function<MapReference(const std::string&)> find_map;
};

/// The rule with its expressions and comment; table and chain are not set.
[[nodiscard]] RuleHandle expressions_of(const Rule& rule, const RuleContext& context);

}  // namespace mape::nft
