// Rulesets to try everything on: the lines people have, and the corners of what can be asked for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nft/napt.h"

namespace samples {

using namespace mape;
using nft::Protocol;

inline InterfaceName device(const char* name)
{
    return *InterfaceName::parse(name);
}

/// A line without wan and br: no table ip6.
inline NaptParameters line(const char* ipv4, unsigned offset, unsigned psid_length, unsigned psid)
{
    return {.tunnel = device("mape0"),
            .wan = {},
            .br = {},
            .ipv4 = *Ipv4Prefix::parse(ipv4),
            .ports = *PortSet::make(offset, psid_length, psid),
            .tunnel_mtu = 1460,
            .reserved = {},
            .open = {},
            .lan_notrack = {},
            .version = "0"};
}

/// The router of the seeds: 63 ranges of 16 ports.
inline NaptParameters seeds()
{
    NaptParameters parameters = line("153.240.174.134", 6, 6, 0x2c);
    parameters.wan = device("wan0");
    parameters.br = *Ipv6Address::parse("2001:380:a120::9");
    return parameters;
}

/// 15 ranges of 16 ports.
inline NaptParameters v6plus()
{
    return line("192.0.2.1", 4, 8, 0x34);
}

struct Sample {
    std::string name;
    NaptParameters parameters;
    bool golden = true;  ///< its text is kept in tests/golden/ruleset/NAME.nft
};

inline std::vector<Sample> all()
{
    std::vector<Sample> samples;
    const auto add = [&](const char* name, NaptParameters parameters, auto change) -> Sample& {
        change(parameters);
        return samples.emplace_back(Sample{name, std::move(parameters)});
    };
    const auto as_is = [](NaptParameters&) {};

    add("seeds", seeds(), as_is);
    add("v6plus", v6plus(), as_is);
    add("contiguous", line("192.0.2.1", 0, 2, 3), as_is);
    add("contiguous-from-0", line("192.0.2.1", 0, 2, 0), as_is).golden = false;
    add("one-piece", line("192.0.2.1", 0, 9, 500), as_is);
    add("one-port", line("192.0.2.1", 0, 16, 4711), as_is);
    add("unshared", line("192.0.2.1", 6, 0, 0), as_is);
    add("unshared-all", line("192.0.2.1", 0, 0, 0), [](NaptParameters& p) { p.all_protocols = true; });
    add("unshared-reserve", line("192.0.2.1", 0, 0, 0), [](NaptParameters& p) {
        p.all_protocols = true;
        p.reserved = {{0, 1023}, {5000, 5010}};
    }).golden = false;
    add("unshared-open", line("192.0.2.1", 0, 0, 0), [](NaptParameters& p) {
        p.open = {{Protocol::tcp, {0, 65535}}, {Protocol::udp, {0, 100}}, {Protocol::udp, {1000, 65535}}};
    });
    add("prefix", line("192.0.2.16/28", 0, 0, 0), as_is);
    add("prefix-9", line("10.128.0.0/9", 0, 0, 0), as_is).golden = false;
    add("reserve", v6plus(), [](NaptParameters& p) { p.reserved = {{4930, 4930}, {62272, 62287}}; });
    add("reserve-halves", v6plus(), [](NaptParameters& p) { p.reserved = {{4928, 4935}}; }).golden = false;
    add("notrack", v6plus(), [](NaptParameters& p) {
        p.lan_notrack = {{*Ipv4Prefix::parse("192.168.1.0/24"), *Ipv4Address::parse("192.168.1.1")},
                         {*Ipv4Prefix::parse("10.16.0.0/12"), *Ipv4Address::parse("10.16.0.1")},
                         {*Ipv4Prefix::parse("172.16.0.7"), *Ipv4Address::parse("172.16.0.1")}};
    });
    add("open", v6plus(), [](NaptParameters& p) {
        p.open = {{Protocol::tcp, {4928, 4928}},  {Protocol::tcp, {4930, 4935}},  {Protocol::tcp, {4929, 4929}},
                  {Protocol::tcp, {9024, 9024}},  {Protocol::udp, {9024, 9024}},  {Protocol::sctp, {9024, 9039}},
                  {Protocol::dccp, {4928, 4943}}, {Protocol::dccp, {9030, 9030}}, {Protocol::udplite, {4928, 4928}},
                  {Protocol::udplite, {9024, 9024}}};
    });
    add("inbound-open", v6plus(), [](NaptParameters& p) { p.inbound_open = true; });
    add("log-off", v6plus(), [](NaptParameters& p) {
        p.log_rate = {};
        p.wan = device("wan0");
        p.br = *Ipv6Address::parse("2001:db8::1");
    });
    add("log-10-hour", v6plus(), [](NaptParameters& p) { p.log_rate = nft::LimitRate{10, nft::LimitRate::Per::hour}; })
        .golden = false;
    add("tcp-udp", v6plus(), [](NaptParameters& p) { p.protocols = {Protocol::udp, Protocol::tcp, Protocol::udp}; });
    add("tcp-only", v6plus(), [](NaptParameters& p) { p.protocols = {Protocol::tcp}; }).golden = false;
    add("sctp-only", v6plus(), [](NaptParameters& p) { p.protocols = {Protocol::sctp}; }).golden = false;
    add("icmp-only", v6plus(), [](NaptParameters& p) { p.protocols = {Protocol::icmp}; });
    add("other-tunnel", v6plus(), [](NaptParameters& p) {
        p.tunnel = device("v6plus-line.2_x");
        p.tunnel_mtu = 1412;
    }).golden = false;
    add("1023-chains", line("192.0.2.1", 10, 6, 1), as_is).golden = false;
    add("map", line("192.0.2.1", 11, 1, 1), as_is).golden = false;
    add("map-weights", line("192.0.2.1", 11, 1, 1), [](NaptParameters& p) { p.reserved = {{50, 55}, {82, 83}}; }).golden = false;
    add("map-singles", line("192.0.2.1", 14, 1, 1), [](NaptParameters& p) { p.reserved = {{7, 7}, {130, 130}}; }).golden = false;
    add("map-singles-weights", line("192.0.2.1", 11, 1, 1), [](NaptParameters& p) {
        p.reserved = {{49, 49}, {81, 82}, {114, 115}};
    }).golden = false;
    add("map-32767", line("192.0.2.1", 15, 1, 1), as_is).golden = false;
    return samples;
}

}  // namespace samples
