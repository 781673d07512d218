// Links, addresses, routes and rules out of any bytes, and what is asked of the network that they make.
#include "fuzz.h"

#include <algorithm>

#include <linux/rtnetlink.h>

#include "netlink/rtnl_read.h"

using namespace mape;
using namespace mape::netlink;

namespace {

using Bytes = std::span<const std::byte>;

bool host_bits_are_zero(const Ipv4Prefix& prefix)
{
    return prefix.length <= 32
           && (prefix.length == 32 || (prefix.address.value & (prefix.length == 0 ? ~0U : ~0U >> prefix.length)) == 0);
}

bool host_bits_are_zero(const Ipv6Prefix& prefix)
{
    return prefix.length <= 128 && Ipv6Prefix::of(prefix.address, prefix.length) == prefix;
}

void check(const Link& link)
{
    HOLDS(link.index != 0 && !link.name.empty());
    HOLDS(link.name.find('\0') == std::string::npos);
    HOLDS(link.tunnel.has_value() == (link.kind == "ip6tnl"));
    HOLDS(!link.tunnel || (link.tunnel->hop_limit <= 255 && (link.tunnel->flags & 0x70000) == 0));
}

void check(const std::optional<Address>& address)
{
    if (!address)
        return;
    HOLDS(address->prefix_length <= (std::holds_alternative<Ipv4Address>(address->address) ? 32U : 128U));
    HOLDS(!address->peer || (address->peer->index() == address->address.index() && *address->peer != address->address));
}

void check(const std::optional<Route>& route)
{
    if (route)
        HOLDS(std::visit([](const auto& prefix) { return host_bits_are_zero(prefix); }, route->destination));
}

void check(const std::optional<Rule>& rule)
{
    if (rule && rule->from)
        HOLDS(host_bits_are_zero(*rule->from));
}

/// What came out, for parse_link too.
std::optional<Link> taken(const Link& link) { return link; }
template <class T>
std::optional<T> taken(const std::optional<T>& object) { return object; }

template <class Parse, class T>
void read(Parse parse, Bytes message, std::uint16_t type, std::vector<T>& list)
{
    std::vector<std::byte> bytes(message.begin(), message.end());
    if (bytes.size() >= sizeof(nlmsghdr))
        std::memcpy(bytes.data() + offsetof(nlmsghdr, nlmsg_type), &type, sizeof type);
    const auto object = parse(Bytes(bytes));
    if (!object)
        return fuzz::check_error(object.error());
    check(*object);
    // What is behind the message belongs to the next one.
    bytes.resize(bytes.size() + 4, std::byte{0xff});
    const auto same = parse(Bytes(bytes));
    HOLDS(same && *same == *object);
    if (auto one = taken(*object))
        list.push_back(std::move(*one));
}

void ask(const NetworkState& state)
{
    for (const Link& link : state.links) {
        HOLDS(state.find_link(link.name)->name == link.name);
        HOLDS(state.find_link(link.index)->index == link.index);
        HOLDS(state.wan_mtu(link) <= std::max(link.mtu, link.ipv6_mtu.value_or(0)));
        for (const Address* address : state.addresses_of(link.index))
            HOLDS(address->index == link.index);
        if (link.tunnel)
            HOLDS(state.tunnel_with_endpoints(link.tunnel->local, link.tunnel->remote, link.tunnel->lower_index) != nullptr);
        for (const Link* lan : state.ipv4_lan_devices(link.name, "mape0"))
            HOLDS(lan->up && lan->name != link.name && lan->name != "mape0");
    }
    if (const Link* wan = state.default_ipv6_device())
        HOLDS(wan->up);
    for (const Route* route : state.default_routes_ipv4(254, 0))
        HOLDS(route->table == 254 && route->metric == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto bytes = fuzz::exactly({data, size});
    NetworkState state;
    const auto read_all = [&](Bytes message) {
        read(parse_link, message, RTM_NEWLINK, state.links);
        read(parse_address, message, RTM_NEWADDR, state.addresses);
        read(parse_route, message, RTM_NEWROUTE, state.routes);
        read(parse_rule, message, RTM_NEWRULE, state.rules);
    };
    // The parsers check lengths themselves; then the messages one by one, as a dump's.
    read_all(bytes);
    for (Bytes rest = bytes;;) {
        const auto next = next_message(rest);
        if (!next || *next == nullptr)
            break;
        read_all(bytes_of(**next));
    }
    ask(state);
    return 0;
}
