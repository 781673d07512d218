#include "cli/tunnel_text.h"

#include "base/file.h"
#include "base/overloaded.h"
#include "apply/session.h"
#include "cli/line.h"
#include "netlink/rtnl_read.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace mape::cli {

Result<Target> resolve_target(Invocation& invocation, Output& output)
{
    auto network = read_network();
    if (!network)
        return fail(std::move(network.error()));
    auto line = resolve_invocation(invocation, *network, output);
    if (!line)
        return fail(std::move(line.error()));
    const InterfaceName tunnel = tunnel_name(invocation);
    auto wanted = want(invocation.settings, *line, tunnel, *network, MAPE_VERSION);
    if (!wanted)
        return fail(std::move(wanted.error()));
    for (const std::string& warning : wanted->warnings)
        output.warn(warning);
    return Target{tunnel, std::move(*line), std::move(*wanted), std::move(*network)};
}

std::string ipv4_text(const Ipv4Prefix& ipv4)
{
    return ipv4.length == 32 ? to_text(ipv4.address) : to_text(ipv4);
}

std::string address_and_ports(const Line& line)
{
    const CustomerEdge& edge = line.edge;
    const std::string address = ipv4_text(edge.ipv4);
    if (!edge.ports.shared())
        return fmt::format("{}, all ports", address);
    return fmt::format("{}, {} ports (PSID {}, shared by {})", address, edge.ports.port_count(), edge.ports.psid(),
                       edge.ports.sharing_ratio());
}

std::string outage_sentence(const std::optional<std::chrono::microseconds>& outage)
{
    if (!outage)
        return {};
    if (outage->count() == 0)
        return "IPv4 was not interrupted";
    return fmt::format("IPv4 was interrupted for {:.1f} ms", static_cast<double>(outage->count()) / 1000);
}

std::optional<Traffic> read_traffic(const InterfaceName& tunnel)
{
    const auto read = [&tunnel](const char* name) -> std::optional<std::uint64_t> {
        const auto text = read_file(fmt::format("/sys/class/net/{}/statistics/{}", tunnel.str(), name), 64);
        std::uint64_t value = 0;
        if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
            return std::nullopt;
        return value;
    };
    const auto sent = read("tx_packets");
    const auto received = read("rx_packets");
    if (!sent || !received)
        return std::nullopt;
    return Traffic{*sent, *received};
}

std::string count(std::size_t number, std::string_view noun)
{
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

namespace {

/// A step that puts back what IPv4 cannot do without.
bool is_essential(const Step& step)
{
    return std::visit(overloaded{
                          [](const AddressStep& s) { return !s.from && s.to; },
                          [](const TunnelStep& s) { return s.to.has_value(); },
                          [](const LinkStateStep& s) { return s.to; },
                          [](const RulesetStep& s) { return !s.from && s.to; },
                          [](const EgressStep& s) { return s.to; },
                          [](const FlowsStep&) { return false; },
                          [](const RouteStep& s) { return s.to; },
                          [](const PolicyRuleStep& s) { return s.to; },
                          [](const SysctlStep&) { return false; },
                          [](const ForwardingStep& s) { return s.to; },
                      },
                      step);
}

std::string traffic_sentence(const Traffic& traffic)
{
    const std::string counts = fmt::format("{} sent, {} received", traffic.sent, traffic.received);
    if (traffic.received > 0)
        return fmt::format("IPv4 works: {}", counts);
    if (traffic.sent == 0)
        return fmt::format("IPv4 is ready: {} so far", counts);
    return fmt::format("IPv4 gets no answer: {}: are the border relay and the CE address (iid) what the provider says?",
                       counts);
}

}  // namespace

std::string verdict(const std::optional<Traffic>& traffic, const std::vector<Step>& drift)
{
    if (!traffic)
        return "IPv4 does not work: the tunnel is not there";
    if (drift.empty())
        return traffic_sentence(*traffic);
    const auto broken = std::find_if(drift.begin(), drift.end(), is_essential);
    const std::string mend = fmt::format("{}: `mape-gen apply` mends that", count(drift.size(), "difference"));
    if (broken != drift.end())
        return fmt::format("IPv4 does not work as wanted, {} (it would {})", mend, to_words(*broken));
    return fmt::format("{}, but {}", traffic_sentence(*traffic), mend);
}

}  // namespace mape::cli
