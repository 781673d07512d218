// What the state directory remembers of the ruleset that was loaded last, for comparison with what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apply/journal.h"
#include "apply/step.h"
#include "base/result.h"

namespace mape {

struct RulesetMemory {
    JournalScope scope;                 ///< where it was loaded
    RulesetContent content;             ///< without the model
    std::string translation;            ///< address and port set, as translation_text() names them
    std::uint32_t generation = 0;       ///< of the namespace's ruleset right after the load
    std::vector<std::byte> dump;        ///< the kernel's own view then: netlink::RawTables::messages
};

/// nullopt: there is none, it is damaged, or it is of another boot, namespace or tunnel.
[[nodiscard]] std::optional<RulesetMemory> read_ruleset_memory(const std::string& path, const JournalScope& scope);

/// The file's content.
[[nodiscard]] std::string to_text(const RulesetMemory& memory);

/// Space to reserve for the memory of `content` before it is loaded: the kernel's view is not known yet, and longer.
[[nodiscard]] std::size_t size_to_expect(const RulesetContent& content);

/// "153.240.174.134 6/6/44", "192.0.2.0/28": flows translated to one do not fit another.
[[nodiscard]] std::string translation_text(const Ipv4Prefix& ipv4, const PortSet& ports);

}  // namespace mape
