#include "cli/commands.h"
#include "cli/json.h"
#include "cli/line.h"

#include "apply/napt_from_settings.h"
#include "nft/text.h"

#include <fmt/format.h>

namespace mape::cli {

Result<int> ruleset_command(Invocation& invocation, Output& output)
{
    const auto line = resolve_invocation(invocation, output);
    if (!line)
        return fail(line.error());
    const Settings& settings = invocation.settings;
    const InterfaceName tunnel = tunnel_name(invocation);
    const auto parameters = napt_from_settings(settings, *line, tunnel, settings.wan, mtu_without_device(settings, *line),
                                               MAPE_VERSION);
    if (!parameters)
        return fail(parameters.error());
    const auto ruleset = napt_ruleset(*parameters);
    if (!ruleset)
        return fail(ruleset.error());
    if (!settings.wan)
        output.note("no WAN device is stated (--wan): the rule that counts IPv6 packets from the border relay is left out");
    else if (!line->br)
        output.note("no border relay is known (--br): the rule that counts IPv6 packets from it is left out");
    const std::string text = nft::to_text(*ruleset);
    if (output.json())
        set_ruleset(output, tunnel.str(), table_name(tunnel), text);
    else
        output.print(text);
    return 0;
}

}  // namespace mape::cli
