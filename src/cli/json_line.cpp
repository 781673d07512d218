#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace mape::cli {

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value)
{
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

ordered_json line_fields(const Line& line, unsigned mtu, bool explain)
{
    const CustomerEdge& edge = line.edge;
    const PortSet& ports = edge.ports;
    ordered_json ranges = ordered_json::array();
    for (const PortRange range : ports.ranges())
        ranges.push_back({range.first, range.last});
    ordered_json explained = nullptr;
    if (explain) {
        explained = ordered_json::array();
        for (const Explained& row : line.explained)
            explained.push_back({{"name", row.name}, {"value", row.value}, {"source", row.source}});
    }
    return {
        {"isp", or_null(line.isp)},
        {"rule",
         {{"ipv6_prefix", to_text(line.rule.ipv6_prefix())},
          {"ipv4_prefix", to_text(line.rule.ipv4_prefix())},
          {"ea_length", line.rule.ea_length()},
          {"psid_offset", line.rule.psid_offset()},
          {"source", line.rule_source},
          {"confidence", line.confidence ? ordered_json(to_text(*line.confidence)) : ordered_json(nullptr)}}},
        {"end_user_prefix", to_text(edge.end_user_prefix)},
        {"ipv4", edge.ipv4.length == 32 ? to_text(edge.ipv4.address) : to_text(edge.ipv4)},
        {"psid", ports.shared() ? ordered_json(ports.psid()) : ordered_json(nullptr)},
        {"psid_length", ports.psid_length()},
        {"psid_offset", line.rule.psid_offset()},
        {"sharing_ratio", ports.sharing_ratio()},
        {"ce", to_text(edge.ce)},
        {"br", line.br ? ordered_json(to_text(*line.br)) : ordered_json(nullptr)},
        {"iid", to_text(line.rule.iid())},
        {"mtu", mtu},
        {"port_ranges", ranges},
        {"port_count", ports.port_count()},
        {"explain", explained},
    };
}

void set_line(Output& output, const Line& line, unsigned mtu, bool explain)
{
    output.set_json(line_fields(line, mtu, explain));
}

std::string ndjson_line(const Line& line, unsigned mtu, bool explain)
{
    const ordered_json fields = line_fields(line, mtu, explain);
    return to_line(envelope(&fields, {}, false, line.warnings, nullptr));
}

std::string ndjson_error(std::string_view names, const Error& error)
{
    return to_line(envelope(nullptr, names, false, {}, &error));
}

}  // namespace mape::cli
