// Steps in words a person understands.
#include "apply/step.h"

#include "apply/step_text.h"
#include "base/overloaded.h"

#include <fmt/format.h>

namespace mape {

std::string to_words(const Step& step)
{
    return std::visit(
        overloaded{
            [](const AddressStep& s) {
                const auto* kind = is_ipv6(s.address) ? "CE address" : "IPv4 address";
                const unsigned length = s.to ? s.to->prefix_length : s.from ? s.from->prefix_length : 0;
                const auto* verb = !s.to ? "remove" : s.from ? "correct" : "add";
                return fmt::format("{} the {} {}/{} {} {}", verb, kind, address_text(s.address), length,
                                   s.to ? "on" : "from", s.device.str());
            },
            [](const TunnelStep& s) {
                if (!s.to)
                    return fmt::format("delete the tunnel {}", s.name.str());
                return fmt::format("{} the tunnel {}: {} to border relay {}, MTU {}", s.from ? "change" : "create",
                                   s.name.str(), to_text(s.to->local), to_text(s.to->remote), s.to->mtu);
            },
            [](const LinkStateStep& s) { return fmt::format("set the tunnel {} {}", s.name.str(), s.to ? "up" : "down"); },
            [](const RulesetStep& s) {
                const auto* verb = !s.to ? "remove" : s.from ? "replace" : "load";
                return fmt::format("{} the nftables ruleset mape_{}", verb, s.tunnel.str());
            },
            [](const EgressStep& s) {
                return fmt::format("{} the way into the tunnel {}", s.to ? "open" : "shut", s.tunnel.str());
            },
            [](const FlowsStep& s) {
                if (s.to)
                    return fmt::format("leave the flows of {} as they are", to_text(s.address));
                return fmt::format("forget the flows of {}{}", to_text(s.address), s.kept ? " that have ports of others now" : "");
            },
            [](const RouteStep& s) {
                return fmt::format("{} the IPv4 default route through {} (table {}, metric {})", s.to ? "add" : "remove",
                                   s.route.device.str(), table_text(s.route.table), s.route.metric);
            },
            [](const PolicyRuleStep& s) {
                return fmt::format("{} the policy rule{} preference {} to table {}", s.to ? "add" : "remove",
                                   selector_text(s.rule), s.rule.preference, table_text(s.rule.table));
            },
            [](const SysctlStep& s) {
                return fmt::format("set {}{} to {}", s.key, s.from.empty() ? "" : " from " + s.from, s.to);
            },
            [](const ForwardingStep& s) { return fmt::format("turn IPv4 forwarding {}", s.to ? "on" : "off"); },
        },
        step);
}

}  // namespace mape
