#include "netlink/rtnl_read.h"

#include <net/if_arp.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.h"
#include "netlink/message_builder.h"

namespace mape::netlink {

namespace {

// The family header and the attributes behind it.
template <class T>
struct Opened {
    T family_header;
    std::span<const std::byte> attributes;
};

template <class T>
Result<Opened<T>> open_message(std::span<const std::byte> message, unsigned type, const char* what)
{
    nlmsghdr header{};
    if (message.size() < sizeof header)
        return fail(failure(fmt::format("malformed {} from the kernel: {} bytes are no message", what, message.size())));
    std::memcpy(&header, message.data(), sizeof header);
    if (header.nlmsg_type != type)
        return fail(failure(fmt::format("malformed {} from the kernel: message type {}, not {}", what, header.nlmsg_type,
                                        type)));
    if (header.nlmsg_len > message.size() || header.nlmsg_len < NLMSG_HDRLEN + sizeof(T))
        return fail(failure(fmt::format("malformed {} from the kernel: a length of {} in {} bytes", what, header.nlmsg_len,
                                        message.size())));
    Opened<T> opened{};
    std::memcpy(&opened.family_header, message.data() + NLMSG_HDRLEN, sizeof(T));
    const std::size_t start = std::min<std::size_t>(NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(T)), header.nlmsg_len);
    opened.attributes = message.subspan(start, header.nlmsg_len - start);
    return opened;
}

bool is_ip(int family) { return family == AF_INET || family == AF_INET6; }

std::optional<std::variant<Ipv4Address, Ipv6Address>> ip_address(const Attributes& attributes, int family, unsigned type)
{
    if (family == AF_INET) {
        if (const auto address = attributes.ipv4(type))
            return *address;
    } else if (const auto address = attributes.ipv6(type)) {
        return *address;
    }
    return std::nullopt;
}

// Host bits zero, as a prefix has them.
Ipv4Prefix prefix_of(Ipv4Address address, unsigned length)
{
    const std::uint32_t host_bits = length == 0 ? ~std::uint32_t{0} : (std::uint32_t{1} << (32 - length)) - 1;
    return {{address.value & ~host_bits}, length};
}

Ip6Tunnel parse_tunnel(const Attributes& data)
{
    Ip6Tunnel tunnel;
    tunnel.local = data.ipv6(IFLA_IPTUN_LOCAL).value_or(Ipv6Address{});
    tunnel.remote = data.ipv6(IFLA_IPTUN_REMOTE).value_or(Ipv6Address{});
    tunnel.lower_index = data.u32(IFLA_IPTUN_LINK).value_or(0);
    tunnel.protocol = data.u8(IFLA_IPTUN_PROTO).value_or(0);
    tunnel.hop_limit = data.u8(IFLA_IPTUN_TTL).value_or(0);
    tunnel.encap_limit = data.u8(IFLA_IPTUN_ENCAP_LIMIT).value_or(0);
    tunnel.flow_info = data.be32(IFLA_IPTUN_FLOWINFO).value_or(0);
    // The kernel adds what it concludes from the two addresses: IP6_TNL_F_CAP_XMIT, _RCV and _PER_PACKET of its own
    // include/net/ip6_tunnel.h.
    constexpr std::uint32_t concluded = 0x70000;
    tunnel.flags = data.u32(IFLA_IPTUN_FLAGS).value_or(0) & ~concluded;
    tunnel.fwmark = data.u32(IFLA_IPTUN_FWMARK).value_or(0);
    tunnel.collect_metadata = data.has(IFLA_IPTUN_COLLECT_METADATA);
    tunnel.encapsulation = data.u16(IFLA_IPTUN_ENCAP_TYPE).value_or(0);
    return tunnel;
}

// The first next hop of RTA_MULTIPATH: a run of struct rtnexthop, each with attributes behind it.
Result<void> take_first_hop(std::span<const std::byte> bytes, int family, Route& route)
{
    rtnexthop hop{};
    if (bytes.size() < sizeof hop)
        return fail(failure("malformed route from the kernel: a next hop is cut off"));
    std::memcpy(&hop, bytes.data(), sizeof hop);
    if (hop.rtnh_len < sizeof hop || hop.rtnh_len > bytes.size())
        return fail(failure(
            fmt::format("malformed route from the kernel: a next hop claims {} bytes of {}", hop.rtnh_len, bytes.size())));
    route.out_index = static_cast<unsigned>(hop.rtnh_ifindex);
    const Attributes attributes(bytes.subspan(sizeof hop, hop.rtnh_len - sizeof hop), "next hop");
    route.gateway = ip_address(attributes, family, RTA_GATEWAY);
    return attributes.check();
}

// IPv4 with an IPv6 gateway (RFC 5549): struct rtvia, a family and its address.
Result<void> take_via(std::span<const std::byte> bytes, Route& route)
{
    std::uint16_t family = 0;
    if (bytes.size() < sizeof family)
        return fail(failure("malformed route from the kernel: a gateway without a family"));
    std::memcpy(&family, bytes.data(), sizeof family);
    if (family != AF_INET6)
        return {};
    Ipv6Address gateway;
    if (bytes.size() < sizeof family + gateway.bytes.size())
        return fail(failure("malformed route from the kernel: an IPv6 gateway is cut off"));
    std::memcpy(gateway.bytes.data(), bytes.data() + sizeof family, gateway.bytes.size());
    route.gateway = gateway;
    return {};
}

bool is_default(const Route& route)
{
    return std::visit([](const auto& prefix) { return prefix.length == 0; }, route.destination);
}

template <class T>
Message dump_request(unsigned type, const T& family_header)
{
    return MessageBuilder(type, 0).family_header(family_header).finish();
}

template <class T>
Result<void> read_list(Socket& socket, Message request, const char* what,
                       Result<std::optional<T>> (*parse)(std::span<const std::byte>), std::vector<T>& list)
{
    const std::size_t before = list.size();
    return socket.dump(
        std::move(request), what,
        [&](const nlmsghdr& message) -> Result<void> {
            auto object = parse(bytes_of(message));
            if (!object)
                return fail(with_context(what, object.error()));
            if (*object)
                list.push_back(std::move(**object));
            return {};
        },
        [&] { list.erase(list.begin() + static_cast<std::ptrdiff_t>(before), list.end()); });
}

Result<std::optional<Link>> parse_any_link(std::span<const std::byte> message)
{
    auto link = parse_link(message);
    if (!link)
        return fail(link.error());
    return std::move(*link);
}

}  // namespace

Result<Link> parse_link(std::span<const std::byte> message)
{
    const auto opened = open_message<ifinfomsg>(message, RTM_NEWLINK, "link");
    if (!opened)
        return fail(opened.error());
    const ifinfomsg& header = opened->family_header;
    const Attributes attributes(opened->attributes, "link");
    Link link;
    link.index = static_cast<unsigned>(header.ifi_index);
    link.hardware_type = header.ifi_type;
    link.up = (header.ifi_flags & IFF_UP) != 0;
    link.running = (header.ifi_flags & IFF_RUNNING) != 0;
    link.name = attributes.text(IFLA_IFNAME).value_or("");
    link.mtu = attributes.u32(IFLA_MTU).value_or(0);
    link.operational_state = attributes.u8(IFLA_OPERSTATE).value_or(0);
    // An index in another namespace means nothing here.
    if (!attributes.has(IFLA_LINK_NETNSID))
        link.lower_index = attributes.u32(IFLA_LINK).value_or(0);
    link.master_index = attributes.u32(IFLA_MASTER).value_or(0);
    link.alias = attributes.text(IFLA_IFALIAS).value_or("");
    link.group = attributes.u32(IFLA_GROUP).value_or(0);
    const Attributes info = attributes.nested(IFLA_LINKINFO);
    link.kind = info.text(IFLA_INFO_KIND).value_or("");
    if (link.kind == "ip6tnl")
        link.tunnel = parse_tunnel(info.nested(IFLA_INFO_DATA));
    const Attributes ipv6 = attributes.nested(IFLA_AF_SPEC).nested(AF_INET6);
    link.address_generation = ipv6.u8(IFLA_INET6_ADDR_GEN_MODE);
    // An array of 32-bit values, one for each DEVCONF_* of include/uapi/linux/ipv6.h.
    constexpr std::size_t mtu_at = DEVCONF_MTU6 * sizeof(std::uint32_t);
    if (const auto settings = ipv6.bytes(IFLA_INET6_CONF, mtu_at + sizeof(std::uint32_t))) {
        std::uint32_t mtu = 0;
        std::memcpy(&mtu, settings->data() + mtu_at, sizeof mtu);
        link.ipv6_mtu = mtu;
    }
    if (auto good = attributes.check(); !good)
        return fail(good.error());
    if (link.index == 0 || link.name.empty())
        return fail(failure("malformed link from the kernel: no index or no name"));
    return link;
}

Result<std::optional<Address>> parse_address(std::span<const std::byte> message)
{
    const auto opened = open_message<ifaddrmsg>(message, RTM_NEWADDR, "address");
    if (!opened)
        return fail(opened.error());
    const ifaddrmsg& header = opened->family_header;
    if (!is_ip(header.ifa_family))
        return std::nullopt;
    const Attributes attributes(opened->attributes, "address");
    const auto local = ip_address(attributes, header.ifa_family, IFA_LOCAL);
    const auto address = ip_address(attributes, header.ifa_family, IFA_ADDRESS);
    Address result;
    result.index = header.ifa_index;
    result.prefix_length = header.ifa_prefixlen;
    result.scope = header.ifa_scope;
    result.flags = attributes.u32(IFA_FLAGS).value_or(header.ifa_flags);
    result.protocol = attributes.u8(IFA_PROTO).value_or(0);
    if (const auto lifetimes = attributes.bytes(IFA_CACHEINFO, sizeof(ifa_cacheinfo))) {
        ifa_cacheinfo info{};
        std::memcpy(&info, lifetimes->data(), sizeof info);
        result.preferred_lifetime = info.ifa_prefered;
        result.valid_lifetime = info.ifa_valid;
    }
    if (auto good = attributes.check(); !good)
        return fail(good.error());
    // IPv6 without a peer sends IFA_ADDRESS alone, IPv4 both with equal values; with a peer IFA_ADDRESS is the peer's.
    if (!local && !address)
        return fail(failure("malformed address from the kernel: there is none in it"));
    if (header.ifa_prefixlen > (header.ifa_family == AF_INET ? 32 : 128))
        return fail(failure(fmt::format("malformed address from the kernel: prefix length {}", header.ifa_prefixlen)));
    result.address = local ? *local : *address;
    if (local && address && *local != *address)
        result.peer = address;
    return result;
}

Result<std::optional<Route>> parse_route(std::span<const std::byte> message)
{
    const auto opened = open_message<rtmsg>(message, RTM_NEWROUTE, "route");
    if (!opened)
        return fail(opened.error());
    const rtmsg& header = opened->family_header;
    if (!is_ip(header.rtm_family))
        return std::nullopt;
    const Attributes attributes(opened->attributes, "route");
    Route route;
    route.type = header.rtm_type;
    route.protocol = header.rtm_protocol;
    route.scope = header.rtm_scope;
    route.table = attributes.u32(RTA_TABLE).value_or(header.rtm_table);
    route.metric = attributes.u32(RTA_PRIORITY).value_or(0);
    route.out_index = attributes.u32(RTA_OIF).value_or(0);
    route.gateway = ip_address(attributes, header.rtm_family, RTA_GATEWAY);
    if (header.rtm_dst_len > (header.rtm_family == AF_INET ? 32 : 128))
        return fail(failure(fmt::format("malformed route from the kernel: prefix length {}", header.rtm_dst_len)));
    if (header.rtm_family == AF_INET)
        route.destination = prefix_of(attributes.ipv4(RTA_DST).value_or(Ipv4Address{}), header.rtm_dst_len);
    else
        route.destination = Ipv6Prefix::of(attributes.ipv6(RTA_DST).value_or(Ipv6Address{}), header.rtm_dst_len);
    if (const auto via = attributes.bytes(RTA_VIA)) {
        if (auto taken = take_via(*via, route); !taken)
            return fail(taken.error());
    }
    if (const auto hops = attributes.bytes(RTA_MULTIPATH)) {
        if (auto taken = take_first_hop(*hops, header.rtm_family, route); !taken)
            return fail(taken.error());
    }
    route.other_attributes = header.rtm_tos != 0 || attributes.has(RTA_PREFSRC) || attributes.has(RTA_METRICS)
                             || attributes.has(RTA_MULTIPATH) || attributes.has(RTA_ENCAP)
                             || (header.rtm_flags & ~unsigned{RTNH_F_LINKDOWN | RTNH_F_DEAD}) != 0;
    if (auto good = attributes.check(); !good)
        return fail(good.error());
    return route;
}

Result<std::optional<Rule>> parse_rule(std::span<const std::byte> message)
{
    const auto opened = open_message<fib_rule_hdr>(message, RTM_NEWRULE, "rule");
    if (!opened)
        return fail(opened.error());
    const fib_rule_hdr& header = opened->family_header;
    if (header.family != AF_INET)
        return std::nullopt;
    const Attributes attributes(opened->attributes, "rule");
    Rule rule;
    rule.preference = attributes.u32(FRA_PRIORITY).value_or(0);
    rule.table = attributes.u32(FRA_TABLE).value_or(header.table);
    rule.action = header.action;
    rule.protocol = attributes.u8(FRA_PROTOCOL).value_or(0);
    rule.iif = attributes.text(FRA_IIFNAME).value_or("");
    if (header.src_len > 32)
        return fail(failure(fmt::format("malformed rule from the kernel: prefix length {}", header.src_len)));
    const Ipv4Address source = attributes.ipv4(FRA_SRC).value_or(Ipv4Address{});
    if (header.src_len != 0)
        rule.from = prefix_of(source, header.src_len);
    // The kernel sends FRA_SUPPRESS_PREFIXLEN with every rule, -1 meaning that nothing is suppressed.
    constexpr std::uint32_t suppresses_nothing = UINT32_MAX;
    rule.other_selectors =
        header.dst_len != 0 || header.tos != 0 || (header.flags & FIB_RULE_INVERT) != 0
        // "from 192.168.1.5/24": the kernel keeps the host bits, and takes it for another rule than the one without.
        || (rule.from && rule.from->address != source)
        || attributes.u32(FRA_SUPPRESS_PREFIXLEN).value_or(suppresses_nothing) != suppresses_nothing
        || attributes.u32(FRA_SUPPRESS_IFGROUP).value_or(suppresses_nothing) != suppresses_nothing;
    for (const unsigned selector : {FRA_FWMARK, FRA_OIFNAME, FRA_UID_RANGE, FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE,
                                    FRA_TUN_ID, FRA_L3MDEV, FRA_FLOW, FRA_GOTO})
        rule.other_selectors = rule.other_selectors || attributes.has(selector);
    if (auto good = attributes.check(); !good)
        return fail(good.error());
    return rule;
}

Result<NetworkState> NetworkState::read(Socket& socket)
{
    // No IFLA_EXT_MASK to leave the statistics out: the kernel would leave out IFLA_INET6_ADDR_GEN_MODE with them
    // (net/ipv6/addrconf.c inet6_fill_ifla6_attrs).
    NetworkState state;
    if (auto good = read_list(socket, dump_request(RTM_GETLINK, ifinfomsg{}), "read the devices", parse_any_link, state.links);
        !good)
        return fail(good.error());
    if (auto good =
            read_list(socket, dump_request(RTM_GETADDR, ifaddrmsg{}), "read the addresses", parse_address, state.addresses);
        !good)
        return fail(good.error());
    for (const int family : {AF_INET, AF_INET6}) {
        rtmsg header{};
        header.rtm_family = static_cast<unsigned char>(family);
        if (auto good = read_list(socket, dump_request(RTM_GETROUTE, header), "read the routes", parse_route, state.routes);
            !good && !(family == AF_INET6 && good.error().errnum == EOPNOTSUPP))
            return fail(good.error());
    }
    fib_rule_hdr header{};
    header.family = AF_INET;
    // EOPNOTSUPP: a kernel without policy rules, or without IPv6 above, has none to show.
    if (auto good = read_list(socket, dump_request(RTM_GETRULE, header), "read the rules", parse_rule, state.rules);
        !good && good.error().errnum != EOPNOTSUPP)
        return fail(good.error());
    return state;
}

Result<NetworkState> NetworkState::read_link(Socket& socket, const InterfaceName& name)
{
    NetworkState state;
    const auto get = [&](MessageBuilder builder) -> Result<void> {
        return socket.get(builder.finish(), "read a link", [&](const nlmsghdr& message) -> Result<void> {
            auto link = parse_link(bytes_of(message));
            if (!link)
                return fail(std::move(link.error()));
            state.links.push_back(std::move(*link));
            return {};
        });
    };
    const auto absent = [](const Error& error) { return error.errnum == ENODEV; };
    MessageBuilder by_name(RTM_GETLINK, 0);
    by_name.family_header(ifinfomsg{}).text_nul(IFLA_IFNAME, name.str());
    if (auto good = get(std::move(by_name)); !good && !absent(good.error()))
        return fail(std::move(good.error()));
    const unsigned lower = !state.links.empty() && state.links.front().tunnel ? state.links.front().tunnel->lower_index : 0;
    if (lower == 0)
        return state;
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(lower);
    MessageBuilder by_index(RTM_GETLINK, 0);
    by_index.family_header(header);
    if (auto good = get(std::move(by_index)); !good && !absent(good.error()))
        return fail(std::move(good.error()));
    return state;
}

const Link* NetworkState::find_link(std::string_view name) const
{
    const auto it = std::find_if(links.begin(), links.end(), [name](const Link& link) { return link.name == name; });
    return it == links.end() ? nullptr : &*it;
}

const Link* NetworkState::find_link(unsigned index) const
{
    const auto it = std::find_if(links.begin(), links.end(), [index](const Link& link) { return link.index == index; });
    return it == links.end() ? nullptr : &*it;
}

const Link* NetworkState::default_ipv6_device() const
{
    const Link* best = nullptr;
    std::uint32_t best_metric = 0;
    for (const Route& route : routes) {
        if (!std::holds_alternative<Ipv6Prefix>(route.destination) || !is_default(route) || route.type != RTN_UNICAST
            || route.table != RT_TABLE_MAIN)
            continue;
        const Link* link = find_link(route.out_index);
        if (!link || !link->up || (best && route.metric >= best_metric))
            continue;
        best = link;
        best_metric = route.metric;
    }
    return best;
}

const Link* NetworkState::tunnel_with_endpoints(const Ipv6Address& local, const Ipv6Address& remote,
                                                unsigned lower_index) const
{
    const auto it = std::find_if(links.begin(), links.end(), [&](const Link& link) {
        return link.tunnel && link.tunnel->local == local && link.tunnel->remote == remote
               && link.tunnel->lower_index == lower_index;
    });
    return it == links.end() ? nullptr : &*it;
}

std::vector<const Route*> NetworkState::default_routes_ipv4(std::uint32_t table, std::uint32_t metric) const
{
    std::vector<const Route*> found;
    for (const Route& route : routes)
        if (std::holds_alternative<Ipv4Prefix>(route.destination) && is_default(route) && route.table == table
            && route.metric == metric)
            found.push_back(&route);
    return found;
}

unsigned NetworkState::wan_mtu(const Link& wan) const
{
    return std::min(wan.mtu, wan.ipv6_mtu.value_or(wan.mtu));
}

std::vector<const Link*> NetworkState::ipv4_lan_devices(std::string_view wan, std::string_view tunnel) const
{
    std::vector<const Link*> found;
    for (const Link& link : links) {
        const bool has_ipv4 = std::any_of(addresses.begin(), addresses.end(), [&link](const Address& address) {
            return address.index == link.index && std::holds_alternative<Ipv4Address>(address.address);
        });
        const bool ours = link.tunnel && link.alias.starts_with(our_alias);
        if (has_ipv4 && link.up && link.hardware_type != ARPHRD_LOOPBACK && link.name != wan && link.name != tunnel && !ours)
            found.push_back(&link);
    }
    return found;
}

std::vector<const Address*> NetworkState::addresses_of(unsigned index) const
{
    std::vector<const Address*> found;
    for (const Address& address : addresses)
        if (address.index == index)
            found.push_back(&address);
    return found;
}

}  // namespace mape::netlink
