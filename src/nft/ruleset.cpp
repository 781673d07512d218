#include "nft/ruleset.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/number.h"

namespace mape::nft {

namespace {

constexpr std::array<std::pair<Protocol, std::string_view>, 6> protocol_names{{
    {Protocol::tcp, "tcp"},
    {Protocol::udp, "udp"},
    {Protocol::icmp, "icmp"},
    {Protocol::udplite, "udplite"},
    {Protocol::sctp, "sctp"},
    {Protocol::dccp, "dccp"},
}};

constexpr std::array<std::pair<LimitRate::Per, std::string_view>, 4> per_names{{
    {LimitRate::Per::second, "second"},
    {LimitRate::Per::minute, "minute"},
    {LimitRate::Per::hour, "hour"},
    {LimitRate::Per::day, "day"},
}};

constexpr std::uint32_t highest_rate = 1'000'000;

}  // namespace

std::string_view to_text(Family family)
{
    switch (family) {
    case Family::ip: return "ip";
    case Family::ip6: return "ip6";
    case Family::inet: return "inet";
    case Family::netdev: return "netdev";
    }
    return {};
}

std::string_view to_text(Protocol protocol)
{
    for (const auto& [value, name] : protocol_names)
        if (value == protocol)
            return name;
    return {};
}

Result<Protocol> parse_protocol(std::string_view text)
{
    for (const auto& [value, name] : protocol_names)
        if (name == text)
            return value;
    return fail(input_error(
        fmt::format("\"{}\" is not a protocol whose ports can be translated: tcp, udp, icmp, udplite, sctp or dccp", text)));
}

Result<LimitRate> LimitRate::parse(std::string_view text)
{
    const auto slash = text.find('/');
    if (slash != std::string_view::npos)
        for (const auto& [per, name] : per_names)
            if (name == text.substr(slash + 1))
                if (const auto count = parse_number(text.substr(0, slash), 1, highest_rate))
                    return LimitRate{*count, per};
    return fail(input_error(fmt::format("\"{}\" is not a rate: a number from 1 to {}, \"/\" and second, minute, hour or day",
                                        text, highest_rate)));
}

std::string to_text(LimitRate rate)
{
    for (const auto& [per, name] : per_names)
        if (per == rate.per)
            return fmt::format("{}/{}", rate.count, name);
    return {};
}

bool VerdictMap::interval() const
{
    return std::any_of(elements.begin(), elements.end(),
                       [](const Element& element) { return element.first != element.last; });
}

}  // namespace mape::nft
