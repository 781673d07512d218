#include "cli/line.h"

#include "cli/auto_prefix.h"
#include "netlink/socket.h"

#include <fmt/format.h>
#include <linux/netlink.h>

namespace mape::cli {

Result<Line> resolve_invocation(Invocation& invocation, Output& output)
{
    Settings& settings = invocation.settings;
    // A fixed-address line with its CE address needs no prefix.
    if (!settings.line.prefix && !settings.line.ce) {
        auto socket = netlink::Socket::open(NETLINK_ROUTE);
        if (!socket)
            return fail(socket.error());
        const auto state = netlink::NetworkState::read(*socket);
        if (!state)
            return fail(state.error());
        const auto found = find_end_user_prefix(*state, settings, tunnel_name(invocation), invocation.tables);
        if (!found)
            return fail(found.error());
        settings.line.prefix = found->prefix;
        settings.origins["prefix"] = found->seen;
        output.detail(fmt::format("prefix {}: {}", to_text(found->prefix), found->seen));
    }
    auto line = resolve_line(settings.line, invocation.tables, settings.origins);
    if (line)
        for (const std::string& warning : line->warnings)
            output.warn(warning);
    return line;
}

unsigned mtu_without_device(const Settings& settings, const Line& line)
{
    constexpr unsigned ethernet = 1500;
    constexpr unsigned ipv6_header = 40;
    return settings.mtu.value_or(line.table_mtu.value_or(ethernet - ipv6_header));
}

}  // namespace mape::cli
