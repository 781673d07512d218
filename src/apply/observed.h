// The state there is, as far as it concerns one tunnel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/ruleset_memory.h"
#include "apply/step.h"
#include "base/result.h"
#include "netlink/nft_dump.h"
#include "netlink/nft_dump_raw.h"
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
    std::string translation;               ///< of it: translation_text(); empty if it is not known
    bool egress_shut = false;              ///< the way into the tunnel is still shut: a run that changed it did not end
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

/// `network` and what else concerns one tunnel; needs no privilege but for the nf_tables part, which is `unknown` without.
[[nodiscard]] Observed observe(netlink::NetworkState network, const InterfaceName& tunnel,
                               const std::vector<std::string>& sysctl_keys, std::optional<RulesetMemory> memory,
                               const Sysctl& sysctl);

/// Our tables as the kernel shows them, for RulesetMemory.
[[nodiscard]] Result<netlink::RawTables> dump_ruleset(const InterfaceName& tunnel);

}  // namespace mape
