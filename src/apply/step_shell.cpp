// Steps as the commands of `ip`, `nft` and `sysctl` that do the same.
#include "apply/step.h"

#include "apply/step_text.h"
#include "nft/napt.h"
#include "nft/text.h"

#include <fmt/format.h>

namespace mape {

namespace {

// iproute2 6.1 has no word for IFA_PROTO: by hand the address lacks our mark.
std::string shell(const AddressStep& s)
{
    if (!s.from && !s.to)
        return ":";  // sh's command that does nothing
    const auto* family = is_ipv6(s.address) ? "ip -6" : "ip";
    const DeviceAddress& address = s.to ? *s.to : *s.from;
    const std::string where = fmt::format("{}/{} dev {}", address_text(s.address), address.prefix_length, s.device.str());
    if (!s.to)
        return fmt::format("{} address del {}", family, where);
    return fmt::format("{} address {} {}{}{}{}", family, s.from ? "replace" : "add", where,
                       s.to->nodad ? " nodad" : "", s.to->noprefixroute ? " noprefixroute" : "",
                       s.to->deprecated ? " valid_lft forever preferred_lft 0" : "");
}

std::string shell(const TunnelStep& s)
{
    const std::string& name = s.name.str();
    if (!s.to)
        return fmt::format("ip link del dev {}", name);
    const Tunnel& t = *s.to;
    const std::string type = fmt::format("type ip6tnl mode ipip6 local {} remote {}{} hoplimit {} encaplimit none",
                                         to_text(t.local), to_text(t.remote),
                                         t.bound_to ? " dev " + t.bound_to->str() : std::string(), t.hop_limit);
    return fmt::format("ip link {0} {1} mtu {2} {3}\n"
                       "ip link set dev {4} addrgenmode none alias '{5}'",
                       s.from ? "set dev" : "add name", name, t.mtu, type, name, t.alias);
}

std::string shell(const RulesetStep& s)
{
    if (s.to && !s.to->model)
        return fmt::format("# the ruleset {}, which was loaded before: mape-gen alone has it, in its state directory", s.to->mark);
    if (s.to)
        return fmt::format("nft -f - <<'EOF'\n{}EOF", nft::to_text(**s.to->model));
    return fmt::format("for family in ip ip6 inet netdev; do\n"
                       "  nft delete table $family mape_{} 2>/dev/null || true\n"
                       "done",
                       s.tunnel.str());
}

std::string shell(const LinkStateStep& s)
{
    return fmt::format("ip link set dev {} {}", s.name.str(), s.to ? "up" : "down");
}

std::string shell(const EgressStep& s)
{
    if (s.to)
        return fmt::format("nft delete table inet {}", table_name(s.tunnel));
    return fmt::format("nft -f - <<'EOF'\n{}EOF", nft::to_text(shut_egress(s.tunnel)));
}

// conntrack(8) cannot say "but these ports": without a list of them the entries of all ports go.
std::string shell(const FlowsStep& s)
{
    if (s.to)
        return ":";
    return fmt::format("for side in --reply-dst --orig-dst; do\n"
                       "  conntrack -D $side {} >/dev/null 2>&1 || true\n"
                       "done",
                       to_text(s.address));
}

std::string shell(const RouteStep& s)
{
    const auto* verb = !s.to ? "del" : s.route.prepend ? "prepend" : "add";
    return fmt::format("ip route {} default dev {} proto {} metric {} table {}", verb, s.route.device.str(), our_protocol,
                       s.route.metric, table_text(s.route.table));
}

std::string shell(const PolicyRuleStep& s)
{
    return fmt::format("ip rule {} pref {}{} lookup {} protocol {}", s.to ? "add" : "del", s.rule.preference,
                       selector_text(s.rule), table_text(s.rule.table), our_protocol);
}

std::string shell(const SysctlStep& s)
{
    return fmt::format("sysctl -q -w {}={}", s.key, s.to);
}

std::string shell(const ForwardingStep& s)
{
    std::string text = fmt::format("sysctl -q -w net/ipv4/ip_forward={}", s.to ? 1 : 0);
    if (!s.to)
        for (const auto& [key, value] : s.before)
            text += fmt::format("\nsysctl -q -w {}={}", key, value);
    return text;
}

}  // namespace

std::string to_shell(const Step& step)
{
    return std::visit([](const auto& s) { return shell(s); }, step);
}

}  // namespace mape
