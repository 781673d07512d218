// What apply, revert and status say alike.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apply/wanted.h"
#include "cli/invocation.h"
#include "cli/output.h"
#include "map/line.h"

namespace mape::cli {

/// Everything apply and status need before they look at the box's own state.
struct Target {
    InterfaceName tunnel;
    Line line;
    Wanted wanted;
    netlink::NetworkState network;  ///< that `wanted` was derived from
};
/// Resolves the line, reads the network, derives the wanted state. Needs no privilege.
[[nodiscard]] Result<Target> resolve_target(Invocation& invocation, Output& output);

/// "153.240.174.134", or "192.0.2.0/24" for an assigned prefix.
[[nodiscard]] std::string ipv4_text(const Ipv4Prefix& ipv4);

/// "153.240.174.134, 1008 ports (PSID 44 of 64)" or "203.0.113.115, all ports".
[[nodiscard]] std::string address_and_ports(const Line& line);

/// "IPv4 was interrupted for 3.2 ms"; empty where it was not up before.
[[nodiscard]] std::string outage_sentence(const std::optional<std::chrono::microseconds>& outage);

/// Packets through the tunnel since it was made.
struct Traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};
[[nodiscard]] std::optional<Traffic> read_traffic(const InterfaceName& tunnel);

/// A sentence that a tired person can use: "IPv4 works: 812 sent, 790 received"; with steps that are still to be done, what
/// they mean for IPv4: without the CE address, tunnel, ruleset or route nothing works, whatever was counted before.
[[nodiscard]] std::string verdict(const std::optional<Traffic>& traffic, const std::vector<Step>& drift = {});

/// "1 step", "7 steps"
[[nodiscard]] std::string count(std::size_t number, std::string_view noun);

/// The steps as an array for --json: words, commands, kind, from, to.
[[nodiscard]] nlohmann::ordered_json steps_json(const std::vector<Step>& steps);

}  // namespace mape::cli
