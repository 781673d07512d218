#include "apply/plan.h"

#include "apply/object_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <set>

namespace mape {

namespace {

using netlink::NetworkState;

bool has_our_protocol(const netlink::Address& address)
{
    return address.protocol == our_protocol;
}

bool settled_has(const std::vector<Step>& settled, const Step& step)
{
    const std::string about = identity(step);
    return std::any_of(settled.begin(), settled.end(), [&about](const Step& each) { return identity(each) == about; });
}

std::string describe(const netlink::Route& route, const NetworkState& network)
{
    const auto* link = network.find_link(route.out_index);
    std::string text = "default";
    if (route.gateway)
        text += fmt::format(" via {}", std::visit([](const auto& a) { return to_text(a); }, *route.gateway));
    if (link)
        text += fmt::format(" dev {}", link->name);
    return fmt::format("{} metric {}", text, route.metric);
}

/// What undoing has to load again.
std::optional<RulesetContent> present_ruleset(const RulesetState& state)
{
    if (state.presence != RulesetState::Presence::ours)
        return std::nullopt;
    return state.loaded ? state.loaded : unknown_ruleset();
}

/// One plan in the making: the wanted state is walked object by object, each adds its step if it differs.
class Differences {
public:
    Differences(const Wanted& wanted, const Observed& observed, const std::vector<Step>& settled)
        : wanted_(wanted), observed_(observed), network_(observed.network), settled_(settled)
    {
    }

    Result<PlanResult> make();

private:
    Result<void> refuse_foreign_tunnel();
    Result<void> refuse_foreign_tables();
    Result<void> refuse_foreign_route();
    void warn_of_foreign_nat();
    void warn_of_preferred_route();
    void warn_of_untracked_lan();

    void add(const Step& step) { result_.plan.push_back(step); }
    void address(const DeviceAddress& wanted);
    void shut_egress();
    void open_egress();
    void tunnel();
    void ruleset();
    void link_state();
    void values();
    void rules();
    void route();
    void remove_unwanted();
    void former_flows();
    [[nodiscard]] bool is_elsewhere(const Ipv4Address& address) const;

    [[nodiscard]] bool ruleset_differs() const;
    [[nodiscard]] std::set<std::string> wanted_identities() const;

    const Wanted& wanted_;
    const Observed& observed_;
    const NetworkState& network_;
    const std::vector<Step>& settled_;
    std::optional<Tunnel> present_;  ///< the tunnel there is
    bool shut_ = false;              ///< the way into the tunnel, at this place of the plan
    bool route_present_ = false;
    PlanResult result_;
};

Result<void> Differences::refuse_foreign_tunnel()
{
    const std::string& name = wanted_.tunnel.name.str();
    const auto* link = network_.find_link(name);
    if (link && !is_ours(*link))
        return fail(failure(fmt::format("the name of the tunnel, {}, is taken by a device that is not ours{}", name,
                                        link->kind.empty() ? "" : fmt::format(" (kind {})", link->kind)),
                            "delete that device, or state another name: `tunnel = NAME` (--tunnel NAME)"));
    const auto* wan = network_.find_link(wanted_.wan.str());
    const unsigned lower = wanted_.tunnel.bound_to && wan ? wan->index : 0;
    for (const netlink::Link& other : network_.links) {
        if (!other.tunnel || other.name == name || other.tunnel->local != wanted_.tunnel.local
            || other.tunnel->remote != wanted_.tunnel.remote)
            continue;
        const std::string which = is_ours(other) ? "another tunnel of ours" : "a tunnel that is not ours";
        std::string message = fmt::format("{}, {}, has the endpoints {} and {}", which, other.name,
                                          to_text(wanted_.tunnel.local), to_text(wanted_.tunnel.remote));
        // Of two such tunnels the one that is bound to a device gets what comes in there (ip6_tunnel.c, ip6_tnl_lookup).
        if (lower != 0 && other.tunnel->lower_index != lower) {
            result_.warnings.push_back(message + " as well, bound to another device or none: what comes in goes to ours");
            continue;
        }
        message += " already";
        for (const netlink::ForeignNatChain& chain : observed_.foreign_nat)
            message += fmt::format("; chain {} of table {} {} translates", chain.chain, to_text(chain.family), chain.table);
        return fail(failure(message, is_ours(other) ? fmt::format("`mape-gen revert {}` removes it", other.name)
                                                    : fmt::format("`ip link del {}` removes it", other.name)));
    }
    return {};
}

Result<void> Differences::refuse_foreign_tables()
{
    if (observed_.ruleset.presence != RulesetState::Presence::foreign)
        return {};
    return fail(failure(fmt::format("a table of our name, {}, is not ours: its comment is not our mark",
                                    table_name(wanted_.tunnel.name)),
                        fmt::format("`nft delete table ip {}` removes it", table_name(wanted_.tunnel.name))));
}

Result<void> Differences::refuse_foreign_route()
{
    if (!wanted_.route)
        return {};
    route_present_ = has_route(network_, *wanted_.route);
    if (route_present_ || wanted_.route->prepend)
        return {};
    auto same = network_.default_routes_ipv4(wanted_.route->table, wanted_.route->metric);
    std::erase_if(same, [](const netlink::Route* each) { return each->protocol == our_protocol; });
    if (same.empty())
        return {};
    return fail(failure(fmt::format("there is another IPv4 default route of metric {}: {}", wanted_.route->metric,
                                    describe(*same.front(), network_)),
                        "remove it, or state another `metric = N`, `default-route = prepend` (ours goes first) or "
                        "`default-route = no`"));
}

void Differences::warn_of_foreign_nat()
{
    for (const netlink::ForeignNatChain& chain : observed_.foreign_nat) {
        if (chain.priority < 99)
            result_.warnings.push_back(
                fmt::format("chain {} of table {} {} translates before ours (priority {} before 99)", chain.chain,
                            to_text(chain.family), chain.table, chain.priority));
        else if (chain.names_tunnel)
            result_.warnings.push_back(fmt::format(
                "chain {} of table {} {} has a rule for packets that leave through {}; ours come first", chain.chain,
                to_text(chain.family), chain.table, wanted_.tunnel.name.str()));
    }
}

void Differences::warn_of_preferred_route()
{
    if (!wanted_.route || wanted_.route->metric == 0)
        return;
    for (const netlink::Route& route : network_.routes) {
        const auto* destination = std::get_if<Ipv4Prefix>(&route.destination);
        if (destination && destination->length == 0 && route.table == wanted_.route->table && route.type == RTN_UNICAST
            && route.metric < wanted_.route->metric)
            result_.warnings.push_back(fmt::format("another IPv4 default route is preferred to ours (metric {}): {}",
                                                   wanted_.route->metric, describe(route, network_)));
    }
}

void Differences::warn_of_untracked_lan()
{
    if (!wanted_.lan_notrack)
        return;
    for (const std::string& table : observed_.stateful_input)
        result_.warnings.push_back(fmt::format("lan-notrack: table {} asks for the state of packets at input: those of the LAN "
                                               "have none any more, accept them there by address", table));
    for (const netlink::ForeignNatChain& chain : observed_.foreign_nat)
        result_.warnings.push_back(
            fmt::format("lan-notrack: chain {} of table {} {} cannot masquerade LAN traffic (hairpin) as the router's LAN "
                        "address: the replies are not tracked; use snat to the shared address there",
                        chain.chain, to_text(chain.family), chain.table));
}

void Differences::address(const DeviceAddress& wanted)
{
    const auto present = find_address(network_, wanted);
    if (present == wanted)
        return;
    const AddressStep step{wanted.device, wanted.address, present, wanted};
    if (present && !settled_has(settled_, step)) {
        const auto* link = network_.find_link(wanted.device.str());
        const auto on_device = network_.addresses_of(link->index);
        const bool ours = std::any_of(on_device.begin(), on_device.end(), [&wanted](const netlink::Address* each) {
            return each->address == wanted.address && has_our_protocol(*each);
        });
        if (!ours) {
            result_.warnings.push_back(fmt::format(
                "{}/{} is on {} already, set by somebody else: left as it is{}",
                std::visit([](const auto& a) { return to_text(a); }, wanted.address), present->prefix_length,
                wanted.device.str(), present->deprecated ? "" : "; the box may use it as a source address of its own"));
            return;
        }
    }
    add(step);
}

bool Differences::ruleset_differs() const
{
    const RulesetState& state = observed_.ruleset;
    return state.presence != RulesetState::Presence::ours || state.mark != wanted_.mark || !state.changed.empty();
}

/// From the new CE address on with the former translation, or the other way round, packets would be of nobody's: none leaves
/// while endpoints and ruleset are changed. Everything else can be changed while packets pass: a ruleset is replaced at once.
void Differences::shut_egress()
{
    const auto* link = network_.find_link(wanted_.tunnel.name.str());
    const bool moves = present_ && link->up && present_->local != wanted_.tunnel.local;
    shut_ = observed_.ruleset.egress_shut;
    if (!moves || shut_)
        return;
    add(EgressStep{wanted_.tunnel.name, true, false});
    shut_ = true;
}

void Differences::open_egress()
{
    if (shut_)
        add(EgressStep{wanted_.tunnel.name, false, true});
}

void Differences::tunnel()
{
    if (present_ != wanted_.tunnel)
        add(TunnelStep{wanted_.tunnel.name, present_, wanted_.tunnel});
}

void Differences::ruleset()
{
    if (ruleset_differs())
        add(RulesetStep{wanted_.tunnel.name, present_ruleset(observed_.ruleset), content_of(wanted_.ruleset)});
}

void Differences::link_state()
{
    const auto* link = network_.find_link(wanted_.tunnel.name.str());
    if (!link || !link->up)
        add(LinkStateStep{wanted_.tunnel.name, false, true});
}

void Differences::values()
{
    for (const SysctlStep& value : wanted_.values) {
        const auto present = observed_.values.find(value.key);
        if (present == observed_.values.end() || present->second != value.to)
            add(SysctlStep{value.key, present == observed_.values.end() ? std::string() : present->second, value.to});
    }
    if (!wanted_.forwarding)
        return;
    const ForwardingStep on{false, true, {}};
    if (observed_.forwarding != "1")
        add(on);
    else if (observed_.inherited && !settled_has(settled_, on))
        // Whichever line goes last restores what was before the first.
        add(ForwardingStep{false, true, observed_.inherited->before});
}

void Differences::rules()
{
    for (const PolicyRule& rule : wanted_.rules)
        if (!has_rule(network_, rule))
            add(PolicyRuleStep{rule, false, true});
}

void Differences::route()
{
    if (!wanted_.route || route_present_)
        return;
    // One of ours that does not count: another stands before it, or somebody has changed it.
    const auto* link = network_.find_link(wanted_.tunnel.name.str());
    const auto same = network_.default_routes_ipv4(wanted_.route->table, wanted_.route->metric);
    if (link && std::any_of(same.begin(), same.end(), [link](const netlink::Route* each) {
            return each->out_index == link->index && each->protocol == our_protocol;
        }))
        add(RouteStep{*wanted_.route, true, false});
    add(RouteStep{*wanted_.route, false, true});
}

std::set<std::string> Differences::wanted_identities() const
{
    std::set<std::string> identities{
        identity(AddressStep{wanted_.ce.device, wanted_.ce.address, {}, {}}),
        identity(TunnelStep{wanted_.tunnel.name, {}, {}}),
        identity(LinkStateStep{wanted_.tunnel.name, false, false}),
        identity(RulesetStep{wanted_.tunnel.name, {}, {}}),
        identity(EgressStep{wanted_.tunnel.name, false, false}),
        identity(AddressStep{wanted_.ipv4.device, wanted_.ipv4.address, {}, {}}),
    };
    for (const SysctlStep& value : wanted_.values)
        identities.insert(identity(value));
    for (const PolicyRule& rule : wanted_.rules)
        identities.insert(identity(PolicyRuleStep{rule, false, false}));
    if (wanted_.route)
        identities.insert(identity(RouteStep{*wanted_.route, false, false}));
    if (wanted_.forwarding)
        identities.insert(identity(ForwardingStep{false, false, {}}));
    return identities;
}

/// What we made before and do not want any longer, last: what replaces it is there by then.
void Differences::remove_unwanted()
{
    std::set<std::string> done = wanted_identities();
    const auto remove = [&](const Step& undo) {
        if (!is_nothing(undo) && done.insert(identity(undo)).second)
            add(undo);
    };
    std::for_each(settled_.rbegin(), settled_.rend(), remove);
    for (const Step& step : removal_plan(wanted_.tunnel.name, observed_))
        remove(step);
}

/// Another line's, or a device's of the user.
bool Differences::is_elsewhere(const Ipv4Address& address) const
{
    const auto* link = network_.find_link(wanted_.tunnel.name.str());
    return std::any_of(network_.addresses.begin(), network_.addresses.end(), [&](const netlink::Address& each) {
        const auto* other = std::get_if<Ipv4Address>(&each.address);
        return other && *other == address && (!link || each.index != link->index);
    });
}

/// Flows translated to what is ours no longer: nobody answers them, and until their entries are gone they are stuck.
void Differences::former_flows()
{
    const auto& address = std::get<Ipv4Address>(wanted_.ipv4.address);
    const Plan plan = result_.plan;
    for (const Step& step : plan)
        if (const auto* removed = std::get_if<AddressStep>(&step); removed && removed->from && !removed->to)
            if (const auto* former = std::get_if<Ipv4Address>(&removed->address); former && !is_elsewhere(*former))
                add(FlowsStep{*former, {}});
    const bool was_here = find_address(network_, wanted_.ipv4).has_value();
    const bool loaded = observed_.ruleset.presence == RulesetState::Presence::ours;
    if (was_here && loaded && observed_.ruleset.translation != wanted_.translation)
        add(FlowsStep{address, wanted_.ports});
}

Result<PlanResult> Differences::make()
{
    for (const auto refuse : {&Differences::refuse_foreign_tunnel, &Differences::refuse_foreign_tables,
                              &Differences::refuse_foreign_route})
        if (auto fine = (this->*refuse)(); !fine)
            return fail(std::move(fine.error()));
    warn_of_foreign_nat();
    warn_of_preferred_route();
    warn_of_untracked_lan();

    present_ = find_tunnel(network_, wanted_.tunnel.name);
    shut_egress();
    address(wanted_.ce);
    tunnel();
    ruleset();
    link_state();
    address(wanted_.ipv4);
    open_egress();
    values();
    rules();
    route();
    remove_unwanted();
    former_flows();
    return std::move(result_);
}

/// The CE address by its marks: IFA_PROTO, or on an older kernel the very flags we set on the tunnel's own endpoint.
bool is_ce_of(const netlink::Address& address, const std::optional<Tunnel>& tunnel, const NetworkState& network)
{
    const auto* value = std::get_if<Ipv6Address>(&address.address);
    if (!value || address.prefix_length != 128)
        return false;
    if (tunnel)
        return *value == tunnel->local
               && (keeps_address_protocol(network) ? has_our_protocol(address) : address.preferred_lifetime == 0);
    const bool used = std::any_of(network.links.begin(), network.links.end(), [value](const netlink::Link& link) {
        return is_ours(link) && link.tunnel && link.tunnel->local == *value;
    });
    return has_our_protocol(address) && !used;
}

}  // namespace

Result<PlanResult> make_plan(const Wanted& wanted, const Observed& observed, const std::vector<Step>& settled)
{
    return Differences(wanted, observed, settled).make();
}

Plan removal_plan(const InterfaceName& tunnel, const Observed& observed)
{
    const NetworkState& network = observed.network;
    const auto* link = network.find_link(tunnel.str());
    const bool ours = link && is_ours(*link);
    Plan plan;

    std::set<std::uint32_t> tables;
    if (ours)
        for (const netlink::Route& route : network.routes) {
            const auto* destination = std::get_if<Ipv4Prefix>(&route.destination);
            if (!destination || destination->length != 0 || route.out_index != link->index || route.protocol != our_protocol)
                continue;
            plan.push_back(RouteStep{{tunnel, route.table, route.metric, false}, true, false});
            if (route.table != RT_TABLE_MAIN)
                tables.insert(route.table);
        }
    for (const netlink::Rule& rule : network.rules)
        if (rule.protocol == our_protocol && tables.contains(rule.table)) {
            auto iif = InterfaceName::parse(rule.iif);
            plan.push_back(PolicyRuleStep{
                {rule.preference, iif ? std::optional(*iif) : std::nullopt, rule.from, rule.table}, true, false});
        }
    if (ours)
        for (const netlink::Address* address : network.addresses_of(link->index))
            if (has_our_protocol(*address)) {
                const auto present = find_address(network, {tunnel, address->address, address->prefix_length});
                plan.push_back(AddressStep{tunnel, address->address, present, {}});
            }
    if (ours && link->up)
        plan.push_back(LinkStateStep{tunnel, true, false});
    if (observed.ruleset.presence == RulesetState::Presence::ours)
        plan.push_back(RulesetStep{tunnel, observed.ruleset.loaded, {}});
    if (observed.ruleset.egress_shut)
        plan.push_back(EgressStep{tunnel, false, true});
    const auto present = ours ? find_tunnel(network, tunnel) : std::nullopt;
    if (present)
        plan.push_back(TunnelStep{tunnel, present, {}});
    for (const netlink::Address& address : network.addresses) {
        const auto* on = network.find_link(address.index);
        if (!on || !is_ce_of(address, present, network))
            continue;
        auto device = InterfaceName::parse(on->name);
        if (device)
            plan.push_back(AddressStep{*device, address.address, find_address(network, {*device, address.address, 128}), {}});
    }
    return plan;
}

}  // namespace mape
