#include "apply/step.h"

#include "apply/step_text.h"
#include "base/overloaded.h"

#include <fmt/format.h>
#include <utility>

namespace mape {

std::string address_text(const AnyAddress& address)
{
    return std::visit([](const auto& value) { return to_text(value); }, address);
}

bool is_ipv6(const AnyAddress& address)
{
    return std::holds_alternative<Ipv6Address>(address);
}

std::string selector_text(const PolicyRule& rule)
{
    std::string text;
    if (rule.from)
        text += fmt::format(" from {}", to_text(*rule.from));
    if (rule.iif)
        text += fmt::format(" iif {}", rule.iif->str());
    return text;
}

std::string table_text(std::uint32_t table)
{
    return table == 254 ? "main" : fmt::format("{}", table);
}

RulesetContent unknown_ruleset()
{
    return {"unknown", {}, {}};
}

bool is_unknown(const RulesetContent& content)
{
    return content.batch->empty();
}

Step inverse(const Step& step)
{
    Step undo = step;
    std::visit([](auto& s) { std::swap(s.from, s.to); }, undo);
    return undo;
}

std::string identity(const Step& step)
{
    return std::visit(
        overloaded{
            [](const AddressStep& s) { return fmt::format("address {} {}", s.device.str(), address_text(s.address)); },
            [](const TunnelStep& s) { return fmt::format("tunnel {}", s.name.str()); },
            [](const LinkStateStep& s) { return fmt::format("link state {}", s.name.str()); },
            [](const RulesetStep& s) { return fmt::format("ruleset {}", s.tunnel.str()); },
            [](const EgressStep& s) { return fmt::format("egress {}", s.tunnel.str()); },
            [](const FlowsStep& s) { return fmt::format("flows {}", to_text(s.address)); },
            [](const RouteStep& s) {
                return fmt::format("route {} {} {}", s.route.device.str(), s.route.table, s.route.metric);
            },
            [](const PolicyRuleStep& s) {
                return fmt::format("rule {}{} {}", s.rule.preference, selector_text(s.rule), s.rule.table);
            },
            [](const SysctlStep& s) { return fmt::format("sysctl {}", s.key); },
            [](const ForwardingStep&) { return std::string("forwarding"); },
        },
        step);
}

Step join_undo(const Step& earlier, const Step& later)
{
    Step joined = earlier;
    std::visit(
        [&later](auto& s) {
            using Kind = std::remove_reference_t<decltype(s)>;
            s.from = std::get<Kind>(later).from;
        },
        joined);
    return joined;
}

bool is_nothing(const Step& step)
{
    // Flows that are gone do not come back.
    if (const auto* flows = std::get_if<FlowsStep>(&step); flows && flows->to)
        return true;
    return std::visit([](const auto& s) { return s.from == s.to; }, step);
}

int rank(const Step& step)
{
    return std::visit(overloaded{
                          [](const EgressStep&) { return 0; },
                          [](const AddressStep& s) { return is_ipv6(s.address) ? 1 : 5; },
                          [](const TunnelStep&) { return 2; },
                          [](const RulesetStep&) { return 3; },
                          [](const LinkStateStep&) { return 4; },
                          [](const SysctlStep&) { return 6; },
                          [](const ForwardingStep&) { return 7; },
                          [](const PolicyRuleStep&) { return 8; },
                          [](const RouteStep&) { return 9; },
                          [](const FlowsStep&) { return 10; },
                      },
                      step);
}

}  // namespace mape
