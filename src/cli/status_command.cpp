// status: what is in place, what differs, what was counted, a verdict.
#include "apply/session.h"
#include "apply/untranslated.h"
#include "cli/commands.h"
#include "cli/tunnel_text.h"
#include "netlink/nft_dump.h"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <nlohmann/json.hpp>

namespace mape::cli {

namespace {

constexpr int exit_drift = 3;

struct Report {
    Target target;
    Comparison comparison;
    std::vector<Step> drift;
    std::map<std::string, netlink::CounterValue> counters;
    std::optional<Traffic> traffic;
    std::string verdict;
};

std::map<std::string, netlink::CounterValue> read_all_counters(const Wanted& wanted)
{
    std::map<std::string, netlink::CounterValue> counters;
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return counters;
    for (const nft::Table& table : wanted.ruleset->tables)
        if (auto read = netlink::read_counters(*socket, table.name))
            counters.merge(*read);
    return counters;
}

/// What apply would do, less what cannot be looked at.
std::vector<Step> drift_of(const Comparison& comparison)
{
    std::vector<Step> drift;
    const bool blind = comparison.observed.ruleset.presence == RulesetState::Presence::unknown;
    for (const Step& step : comparison.plan.plan)
        if (!blind || !std::holds_alternative<RulesetStep>(step))
            drift.push_back(step);
    return drift;
}

std::string verdict_of(const Report& report)
{
    if (report.comparison.nothing_of_ours)
        return "nothing is applied: `mape-gen apply` does";
    return verdict(report.traffic, report.drift);
}

void print(const Report& report, Output& output)
{
    const Wanted& wanted = report.target.wanted;
    const auto line = [&output](std::string_view name, const std::string& value) {
        output.print(fmt::format("  {:<14} {}\n", name, value));
    };
    output.print(fmt::format("{}\n", report.target.tunnel.str()));
    line("IPv4", address_and_ports(report.target.line));
    line("tunnel", fmt::format("{} on {}, MTU {}", report.target.tunnel.str(), wanted.wan.str(), wanted.tunnel.mtu));
    line("CE address", to_text(wanted.tunnel.local));
    line("border relay", to_text(wanted.tunnel.remote));
    for (const auto& [name, value] : report.counters)
        if (value.packets > 0)
            line("dropped", fmt::format("{} packets: {}", value.packets, name));
    for (const std::string& dropped : untranslated_protocols(wanted.protocols, Sysctl()))
        line("note", dropped);
    for (const Step& step : report.drift)
        line("differs", fmt::format("apply would {}", to_words(step)));
    for (const std::string& change : report.comparison.observed.ruleset.changed)
        line("ruleset", change);
    output.print(report.verdict + "\n");
}

void set_json(const Report& report, Output& output)
{
    if (!output.json())
        return;
    const Wanted& wanted = report.target.wanted;
    nlohmann::ordered_json json;
    json["tunnel"] = report.target.tunnel.str();
    json["applied"] = !report.comparison.nothing_of_ours;
    json["wan"] = wanted.wan.str();
    json["ipv4"] = ipv4_text(report.target.line.edge.ipv4);
    json["ce"] = to_text(wanted.tunnel.local);
    json["br"] = to_text(wanted.tunnel.remote);
    json["mtu"] = wanted.tunnel.mtu;
    json["drift"] = steps_json(report.drift);
    json["ruleset_changes"] = report.comparison.observed.ruleset.changed;
    json["sent"] = report.traffic ? nlohmann::ordered_json(report.traffic->sent) : nlohmann::ordered_json();
    json["received"] = report.traffic ? nlohmann::ordered_json(report.traffic->received) : nlohmann::ordered_json();
    auto counters = nlohmann::ordered_json::object();
    for (const auto& [name, value] : report.counters)
        counters[name] = {{"packets", value.packets}, {"bytes", value.bytes}};
    json["counters"] = std::move(counters);
    json["verdict"] = report.verdict;
    output.set_json(std::move(json));
}

}  // namespace

Result<int> status_command(Invocation& invocation, Output& output)
{
    auto target = resolve_target(invocation, output);
    if (!target)
        return fail(std::move(target.error()));
    auto comparison = compare(target->wanted, target->network, invocation.flags.state_dir);
    if (!comparison)
        return fail(std::move(comparison.error()));
    if (!comparison->note.empty())
        output.warn(fmt::format("{}; the ruleset is left out", comparison->note));
    for (const std::string& warning : comparison->plan.warnings)
        output.warn(warning);

    Report report{std::move(*target), std::move(*comparison), {}, {}, {}, {}};
    report.drift = drift_of(report.comparison);
    report.counters = read_all_counters(report.target.wanted);
    report.traffic = read_traffic(report.target.tunnel);
    report.verdict = verdict_of(report);
    print(report, output);
    set_json(report, output);
    return report.drift.empty() && !report.comparison.nothing_of_ours ? 0 : exit_drift;
}

}  // namespace mape::cli
