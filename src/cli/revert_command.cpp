// revert, and revert --dry-run.
#include "apply/session.h"
#include "base/stop_signal.h"
#include "cli/commands.h"
#include "cli/tunnel_text.h"
#include "netlink/privilege.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mape::cli {

namespace {

void set_json(Output& output, const InterfaceName& tunnel, const std::vector<Step>& steps)
{
    if (!output.json())
        return;
    nlohmann::ordered_json json;
    json["tunnel"] = tunnel.str();
    json["diff"] = steps_json(steps);
    output.set_json(std::move(json));
}

Result<int> dry_run(const InterfaceName& tunnel, const Invocation& invocation, Output& output)
{
    auto plan = revert_plan(tunnel, invocation.flags.state_dir);
    if (!plan)
        return fail(std::move(plan.error()));
    output.print(fmt::format("# {}: what revert would undo; nothing is changed by this dry run\n", tunnel.str()));
    if (plan->empty())
        output.print("# nothing to do: nothing of ours is here\n");
    for (const Step& step : *plan)
        output.print(fmt::format("\n# {}\n{}\n", to_words(step), to_shell(step)));
    set_json(output, tunnel, *plan);
    return 0;
}

}  // namespace

Result<int> revert_command(Invocation& invocation, Output& output)
{
    const InterfaceName tunnel = tunnel_name(invocation);
    if (invocation.flags.dry_run)
        return dry_run(tunnel, invocation, output);
    if (auto privileged = netlink::require_net_admin(); !privileged)
        return fail(std::move(privileged.error()));

    // A revert that has begun goes to its end; waiting for the lock can be interrupted.
    note_stop_signals();
    auto session = Session::open(tunnel, {invocation.flags.state_dir, invocation.flags.lock_timeout,
                                          [&output](const std::string& text) { output.note(text); },
                                          stop_signal_came});
    if (!session)
        return fail(std::move(session.error()));
    auto reverted = session->revert();
    if (!reverted)
        return fail(std::move(reverted.error()));
    output.set_changed(reverted->steps > 0);
    if (reverted->steps == 0)
        output.print(fmt::format("{}: nothing to do, nothing of ours is here\n", tunnel.str()));
    else
        output.print(fmt::format("{}: undone, {}\n", tunnel.str(), count(reverted->steps, "step")));
    set_json(output, tunnel, reverted->performed);
    return 0;
}

}  // namespace mape::cli
