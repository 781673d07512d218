// apply, and apply --dry-run.
#include "apply/session.h"
#include "apply/untranslated.h"
#include "base/stop_signal.h"
#include "cli/commands.h"
#include "cli/tunnel_text.h"
#include "netlink/privilege.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mape::cli {

namespace {

/// A document costs more than all the rest of a run that changes nothing: made only where it is asked for.
void set_json(const Target& target, const Plan& diff, const std::optional<std::chrono::microseconds>& outage,
              const nlohmann::ordered_json& sentence, Output& output)
{
    if (!output.json())
        return;
    nlohmann::ordered_json json;
    json["tunnel"] = target.tunnel.str();
    json["wan"] = target.wanted.wan.str();
    json["ipv4"] = ipv4_text(target.line.edge.ipv4);
    json["ce"] = to_text(target.line.edge.ce);
    json["br"] = to_text(target.wanted.tunnel.remote);
    json["mtu"] = target.wanted.tunnel.mtu;
    json["diff"] = steps_json(diff);
    json["outage_us"] = outage ? nlohmann::ordered_json(outage->count()) : nlohmann::ordered_json();
    json["verdict"] = sentence;
    output.set_json(std::move(json));
}

void print_plan(const Target& target, const Plan& plan, Output& output)
{
    output.print(fmt::format("# {}: this box as a MAP-E customer edge; nothing is changed by this dry run\n"
                             "# IPv4 {}, from {} on {} to border relay {}\n",
                             target.tunnel.str(), address_and_ports(target.line), to_text(target.line.edge.ce),
                             target.wanted.wan.str(), to_text(target.wanted.tunnel.remote)));
    if (plan.empty()) {
        output.print("# nothing to do: everything is as wanted\n");
        return;
    }
    output.print(fmt::format("# {}: `mape-gen apply` does that, and so does sh with this text (without journal and undo)\n",
                             count(plan.size(), "step")));
    for (const Step& step : plan)
        output.print(fmt::format("\n# {}\n{}\n", to_words(step), to_shell(step)));
}

Result<int> dry_run(const Target& target, Invocation& invocation, Output& output)
{
    auto comparison = compare(target.wanted, target.network, invocation.flags.state_dir);
    if (!comparison)
        return fail(std::move(comparison.error()));
    if (!comparison->note.empty())
        output.warn(fmt::format("{}; taken as not loaded", comparison->note));
    for (const std::string& warning : comparison->plan.warnings)
        output.warn(warning);
    print_plan(target, comparison->plan.plan, output);
    set_json(target, comparison->plan.plan, {}, nullptr, output);
    return 0;
}

}  // namespace

Result<int> apply_command(Invocation& invocation, Output& output)
{
    if (invocation.flags.dry_run) {
        const auto target = resolve_target(invocation, output);
        return target ? dry_run(*target, invocation, output) : fail(target.error());
    }
    if (auto privileged = netlink::require_net_admin(); !privileged) {
        // What was wrong with the input is told to everybody.
        const auto target = resolve_target(invocation, output);
        return fail(!target && target.error().kind == ErrorKind::input ? target.error() : privileged.error());
    }

    note_stop_signals();
    auto session = Session::open(tunnel_name(invocation), {invocation.flags.state_dir, invocation.flags.lock_timeout,
                                                           [&output](const std::string& text) { output.note(text); },
                                                           stop_signal_came});
    if (!session)
        return fail(std::move(session.error()));
    // Under the lock: what another run does must not change what is looked at here.
    auto target = resolve_target(invocation, output);
    if (!target && target.error().kind == ErrorKind::input)
        return fail(std::move(target.error()));
    if (!target) {
        auto cleaned = session->clean_up();
        return fail(std::move(cleaned ? target.error() : cleaned.error()));
    }
    std::vector<std::string> warnings;
    auto applied = session->apply(target->wanted, std::move(target->network), warnings);
    for (const std::string& warning : warnings)
        output.warn(warning);
    if (!applied)
        return fail(std::move(applied.error()));

    output.set_changed(applied->steps > 0);
    if (applied->steps == 0)
        output.print(fmt::format("{}: nothing to do, everything is as wanted\n", target->tunnel.str()));
    else
        output.print(fmt::format("{}: done, {}\n", target->tunnel.str(), count(applied->steps, "step")));
    if (const std::string outage = outage_sentence(applied->outage); applied->steps > 0 && !outage.empty())
        output.print(outage + "\n");
    output.print(fmt::format("IPv4 {}\n", address_and_ports(target->line)));
    for (const std::string& dropped : untranslated_protocols(target->wanted.protocols, Sysctl()))
        output.note(dropped);
    const std::string sentence = verdict(read_traffic(target->tunnel));
    output.print(sentence + "\n");
    set_json(*target, applied->performed, applied->outage, sentence, output);
    return 0;
}

}  // namespace mape::cli
