#include "apply/wanted.h"

#include "apply/napt_from_settings.h"
#include "apply/ruleset_memory.h"
#include "nft/batch.h"
#include "nft/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mape {

namespace {

constexpr unsigned outer_header = 40;  // of IPv6, without extension headers: the encapsulation limit is off

Result<InterfaceName> name_of(const netlink::Link& link)
{
    return InterfaceName::parse(link.name);
}

Result<const netlink::Link*> ready_wan(const InterfaceName& wan, const netlink::NetworkState& network)
{
    const auto* link = network.find_link(wan.str());
    if (!link) {
        std::vector<std::string> names;
        for (const netlink::Link& each : network.links)
            if (each.name != "lo")
                names.push_back(each.name);
        return fail(failure(fmt::format("there is no device {} (wan)", wan.str()),
                            fmt::format("devices here: {}", fmt::join(names, ", "))));
    }
    if (!link->up)
        return fail(failure(fmt::format("the WAN device {} is down", wan.str()),
                            fmt::format("`ip link set {} up`, or let the network manager bring it up first", wan.str())));
    const auto addresses = network.addresses_of(link->index);
    const bool has_ipv6 = std::any_of(addresses.begin(), addresses.end(), [](const netlink::Address* each) {
        return std::holds_alternative<Ipv6Address>(each->address);
    });
    if (!has_ipv6)
        return fail(failure(fmt::format("the WAN device {} has no IPv6 address, not even a link-local one", wan.str()),
                            fmt::format("is IPv6 turned off there? (net/ipv6/conf/{}/disable_ipv6)", wan.str())));
    return link;
}

/// 1460 on 1500 bytes of Ethernet, 1452 on PPPoE; never more than the provider's table says.
unsigned automatic_mtu(unsigned wan_mtu, const Line& line)
{
    const unsigned by_device = wan_mtu > outer_header ? wan_mtu - outer_header : 0;
    return line.table_mtu ? std::min(by_device, *line.table_mtu) : by_device;
}

Result<unsigned> tunnel_mtu(const Settings& settings, const Line& line, unsigned wan_mtu, const InterfaceName& wan,
                            std::vector<std::string>& warnings)
{
    if (!settings.mtu) {
        const unsigned mtu = automatic_mtu(wan_mtu, line);
        if (mtu < 576)
            return fail(failure(fmt::format("the MTU of {} is {}: too small for a tunnel", wan.str(), wan_mtu)));
        return mtu;
    }
    if (*settings.mtu + outer_header > wan_mtu)
        warnings.push_back(fmt::format("mtu = {} is more than {} (WAN MTU {} - {}): the encapsulated packets will be fragmented",
                                       *settings.mtu, wan_mtu - outer_header, wan_mtu, outer_header));
    return *settings.mtu;
}

std::string mark_of(const nft::Ruleset& ruleset)
{
    std::string mark;
    for (const nft::Table& table : ruleset.tables)
        mark += fmt::format("{}{}", mark.empty() ? "" : ", ", table.comment);
    return mark;
}

Result<std::vector<PolicyRule>> policy_rules(const Settings& settings)
{
    std::vector<PolicyRule> rules;
    for (const RuleSelector& selector : settings.rules) {
        if (!settings.table || *settings.table == 254)
            return fail(input_error("rule needs a routing table of its own to point to",
                                    "add `table = N` (1 to 252, or more) to [tunnel]"));
        rules.push_back({selector.preference, selector.iif, selector.from, *settings.table});
    }
    return rules;
}

}  // namespace

RulesetContent content_of(const Shared<nft::Ruleset>& ruleset)
{
    return {mark_of(*ruleset), nft::replace_batch_bytes(*ruleset), ruleset};
}

Result<InterfaceName> choose_wan(const Settings& settings, const netlink::NetworkState& network)
{
    if (settings.wan)
        return *settings.wan;
    const auto* link = network.default_ipv6_device();
    if (!link)
        return fail(failure("no WAN device: wan is not stated and there is no IPv6 default route",
                            "wait for the router advertisement, or state `wan = DEVICE` (--wan DEVICE)"));
    return name_of(*link);
}

Result<Wanted> want(const Settings& settings, const Line& line, const InterfaceName& tunnel,
                    const netlink::NetworkState& network, std::string version)
{
    auto wan = choose_wan(settings, network);
    if (!wan)
        return fail(std::move(wan.error()));
    if (!line.br)
        return fail(input_error("no border relay: neither br nor a rule table gives one",
                                "state `br = ADDRESS` (--br ADDRESS) as the provider names it"));
    auto link = ready_wan(*wan, network);
    if (!link)
        return fail(std::move(link.error()));
    if (*wan == tunnel)
        return fail(input_error(fmt::format("wan and tunnel are both {}", tunnel.str())));

    std::vector<std::string> warnings;
    const unsigned wan_mtu = network.wan_mtu(**link);
    auto mtu = tunnel_mtu(settings, line, wan_mtu, *wan, warnings);
    if (!mtu)
        return fail(std::move(mtu.error()));
    auto parameters = napt_from_settings(settings, line, tunnel, *wan, *mtu, std::move(version));
    if (!parameters)
        return fail(std::move(parameters.error()));
    auto ruleset = napt_ruleset(*parameters);
    if (!ruleset)
        return fail(std::move(ruleset.error()));
    auto rules = policy_rules(settings);
    if (!rules)
        return fail(std::move(rules.error()));

    Wanted wanted{
        .wan = *wan,
        .ce = {*wan, line.edge.ce, 128, true, true, true},
        .tunnel = {.name = tunnel,
                   .local = line.edge.ce,
                   .remote = *line.br,
                   .bound_to = settings.bind_device ? std::optional(*wan) : std::nullopt,
                   .hop_limit = 64,
                   .mtu = *mtu,
                   .alias = our_alias},
        .ipv4 = {tunnel, line.edge.ipv4.address, 32, false, false, false},
        .ruleset = {},
        .mark = mark_of(*ruleset),
        .translation = translation_text(parameters->ipv4, parameters->ports),
        .ports = parameters->ports,
        .protocols = parameters->protocols,
        .lan_notrack = !settings.lan_notrack.empty(),
        .route = {},
        .rules = std::move(*rules),
        .values = {},
        .forwarding = settings.forwarding,
        .warnings = std::move(warnings),
    };
    wanted.ruleset = std::move(*ruleset);
    if (settings.default_route != DefaultRouteMode::no && settings.table)
        wanted.route = DefaultRoute{tunnel, *settings.table, settings.metric,
                                    settings.default_route == DefaultRouteMode::prepend};
    if (settings.table != 254U)
        // The main table need not have a route back through the tunnel: strict reverse path filtering would drop replies.
        wanted.values.push_back({fmt::format("net/ipv4/conf/{}/rp_filter", tunnel.str()), {}, "2"});
    return wanted;
}

}  // namespace mape
