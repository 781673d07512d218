// The state there is, as far as it concerns one tunnel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/step.h"
#include "base/result.h"
#include "netlink/nft_dump.h"
#include "netlink/rtnl_read.h"
#include "nft/ruleset.h"
#include "sysctl/sysctl.h"

namespace mape {

/// Tables mape_TUNNEL in the kernel.
struct RulesetState {
    enum class Presence {
        unknown,  ///< not allowed to look, or no nf_tables: `why`
        absent,
        ours,
        foreign,  ///< tables of our name without our mark
    } presence = Presence::unknown;
    std::string why;
    std::string mark;                      ///< of what we loaded last, if it is still whole
    std::vector<std::string> changed;      ///< lines that differ from what we loaded: "missing: ...", "added: ..."
    std::optional<RulesetContent> loaded;  ///< what we loaded last, as the state directory remembers it
};

struct Observed {
    netlink::NetworkState network;
    RulesetState ruleset;
    std::vector<netlink::ForeignNatChain> foreign_nat;
    std::vector<std::string> stateful_input;    ///< tables of others with stateful rules at input: "inet filter"
    std::string forwarding;                     ///< net/ipv4/ip_forward; empty: unreadable
    std::optional<ForwardingStep> inherited;    ///< how another line of ours, which turned it on, would undo that
    std::map<std::string, std::string> values;  ///< sysctl keys that were asked for and are there
};

/// What the state directory remembers of a ruleset: written after each load.
struct RulesetMemory {
    RulesetContent content;
    std::vector<std::string> dump;  ///< the kernel's own view right after the load, normalised
};
[[nodiscard]] std::optional<RulesetMemory> read_ruleset_memory(const std::string& path);
[[nodiscard]] Result<void> write_ruleset_memory(const std::string& path, const RulesetMemory& memory);

/// Dumps everything; needs no privilege but for the nf_tables part, which is `unknown` without.
[[nodiscard]] Result<Observed> observe(const InterfaceName& tunnel, const std::vector<std::string>& sysctl_keys,
                                       const std::optional<RulesetMemory>& memory, const Sysctl& sysctl);

/// The normalised dump of our tables, for RulesetMemory.
[[nodiscard]] Result<std::vector<std::string>> dump_ruleset(const InterfaceName& tunnel);

}  // namespace mape
