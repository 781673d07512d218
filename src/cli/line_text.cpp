#include "cli/line_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape::cli {

std::string aligned(const std::vector<std::pair<std::string, std::string>>& rows)
{
    std::size_t width = 0;
    for (const auto& [name, value] : rows)
        width = std::max(width, name.size());
    std::string text;
    for (const auto& [name, value] : rows)
        text += fmt::format("{:<{}}  {}\n", name, width, value);
    return text;
}

std::string ranges_text(const PortSet& ports, bool every)
{
    const std::vector<PortRange> ranges = ports.ranges();
    constexpr std::size_t few = 4;
    std::string text;
    if (every || ranges.size() <= few) {
        for (const PortRange range : ranges)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", to_text(range));
        return text;
    }
    return fmt::format("{}, {} ... {}, one every {}", to_text(ranges[0]), to_text(ranges[1]), to_text(ranges.back()),
                       ranges[1].first - ranges[0].first);
}

std::string rule_source_text(const Line& line)
{
    if (!line.isp)
        return line.rule_source;
    return fmt::format("{}, {}: {}", *line.isp, line.confidence ? to_text(*line.confidence) : "", line.rule_source);
}

std::string line_text(const Line& line, unsigned mtu, bool every_range)
{
    const CustomerEdge& edge = line.edge;
    const PortSet& ports = edge.ports;
    std::vector<std::pair<std::string, std::string>> rows;
    rows.emplace_back("IPv4", edge.ipv4.length < 32 ? fmt::format("{}, all of it for this line", to_text(edge.ipv4))
                              : ports.shared() ? fmt::format("{}, shared by {} lines", to_text(edge.ipv4.address),
                                                             ports.sharing_ratio())
                                               : fmt::format("{}, not shared", to_text(edge.ipv4.address)));
    if (ports.shared()) {
        rows.emplace_back("ports", fmt::format("{} in {} {}: {}", ports.port_count(), ports.range_count(),
                                               ports.range_count() == 1 ? "range" : "ranges", ranges_text(ports, every_range)));
        rows.emplace_back("PSID", fmt::format("{}, {} bits behind an offset of {}", ports.psid(), ports.psid_length(),
                                              ports.offset()));
    } else {
        rows.emplace_back("ports", "all 65536");
    }
    rows.emplace_back("CE address", fmt::format("{} ({})", to_text(edge.ce), to_text(line.rule.iid())));
    rows.emplace_back("border relay", line.br ? to_text(*line.br) : "not known; apply needs it: --br");
    rows.emplace_back("prefix", to_text(edge.end_user_prefix));
    if (line.rule_source != "fixed address")
        rows.emplace_back("rule", fmt::format("{} -> {}, EA length {}", to_text(line.rule.ipv6_prefix()),
                                              to_text(line.rule.ipv4_prefix()), line.rule.ea_length()));
    rows.emplace_back("source", rule_source_text(line));
    rows.emplace_back("tunnel MTU", fmt::format("{}", mtu));
    return aligned(rows);
}

std::string explained_text(const Line& line)
{
    std::size_t name_width = 0;
    std::size_t value_width = 0;
    for (const Explained& row : line.explained) {
        name_width = std::max(name_width, row.name.size());
        value_width = std::max(value_width, row.value.size());
    }
    std::string text;
    for (const Explained& row : line.explained)
        text += fmt::format("{:<{}}  {:<{}}  {}\n", row.name, name_width, row.value, value_width, row.source);
    return text;
}

}  // namespace mape::cli
