#include "netlink/end_user_prefix.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <tuple>

#include "netlink/objects.h"

namespace mape::netlink {

namespace {

const char* discarding_type(const Route& route)
{
    switch (route.type) {
    case RTN_UNREACHABLE:
        return "unreachable";
    case RTN_BLACKHOLE:
        return "blackhole";
    case RTN_PROHIBIT:
        return "prohibit";
    case RTN_THROW:
        return "throw";
    default:
        return nullptr;
    }
}

bool is_usable(const Address& address)
{
    constexpr std::uint32_t unusable = IFA_F_DEPRECATED | IFA_F_TENTATIVE | IFA_F_DADFAILED;
    return (address.flags & unusable) == 0 && address.preferred_lifetime != 0 && address.scope == RT_SCOPE_UNIVERSE
           && address.protocol != our_protocol;
}

void add(std::vector<PrefixCandidate>& found, PrefixCandidate candidate)
{
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const PrefixCandidate& other) { return other.prefix == candidate.prefix; });
    if (same == found.end()) {
        found.push_back(std::move(candidate));
        return;
    }
    same->delegated = same->delegated || candidate.delegated;
    same->seen += ", " + candidate.seen;
}

}  // namespace

bool is_global_unicast(const Ipv6Address& address)
{
    if (address.bits(0, 64) == 0 && address.bits(64, 16) == 0)
        return false;  // ::/80: unspecified, loopback, IPv4-compatible and IPv4-mapped addresses
    return address.bits(0, 7) != 0xfc >> 1    // unique local, fc00::/7
           && address.bits(0, 9) != 0xfe80 >> 7  // link-local and site-local, fe80::/9
           && address.bits(0, 8) != 0xff;
}

std::vector<PrefixCandidate> end_user_prefix_candidates(const NetworkState& state, std::span<const unsigned> devices)
{
    std::vector<PrefixCandidate> found;
    for (const Route& route : state.routes) {
        const char* type = discarding_type(route);
        const auto* prefix = std::get_if<Ipv6Prefix>(&route.destination);
        if (!type || !prefix || prefix->length < 40 || prefix->length > 64 || !is_global_unicast(prefix->address)
            || route.protocol == our_protocol)
            continue;
        add(found, {*prefix, true, fmt::format("{} route {} (DHCPv6-PD)", type, to_text(*prefix))});
    }
    for (const Address& entry : state.addresses) {
        const auto* address = std::get_if<Ipv6Address>(&entry.address);
        if (!address || std::find(devices.begin(), devices.end(), entry.index) == devices.end() || !is_usable(entry)
            || !is_global_unicast(*address))
            continue;
        const unsigned length = entry.prefix_length >= 32 && entry.prefix_length <= 64 ? entry.prefix_length : 64;
        const Link* link = state.find_link(entry.index);
        add(found, {Ipv6Prefix::of(*address, length), false,
                    fmt::format("address {}/{} on {}", to_text(*address), entry.prefix_length,
                                link ? link->name : std::to_string(entry.index))});
    }
    std::sort(found.begin(), found.end(), [](const PrefixCandidate& a, const PrefixCandidate& b) {
        return std::tuple(!a.delegated, a.prefix.length, a.prefix.address)
               < std::tuple(!b.delegated, b.prefix.length, b.prefix.address);
    });
    return found;
}

}  // namespace mape::netlink
