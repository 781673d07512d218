// The state the settings ask for, object by object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apply/settings.h"
#include "apply/step.h"
#include "base/result.h"
#include "map/line.h"
#include "netlink/objects.h"
#include "netlink/rtnl_read.h"

namespace mape {

struct Wanted {
    InterfaceName wan;
    DeviceAddress ce;
    Tunnel tunnel;
    DeviceAddress ipv4;
    Shared<nft::Ruleset> ruleset;
    std::string mark;                    ///< of the ruleset
    std::string translation;             ///< translation_text()
    PortSet ports;
    std::vector<nft::Protocol> protocols;  ///< that it translates
    bool lan_notrack = false;            ///< it takes LAN traffic out of conntrack
    std::optional<DefaultRoute> route;
    std::vector<PolicyRule> rules;
    std::vector<SysctlStep> values;      ///< `to` counts; the tunnel's own, there only once it is
    bool forwarding;
    std::vector<std::string> warnings;
};

/// The ruleset as the kernel takes it.
[[nodiscard]] RulesetContent content_of(const Shared<nft::Ruleset>& ruleset);

/// The WAN device: [interfaces] wan, or the device of the IPv6 default route. Error (exit 1): no such device (names those
/// there are), no IPv6 default route.
[[nodiscard]] Result<InterfaceName> choose_wan(const Settings& settings, const netlink::NetworkState& network);

/// Error (exit 1) with what to do: WAN down or without IPv6. Error (exit 2): no border relay, an MTU that the tunnel cannot
/// have, what napt_ruleset() refuses.
[[nodiscard]] Result<Wanted> want(const Settings& settings, const Line& line, const InterfaceName& tunnel,
                                  const netlink::NetworkState& network, std::string version);

}  // namespace mape
