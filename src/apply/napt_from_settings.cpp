#include "apply/napt_from_settings.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape {

namespace {

std::string nearest_text(const PortSet& set, std::uint16_t port)
{
    std::string text;
    for (const PortRange range : nearest_ranges(set, port))
        text += fmt::format("{}{}", text.empty() ? "" : " and ", to_text(range));
    return text;
}

// The first port of `range` that is not of the set.
std::optional<std::uint16_t> first_outside(const PortSet& set, PortRange range)
{
    for (std::uint32_t port = range.first; port <= range.last; ++port)
        if (!set.contains(static_cast<std::uint16_t>(port)))
            return static_cast<std::uint16_t>(port);
    return std::nullopt;
}

Result<void> refuse_outside(const Settings& settings, std::string_view name, const PortSet& set, PortRange range)
{
    const auto port = first_outside(set, range);
    if (!port)
        return {};
    return fail(input_error(fmt::format("{}: port {}{} is not one of this line's; the nearest of its ports: {}",
                                        stated_key(settings, name), *port,
                                        range.size() > 1 ? fmt::format(" of {}", to_text(range)) : "",
                                        nearest_text(set, *port))));
}

Result<std::vector<PortRange>> reserved_ranges(const Settings& settings, const PortSet& set)
{
    const std::vector<PortRange> ranges = set.ranges();
    std::vector<PortRange> reserved;
    for (const Reservation& reservation : settings.reserve) {
        if (const auto* range = std::get_if<PortRange>(&reservation)) {
            if (auto inside = refuse_outside(settings, "reserve", set, *range); !inside)
                return fail(inside.error());
            reserved.push_back(*range);
            continue;
        }
        const std::uint32_t count = std::get<LastRanges>(reservation).count;
        if (count > ranges.size())
            return fail(input_error(fmt::format("{}: last-ranges {}, but this line has {} {} only", stated_key(settings, "reserve"),
                                                count, ranges.size(), ranges.size() == 1 ? "range" : "ranges")));
        reserved.insert(reserved.end(), ranges.end() - static_cast<std::ptrdiff_t>(count), ranges.end());
    }
    if (!reserved.empty() && source_ports(set, reserved).empty())
        return fail(input_error(fmt::format("{}: all {} ports of this line are reserved, none is left for source NAT",
                                            stated_key(settings, "reserve"), set.port_count())));
    return reserved;
}

}  // namespace

Result<NaptParameters> napt_from_settings(const Settings& settings, const Line& line, const InterfaceName& tunnel,
                                          const std::optional<InterfaceName>& wan, unsigned mtu, std::string version)
{
    const PortSet& set = line.edge.ports;
    auto reserved = reserved_ranges(settings, set);
    if (!reserved)
        return fail(reserved.error());
    for (const OpenPorts& open : settings.open)
        if (auto inside = refuse_outside(settings, "open", set, open.ports); !inside)
            return fail(inside.error());
    if (settings.all_protocols && set.shared())
        return fail(input_error(fmt::format("{} = all, but {} is shared by {} lines: only protocols with ports can be told apart",
                                            stated_key(settings, "protocols"), to_text(line.edge.ipv4.address), set.sharing_ratio()),
                                "allowed: tcp udp icmp udplite sctp dccp"));

    NaptParameters parameters{.tunnel = tunnel,
                              .wan = wan,
                              .br = line.br,
                              .ipv4 = line.edge.ipv4,
                              .ports = set,
                              .tunnel_mtu = mtu,
                              .reserved = std::move(*reserved),
                              .all_protocols = settings.all_protocols,
                              .inbound_open = settings.inbound_open,
                              .open = settings.open,
                              .lan_notrack = settings.lan_notrack,
                              .log_rate = settings.log_rate,
                              .version = std::move(version)};
    if (settings.protocols)
        parameters.protocols = *settings.protocols;
    return parameters;
}

}  // namespace mape
