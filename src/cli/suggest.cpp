#include "cli/suggest.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace mape::cli {

namespace {

// Optimal string alignment: what fingers do to a word.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
    }
    return above[b.size()];
}

std::size_t tolerance(std::size_t length)
{
    return length <= 4 ? 1 : length <= 8 ? 2 : 3;
}

constexpr std::string_view always_none = "the tunnel never adds an encapsulation limit header: leave it out";
constexpr std::string_view only_map_e = "there is nothing but MAP-E here: leave it out";
constexpr std::string_view prefix_with_length = "write the length behind the prefix, as in rule-ipv6 = 2001:db8::/32";
constexpr std::string_view ipv4_with_length = "write the length behind the prefix, as in rule-ipv4 = 192.0.2.0/24";
constexpr std::string_view iid_values = "legacymap 1 is iid = draft03, 0 is iid = rfc7597";

constexpr std::array foreign{
    ForeignName{"peeraddr", "br", ""},
    ForeignName{"remote", "br", ""},
    ForeignName{"dmr", "br", ""},
    ForeignName{"border-relay", "br", ""},
    ForeignName{"aftr", "br", ""},
    ForeignName{"ealen", "ea-length", ""},
    ForeignName{"ea-len", "ea-length", ""},
    ForeignName{"ea-bits", "ea-length", ""},
    ForeignName{"ea-bits-length", "ea-length", ""},
    ForeignName{"offset", "psid-offset", ""},
    ForeignName{"psidoffset", "psid-offset", ""},
    ForeignName{"psidlen", "psid-length", ""},
    ForeignName{"psid-len", "psid-length", ""},
    ForeignName{"tunlink", "wan", "it is the device, such as eth0, not a network of OpenWrt"},
    ForeignName{"upstream-interface", "wan", ""},
    ForeignName{"wan-if", "wan", ""},
    ForeignName{"wan-interface", "wan", ""},
    ForeignName{"lan-if", "lan", ""},
    ForeignName{"lan-interface", "lan", ""},
    ForeignName{"tunnel-interface", "tunnel", ""},
    ForeignName{"tun-if", "tunnel", ""},
    ForeignName{"tun-mtu", "mtu", ""},
    ForeignName{"legacymap", "iid", iid_values},
    ForeignName{"ce-calc", "iid", "draft is iid = draft03, rfc is iid = rfc7597"},
    ForeignName{"ip6prefix", "rule-ipv6", prefix_with_length},
    ForeignName{"ip6prefixlen", "rule-ipv6", prefix_with_length},
    ForeignName{"rule-ipv6-prefix", "rule-ipv6", ""},
    ForeignName{"ipv6-prefix", "rule-ipv6", "the prefix that your line was given is prefix"},
    ForeignName{"ipaddr", "rule-ipv4", ipv4_with_length},
    ForeignName{"ip4prefixlen", "rule-ipv4", ipv4_with_length},
    ForeignName{"rule-ipv4-prefix", "rule-ipv4", ""},
    ForeignName{"ipv4-prefix", "rule-ipv4", "a whole address of your own is ipv4"},
    ForeignName{"local", "ce", "it is computed unless the contract states it"},
    ForeignName{"ip6addr", "ce", "it is computed unless the contract states it"},
    ForeignName{"end-user-prefix", "prefix", ""},
    ForeignName{"pd", "prefix", ""},
    ForeignName{"provider", "isp", ""},
    ForeignName{"defaultroute", "default-route", ""},
    ForeignName{"ip4table", "table", ""},
    ForeignName{"dont-snat-to", "reserve", ""},
    ForeignName{"exclude-ports", "reserve", ""},
    ForeignName{"reserved-ports", "reserve", ""},
    ForeignName{"encaplimit", "", always_none},
    ForeignName{"encap-limit", "", always_none},
    ForeignName{"type", "", only_map_e},
    ForeignName{"proto", "", only_map_e},
    ForeignName{"maptype", "", only_map_e},
    ForeignName{"mode", "", only_map_e},
    ForeignName{"ttl", "", "the hop limit of the tunnel is always 64: leave it out"},
    ForeignName{"hop-limit", "", "the hop limit of the tunnel is always 64: leave it out"},
    ForeignName{"snat-mode", "", "all port ranges are always used: leave it out"},
};

// upstream_interface, Ip6Prefix and PSID_LEN are one name with or without capitals, '_' or '-'.
std::string normal_form(std::string_view word)
{
    std::string normal;
    for (const char c : word)
        normal += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return normal;
}

}  // namespace

std::span<const ForeignName> foreign_names()
{
    return foreign;
}

std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> known)
{
    std::optional<std::string_view> nearest;
    // A word of many kilobytes is no slip of the fingers, and its distance costs its length.
    if (word.size() > 40)
        return nearest;
    std::size_t best = tolerance(word.size()) + 1;
    for (const std::string_view candidate : known) {
        const std::size_t away = distance(word, candidate);
        if (away < best) {
            best = away;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known, std::string_view decoration)
{
    const std::string normal = normal_form(word);
    for (const std::string_view candidate : known)
        if (candidate == normal)
            return fmt::format("did you mean {}{}?", decoration, candidate);
    for (const ForeignName& row : foreign)
        if (row.name == normal) {
            if (row.ours.empty())
                return std::string(row.sentence);
            return fmt::format("it is called {}{} here{}{}", decoration, row.ours, row.sentence.empty() ? "" : "; ",
                               row.sentence);
        }
    if (const auto near = nearest_word(normal, known))
        return fmt::format("did you mean {}{}?", decoration, *near);
    return {};
}

}  // namespace mape::cli
