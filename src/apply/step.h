// One change of the box: an object or a value, what it is now and what it shall be.
//
// Every step says both sides, so its undo is the same step with the sides swapped, and undoing is just another plan.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/shared.h"
#include "map/port_set.h"
#include "netlink/objects.h"
#include "netlink/socket.h"
#include "nft/ruleset.h"

namespace mape {

/// A ruleset as the kernel gets it; `mark` names it.
struct RulesetContent {
    std::string mark;
    Shared<std::vector<std::byte>> batch;
    std::optional<Shared<nft::Ruleset>> model;  ///< for persons; none of one that was loaded before: state files have the batch only
    bool operator==(const RulesetContent& other) const { return mark == other.mark; }
};

/// In the place of one that is loaded and that nobody remembers: it cannot be loaded again.
[[nodiscard]] RulesetContent unknown_ruleset();
[[nodiscard]] bool is_unknown(const RulesetContent& content);

struct AddressStep {
    InterfaceName device;
    std::variant<Ipv4Address, Ipv6Address> address;
    std::optional<DeviceAddress> from;
    std::optional<DeviceAddress> to;
};

struct TunnelStep {
    InterfaceName name;
    std::optional<Tunnel> from;
    std::optional<Tunnel> to;
};

struct LinkStateStep {
    InterfaceName name;
    bool from;  ///< up?
    bool to;
};

/// Tables mape_TUNNEL of every family, replaced in one transaction.
struct RulesetStep {
    InterfaceName tunnel;
    std::optional<RulesetContent> from;
    std::optional<RulesetContent> to;
};

/// The way into the tunnel, shut while endpoints and ruleset do not belong together: a table of its own, family inet, in which
/// everything that leaves through the tunnel is dropped. Addresses, routes and flows stay as they are meanwhile.
struct EgressStep {
    InterfaceName tunnel;
    bool from;  ///< open?
    bool to;
};

/// Entries of conntrack that are translated to an address, or to ports of it, which is ours no longer: without them the next
/// packet of such a flow gets a new translation. Nothing brings them back; the undo of this step does nothing.
struct FlowsStep {
    Ipv4Address address;
    std::optional<PortSet> kept;  ///< entries with ports of this set stay; none: all go
    bool from = true;             ///< there?
    bool to = false;
};

struct RouteStep {
    DefaultRoute route;
    bool from;  ///< present?
    bool to;
};

struct PolicyRuleStep {
    PolicyRule rule;
    bool from;  ///< present?
    bool to;
};

/// A value below /proc/sys. Compare and swap: a value that is neither `from` nor `to` is somebody else's and stays.
struct SysctlStep {
    std::string key;  ///< "net/ipv4/conf/mape0/rp_filter"
    std::string from;
    std::string to;
};

/// net.ipv4.ip_forward, which resets others on the side (net/ipv4/devinet.c, inet_forward_change).
/// `before` are those others as they were; on the way back they are restored, except where somebody has since
/// set one to another value than the kernel had made of it.
struct ForwardingStep {
    bool from;  ///< on?
    bool to;
    std::map<std::string, std::string> before;
};

using Step = std::variant<AddressStep, TunnelStep, LinkStateStep, RulesetStep, EgressStep, FlowsStep, RouteStep,
                          PolicyRuleStep, SysctlStep, ForwardingStep>;

/// The undo of a step that has been performed.
[[nodiscard]] Step inverse(const Step& step);

/// Two steps with equal identity are about the same object or value: "tunnel mape0", "sysctl net/ipv4/ip_forward".
[[nodiscard]] std::string identity(const Step& step);

/// The undo of two runs as one: `later` undoes the second run, `earlier` the first; the result leads from where the
/// second run ended to where the first one began. Both must have the same identity.
[[nodiscard]] Step join_undo(const Step& earlier, const Step& later);

/// Place of a step in a plan that builds up, so that no packet can leave untranslated at any moment: CE address, tunnel
/// (down), ruleset, tunnel up, IPv4 address, values, policy rules, default route last. Undo runs the other way.
[[nodiscard]] int rank(const Step& step);

/// True where from and to are the same, or where nothing can be done: a step that performs nothing.
[[nodiscard]] bool is_nothing(const Step& step);

/// "add the CE address 2400:...::/128 to eth0", in words a person understands.
[[nodiscard]] std::string to_words(const Step& step);

/// The commands of `ip`, `nft` and `sysctl` that do the same, for sh; one or more lines.
[[nodiscard]] std::string to_shell(const Step& step);

/// One JSON object on one line, for the journal, and back. `from_json` never trusts its input.
[[nodiscard]] std::string to_json(const Step& step);
[[nodiscard]] Result<Step> step_from_json(const std::string& text);

}  // namespace mape
