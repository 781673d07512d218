// Everything a user can state, from the configuration file and the command line alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "map/line.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/port_range.h"
#include "nft/napt.h"

namespace mape {

/// [nat] reserve: "last-ranges 2" or ports of the set that source NAT must not use.
struct LastRanges {
    std::uint32_t count;
};
using Reservation = std::variant<LastRanges, PortRange>;

/// [tunnel] rule: "iif br0 pref 1000", "from 192.168.1.0/24 pref 1000".
struct RuleSelector {
    std::optional<InterfaceName> iif;
    std::optional<Ipv4Prefix> from;
    std::uint32_t preference;
};

enum class DefaultRouteMode { yes, no, prepend };

/// Keys of the configuration by section; a member per key, nullopt or empty where nothing was stated.
struct Settings {
    // [interfaces]
    std::optional<InterfaceName> wan;      ///< auto: device of the IPv6 default route
    std::vector<InterfaceName> lan;        ///< auto: every up device with an IPv4 address but WAN, tunnel, lo
    // [map]
    LineFields line;
    // [tunnel]
    std::optional<InterfaceName> tunnel;   ///< default: NAME
    std::optional<std::uint32_t> mtu;      ///< 1280..65495; auto: WAN MTU - 40
    bool bind_device = true;
    DefaultRouteMode default_route = DefaultRouteMode::yes;
    std::uint32_t metric = 0;
    std::optional<std::uint32_t> table = 254;  ///< nullopt: off, no route is set
    std::vector<RuleSelector> rules;
    bool forwarding = true;
    // [nat]
    std::vector<Reservation> reserve;
    std::optional<std::vector<nft::Protocol>> protocols;  ///< default: those of NaptParameters
    bool all_protocols = false;
    // [filter]
    bool inbound_open = false;
    std::vector<OpenPorts> open;
    std::vector<LanNotrack> lan_notrack;
    std::optional<nft::LimitRate> log_rate = nft::LimitRate{5, nft::LimitRate::Per::minute};  ///< nullopt: off

    Origins origins;  ///< where each stated value came from, by key
};

/// How an error names a key: "mape0.conf:7: reserve", "--reserve", or the key alone where it was not stated.
[[nodiscard]] std::string stated_key(const Settings& settings, std::string_view key);

}  // namespace mape
