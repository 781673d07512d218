// The plan of the seeds' router, by hand: one step of each kind. All but the flows can be undone.
#pragma once

#include "apply/run_plan.h"

namespace mape::test {

inline InterfaceName device(const char* name)
{
    return *InterfaceName::parse(name);
}

inline Tunnel sample_tunnel()
{
    return {.name = device("mape0"),
            .local = *Ipv6Address::parse("2400:4050:2ba1:ac00:99:f0ae:8600:2c00"),
            .remote = *Ipv6Address::parse("2001:380:a120::9"),
            .bound_to = device("wan0"),
            .hop_limit = 64,
            .mtu = 1460,
            .alias = "mape-gen 0.1.0"};
}

inline DeviceAddress sample_ce()
{
    return {device("wan0"), sample_tunnel().local, 128, true, true, true};
}

inline DeviceAddress sample_ipv4()
{
    return {device("mape0"), *Ipv4Address::parse("153.240.174.134"), 32, false, false, false};
}

inline RulesetContent sample_ruleset(const char* mark = "mape-gen 0.1.0 0123456789abcdef")
{
    return {mark, std::vector<std::byte>{std::byte{0x14}, std::byte{0x00}, std::byte{0xff}}, {}};
}

inline Plan sample_plan()
{
    return {
        AddressStep{device("wan0"), sample_ce().address, {}, sample_ce()},
        TunnelStep{device("mape0"), {}, sample_tunnel()},
        RulesetStep{device("mape0"), {}, sample_ruleset()},
        LinkStateStep{device("mape0"), false, true},
        AddressStep{device("mape0"), sample_ipv4().address, {}, sample_ipv4()},
        SysctlStep{"net/ipv4/conf/mape0/rp_filter", "0", "2"},
        ForwardingStep{false, true, {{"net/ipv4/conf/all/accept_redirects", "0"}, {"net/ipv4/conf/wan0/forwarding", "0"}}},
        PolicyRuleStep{{1000, device("br0"), *Ipv4Prefix::parse("192.168.1.0/24"), 300}, false, true},
        RouteStep{{device("mape0"), 300, 5, false}, false, true},
        EgressStep{device("mape0"), false, true},
        FlowsStep{*Ipv4Address::parse("153.240.174.133"), PortSet::make(6, 6, 44).value()},
    };
}

}  // namespace mape::test
