#include "cli/line.h"

#include "apply/session.h"
#include "cli/auto_prefix.h"

#include <fmt/format.h>

namespace mape::cli {

namespace {

// A fixed-address line with its CE address needs no prefix.
bool needs_prefix(const LineFields& line)
{
    return !line.prefix && !line.ce;
}

Result<Line> resolve(const Invocation& invocation, Output& output)
{
    const Settings& settings = invocation.settings;
    auto line = resolve_line(settings.line, invocation.tables, settings.origins);
    if (line)
        for (const std::string& warning : line->warnings)
            output.warn(warning);
    return line;
}

}  // namespace

Result<Line> resolve_invocation(Invocation& invocation, const netlink::NetworkState& network, Output& output)
{
    Settings& settings = invocation.settings;
    if (needs_prefix(settings.line)) {
        const auto found = find_end_user_prefix(network, settings, tunnel_name(invocation), invocation.tables);
        if (!found)
            return fail(found.error());
        settings.line.prefix = found->prefix;
        settings.origins["prefix"] = found->seen;
        output.detail(fmt::format("prefix {}: {}", to_text(found->prefix), found->seen));
    }
    return resolve(invocation, output);
}

Result<Line> resolve_invocation(Invocation& invocation, Output& output)
{
    if (!needs_prefix(invocation.settings.line))
        return resolve(invocation, output);
    const auto network = read_network();
    if (!network)
        return fail(network.error());
    return resolve_invocation(invocation, *network, output);
}

unsigned mtu_without_device(const Settings& settings, const Line& line)
{
    constexpr unsigned ethernet = 1500;
    constexpr unsigned ipv6_header = 40;
    return settings.mtu.value_or(line.table_mtu.value_or(ethernet - ipv6_header));
}

}  // namespace mape::cli
