// rtnetlink against the kernel that runs: what we set is seen by iproute2, what iproute2 sets is seen by us.
//
// Each case has a network namespace of its own with a veth pair wan0-lan0. Needs root and iproute2. Exit code 77 and a reason:
// could not run. "rtnl_test ip6tnl" runs the cases that need an ip6tnl device (Debian's stock kernel in QEMU has it),
// "rtnl_test" all others.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <linux/capability.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip6_tunnel.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <string>
#include <sys/syscall.h>

#include "command.h"
#include "netlink/end_user_prefix.h"
#include "netlink/message_builder.h"
#include "netlink/privilege.h"
#include "netlink/rtnl_build.h"
#include "netlink/rtnl_read.h"
#include "sysctl/sysctl.h"

using namespace mape;
using namespace mape::netlink;

namespace {

constexpr int skipped = 77;

InterfaceName name(const char* text) { return *InterfaceName::parse(text); }
Ipv6Address ipv6(const char* text) { return *Ipv6Address::parse(text); }
Ipv4Address ipv4(const char* text) { return *Ipv4Address::parse(text); }
unsigned index_of(const char* device) { return ::if_nametoindex(device); }

// Blanks run together and trimmed, so that lines can be compared.
std::string output(const std::string& command, int* status = nullptr)
{
    std::string text;
    for (const char c : lab::output(command, status)) {
        const char next = c == '\n' || c == '\t' ? ' ' : c;
        if (next != ' ' || (!text.empty() && text.back() != ' '))
            text += next;
    }
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

void sh(const std::string& command) { lab::output(command); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A namespace of our own, entered for good: the next case makes the next one.
struct Namespace {
    Namespace()
    {
        REQUIRE(::unshare(CLONE_NEWNET) == 0);
        sh("ip link set lo up && ip link add wan0 type veth peer name lan0 && ip link set wan0 up && ip link set lan0 up");
        auto opened = Socket::open(NETLINK_ROUTE);
        REQUIRE(opened);
        socket.emplace(std::move(*opened));
    }
    void done(Message message)
    {
        const auto answer = socket->request(std::move(message), "do it");
        CAPTURE((answer ? std::string() : to_text(answer.error())));
        REQUIRE(answer);
    }
    Error refused(Message message)
    {
        const auto answer = socket->request(std::move(message), "do it");
        REQUIRE_FALSE(answer);
        return answer.error();
    }
    NetworkState read()
    {
        auto state = NetworkState::read(*socket);
        CAPTURE((state ? std::string() : to_text(state.error())));
        REQUIRE(state);
        return std::move(*state);
    }
    // The kernel tells a change of the carrier late (net/core/link_watch.c: at most once a second).
    NetworkState read_when(const char* device, std::uint8_t operational_state)
    {
        for (int i = 0; i < 50; ++i) {
            NetworkState state = read();
            if (state.find_link(device)->operational_state == operational_state)
                return state;
            ::usleep(100'000);
        }
        return read();
    }
    std::optional<Socket> socket;
};

const Address* find_address(const NetworkState& state, unsigned index, const std::variant<Ipv4Address, Ipv6Address>& wanted)
{
    for (const Address* address : state.addresses_of(index))
        if (address->address == wanted)
            return address;
    return nullptr;
}

bool answers_to_ip6tnl()
{
    const pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWNET) != 0)
            ::_exit(1);
        auto socket = Socket::open(NETLINK_ROUTE);
        const Tunnel tunnel{name("probe"), ipv6("2001:db8::1"), ipv6("2001:db8::2"), {}, 64, 1460, our_alias};
        ::_exit(socket && socket->request(create_tunnel(tunnel, 0), "probe") ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
}

}  // namespace

TEST_CASE("addresses we set")
{
    Namespace ns;
    const unsigned wan = index_of("wan0");
    const DeviceAddress ce{name("wan0"), ipv6("2001:db8::1"), 128, true, true, true};
    const DeviceAddress plain{name("wan0"), ipv6("2001:db8:1::1"), 64, true};
    const DeviceAddress shared{name("wan0"), ipv4("192.0.2.1"), 32};
    for (const DeviceAddress& address : {ce, plain, shared})
        ns.done(add_address(address, wan));
    CHECK(ns.socket->writes() == 3);

    const std::string shown = output("ip addr show dev wan0");
    CHECK(contains(shown, "inet6 2001:db8::1/128 scope global nodad deprecated noprefixroute valid_lft forever preferred_lft 0sec"));
    CHECK(contains(shown, "inet6 2001:db8:1::1/64 scope global nodad valid_lft forever preferred_lft forever"));
    CHECK(contains(shown, "inet 192.0.2.1/32 scope global wan0 valid_lft forever preferred_lft forever"));
    const std::string routes = output("ip -6 route show dev wan0");
    CHECK(contains(routes, "2001:db8:1::/64 "));
    CHECK_FALSE(contains(routes, "2001:db8::1 "));

    const NetworkState state = ns.read();
    const Address* read = find_address(state, wan, ipv6("2001:db8::1"));
    REQUIRE(read);
    CHECK(read->protocol == our_protocol);
    CHECK((read->flags & (IFA_F_NODAD | IFA_F_NOPREFIXROUTE | IFA_F_DEPRECATED | IFA_F_PERMANENT)) ==
          (IFA_F_NODAD | IFA_F_NOPREFIXROUTE | IFA_F_DEPRECATED | IFA_F_PERMANENT));
    CHECK(read->preferred_lifetime == 0);
    CHECK(read->valid_lifetime == UINT32_MAX);
    CHECK(read->prefix_length == 128);
    CHECK(read->scope == RT_SCOPE_UNIVERSE);
    read = find_address(state, wan, ipv4("192.0.2.1"));
    REQUIRE(read);
    CHECK(read->protocol == our_protocol);
    CHECK(read->prefix_length == 32);
    CHECK_FALSE(read->peer);
    CHECK(end_user_prefix_candidates(state, std::vector{wan}).empty());  // they are ours

    for (const DeviceAddress& address : {ce, plain, shared})
        CHECK(ns.refused(add_address(address, wan)).errnum == EEXIST);
    for (const DeviceAddress& address : {ce, plain, shared})
        ns.done(delete_address(address, wan));
    for (const DeviceAddress& address : {ce, plain, shared})
        CHECK(ns.refused(delete_address(address, wan)).errnum == EADDRNOTAVAIL);
    CHECK(ns.refused(add_address(ce, 9999)).errnum == ENODEV);
}

TEST_CASE("addresses and routes iproute2 set")
{
    Namespace ns;
    sh("ip addr add 10.0.0.1 peer 10.0.0.2/32 dev lan0");
    sh("ip addr add 192.168.1.1/24 dev lan0");
    sh("ip -6 addr add 2001:db8:1:2::1/64 dev wan0 nodad");
    sh("ip -6 addr add 2001:db8:9::7/128 dev wan0 nodad");
    sh("ip -6 addr add 2001:db8:3::1/64 dev wan0 nodad preferred_lft 0 valid_lft 1000");
    sh("ip -6 addr add fd00::1/64 dev lan0 nodad");
    sh("ip -6 route add default via fe80::1 dev wan0 metric 2048");
    sh("ip -6 route add default via fe80::2 dev lan0 metric 1024 table 100");
    sh("ip -6 route add unreachable 2001:db8:5:ab00::/56");
    sh("ip -6 route add blackhole 2001:db8:6::/60 table 200");
    sh("ip route add default via 192.168.1.254 dev lan0 metric 5 proto static");
    sh("ip route add prohibit 198.51.100.0/24 metric 7");
    sh("ip route add 203.0.113.0/24 nexthop via 192.168.1.253 dev lan0 nexthop via 192.168.1.252 dev lan0");

    const NetworkState state = ns.read();
    const unsigned wan = index_of("wan0");
    const unsigned lan = index_of("lan0");
    const Address* peered = find_address(state, lan, ipv4("10.0.0.1"));
    REQUIRE(peered);
    CHECK(std::get<Ipv4Address>(*peered->peer) == ipv4("10.0.0.2"));
    const Address* leaving = find_address(state, wan, ipv6("2001:db8:3::1"));
    REQUIRE(leaving);
    CHECK(leaving->preferred_lifetime == 0);
    CHECK(leaving->valid_lifetime <= 1000);
    CHECK(leaving->valid_lifetime >= 990);
    CHECK(leaving->protocol == 0);

    REQUIRE(state.default_ipv6_device());
    CHECK(state.default_ipv6_device()->name == "wan0");
    const auto defaults = state.default_routes_ipv4(254, 5);
    REQUIRE(defaults.size() == 1);
    CHECK(std::get<Ipv4Address>(*defaults[0]->gateway) == ipv4("192.168.1.254"));
    CHECK(defaults[0]->protocol == RTPROT_STATIC);
    CHECK(defaults[0]->out_index == lan);
    const auto has_route = [&](const auto& prefix, std::uint8_t type, std::uint32_t metric, unsigned out) {
        for (const Route& route : state.routes)
            if (route.destination == std::variant<Ipv4Prefix, Ipv6Prefix>(prefix) && route.type == type
                && route.metric == metric && route.out_index == out)
                return true;
        return false;
    };
    CHECK(has_route(*Ipv4Prefix::parse("198.51.100.0/24"), RTN_PROHIBIT, 7, 0));
    CHECK(has_route(*Ipv4Prefix::parse("203.0.113.0/24"), RTN_UNICAST, 0, lan));
    CHECK(has_route(*Ipv6Prefix::parse("2001:db8:5:ab00::/56"), RTN_UNREACHABLE, 1024, 1));

    std::vector<std::string> seen;
    for (const auto& candidate : end_user_prefix_candidates(state, std::vector{wan, lan}))
        seen.push_back(candidate.seen);
    CHECK(seen == std::vector<std::string>{"unreachable route 2001:db8:5:ab00::/56 (DHCPv6-PD)",
                                           "blackhole route 2001:db8:6::/60 (DHCPv6-PD)",
                                           "address 2001:db8:1:2::1/64 on wan0", "address 2001:db8:9::7/128 on wan0"});
    const auto lans = state.ipv4_lan_devices("wan0", "mape0");
    REQUIRE(lans.size() == 1);
    CHECK(lans[0]->name == "lan0");
}

TEST_CASE("routes we set")
{
    Namespace ns;
    const unsigned wan = index_of("wan0");
    const unsigned lan = index_of("lan0");
    sh("ip link set lan0 up");
    ns.done(add_route({name("wan0")}, wan));
    ns.done(add_route({name("wan0"), 1000, 100}, wan));
    CHECK(output("ip route show") == "default dev wan0 proto 77 scope link");
    CHECK(output("ip route show table 1000") == "default dev wan0 proto 77 scope link metric 100");
    NetworkState state = ns.read();
    const auto main_table = state.default_routes_ipv4(254, 0);
    REQUIRE(main_table.size() == 1);
    const Route expected{Ipv4Prefix{{}, 0}, RTN_UNICAST, our_protocol, RT_SCOPE_LINK, 254, 0, wan, std::nullopt};
    CHECK(*main_table[0] == expected);
    CHECK(state.default_routes_ipv4(1000, 100).size() == 1);

    CHECK(ns.refused(add_route({name("wan0")}, wan)).errnum == EEXIST);
    CHECK(ns.refused(add_route({name("lan0")}, lan)).errnum == EEXIST);
    ns.done(delete_route({name("wan0")}, wan));
    CHECK(ns.refused(delete_route({name("wan0")}, wan)).errnum == ESRCH);
    ns.done(delete_route({name("wan0"), 1000, 100}, wan));

    // Somebody else's default route is neither replaced nor deleted.
    sh("ip route add default dev lan0");
    CHECK(ns.refused(add_route({name("wan0")}, wan)).errnum == EEXIST);
    ns.done(add_route({name("wan0"), 254, 0, true}, wan));
    state = ns.read();
    const auto both = state.default_routes_ipv4(254, 0);
    REQUIRE(both.size() == 2);
    CHECK(both[0]->out_index == wan);
    CHECK(both[1]->out_index == lan);
    ns.done(delete_route({name("wan0"), 254, 0, true}, wan));
    CHECK(ns.refused(delete_route({name("lan0")}, lan)).errnum == ESRCH);
    CHECK(output("ip route show") == "default dev lan0 scope link");
}

TEST_CASE("rules we set and iproute2 set")
{
    Namespace ns;
    const PolicyRule full{1000, name("lan0"), *Ipv4Prefix::parse("192.168.1.0/24"), 1000};
    const PolicyRule bare{1001, {}, {}, 100};
    ns.done(add_rule(full));
    ns.done(add_rule(bare));
    sh("ip rule add pref 900 fwmark 1 lookup 50");
    const std::string shown = output("ip rule show");
    CHECK(contains(shown, "1000: from 192.168.1.0/24 iif lan0 lookup 1000 proto 77"));
    CHECK(contains(shown, "1001: from all lookup 100 proto 77"));
    const NetworkState state = ns.read();
    REQUIRE(state.rules.size() == 6);  // with local, main and default
    const Rule marked{900, 50, FR_ACT_TO_TBL, RTPROT_UNSPEC, "", std::nullopt, true};
    CHECK(state.rules[1] == marked);
    const Rule ours{1000, 1000, FR_ACT_TO_TBL, our_protocol, "lan0", *Ipv4Prefix::parse("192.168.1.0/24"), false};
    CHECK(state.rules[2] == ours);
    CHECK(state.rules[3].table == 100);
    CHECK(state.rules[4].preference == 32766);
    CHECK(state.rules[4].table == RT_TABLE_MAIN);
    CHECK_FALSE(state.rules[4].other_selectors);
    CHECK(ns.refused(add_rule(full)).errnum == EEXIST);

    ns.done(delete_rule(full));
    ns.done(delete_rule(bare));
    CHECK(ns.refused(delete_rule(full)).errnum == ENOENT);
    sh("ip rule add pref 1000 iif lan0 from 192.168.1.0/24 lookup 1000");
    CHECK(ns.refused(delete_rule(full)).errnum == ENOENT);  // equal, but somebody else's
}

TEST_CASE("links")
{
    Namespace ns;
    const unsigned wan = index_of("wan0");
    ns.done(set_link_up(wan, false));
    NetworkState state = ns.read_when("lan0", IF_OPER_LOWERLAYERDOWN);
    const Link* link = state.find_link("wan0");
    REQUIRE(link);
    CHECK_FALSE(link->up);
    CHECK(link->kind == "veth");
    CHECK(link->lower_index == index_of("lan0"));
    CHECK_FALSE(state.find_link("lan0")->running);
    CHECK(state.find_link("lan0")->operational_state == IF_OPER_LOWERLAYERDOWN);
    ns.done(set_link_up(wan, true));
    sh("ip link set wan0 mtu 1492 alias 'a b'; ip link set wan0 addrgenmode none; echo 1400 >/proc/sys/net/ipv6/conf/wan0/mtu");
    state = ns.read_when("wan0", IF_OPER_UP);
    link = state.find_link("wan0");
    CHECK(link->up);
    CHECK(link->running);
    CHECK(link->operational_state == IF_OPER_UP);
    CHECK(link->mtu == 1492);
    CHECK(link->ipv6_mtu == 1400);
    CHECK(state.wan_mtu(*link) == 1400);
    CHECK(link->alias == "a b");
    CHECK(link->address_generation == IN6_ADDR_GEN_MODE_NONE);
    CHECK(state.find_link("lo")->kind.empty());

    Tunnel marked{name("wan0"), {}, {}, {}, 64, 1460, "mape-gen x"};
    ns.done(mark_tunnel(marked, wan));
    CHECK(ns.read().find_link("wan0")->alias == "mape-gen x");
    ns.done(delete_link(wan));
    CHECK(ns.read().find_link("wan0") == nullptr);
    CHECK(ns.refused(delete_link(wan)).errnum == ENODEV);
}

TEST_CASE("the kernel's own sentence comes through")
{
    Namespace ns;
    // A route whose out device does not exist, and one that the parser refuses: strict policies say which attribute.
    CHECK(ns.refused(add_route({name("none"), 254, 0}, 9999)).errnum == ENODEV);
    MessageBuilder odd(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    odd.family_header(ifinfomsg{}).nest(IFLA_LINKINFO, [&] { odd.text(IFLA_INFO_KIND, "no-such-kind"); });
    CHECK(to_text(ns.refused(odd.finish())) == "do it: Operation not supported (kernel: Unknown device type)");
    MessageBuilder short_one(RTM_NEWROUTE, NLM_F_CREATE);
    rtmsg header{};
    header.rtm_family = AF_INET;
    short_one.family_header(header).u8(RTA_OIF, 1);
    const Error error = ns.refused(short_one.finish());
    CHECK(error.errnum == ERANGE);
    CHECK(contains(error.kernel_message, "attribute type 4 at byte 28 of the request"));
}

TEST_CASE("a dump larger than a datagram, and one given up half way")
{
    Namespace ns;
    for (unsigned i = 0; i < 2000; ++i)
        ns.done(add_rule({10000 + i, name("lan0"), Ipv4Prefix{Ipv4Address{0x0a000000 + i}, 32}, 1000}));
    CHECK(ns.read().rules.size() == 2003);

    fib_rule_hdr header{};
    header.family = AF_INET;
    unsigned seen = 0;
    const auto stopped = ns.socket->dump(MessageBuilder(RTM_GETRULE, 0).family_header(header).finish(), "list rules",
                                         [&](const nlmsghdr&) -> Result<void> {
                                             if (++seen == 5)
                                                 return fail(failure("enough"));
                                             return {};
                                         });
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().message == "enough");
    CHECK(seen == 5);
    CHECK(ns.read().rules.size() == 2003);  // the socket is as good as new
}

namespace {

struct Batch {
    std::vector<std::byte> bytes;
    std::vector<Labelled> labels;

    void add(unsigned type, unsigned flags, std::string label, const std::string& table = {})
    {
        const bool bound = type == NFNL_MSG_BATCH_BEGIN || type == NFNL_MSG_BATCH_END;
        nfgenmsg header{};
        header.nfgen_family = bound ? AF_UNSPEC : NFPROTO_IPV4;
        header.res_id = bound ? htons(NFNL_SUBSYS_NFTABLES) : std::uint16_t{0};
        MessageBuilder builder(type, NLM_F_REQUEST | flags);
        builder.family_header(header);
        if (!bound)
            builder.text_nul(NFTA_TABLE_NAME, table);
        Message message = builder.finish();
        const auto sequence = static_cast<std::uint32_t>(labels.size() + 1);
        std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
        bytes.insert(bytes.end(), message.begin(), message.end());
        labels.push_back({sequence, std::move(label)});
    }
};

// `count` messages that add `different` tables with long names over and over, the last one acknowledged, or all.
Batch tables(unsigned count, unsigned different, bool acknowledge_all = false, unsigned delete_missing_at = UINT32_MAX)
{
    constexpr unsigned subsystem = NFNL_SUBSYS_NFTABLES << 8;
    Batch batch;
    batch.add(NFNL_MSG_BATCH_BEGIN, 0, "start the transaction");
    for (unsigned i = 0; i < count; ++i) {
        const std::string table = std::string(100, 't') + std::to_string(i % different);
        if (i == delete_missing_at)
            batch.add(subsystem | NFT_MSG_DELTABLE, 0, "delete table none", "none");
        batch.add(subsystem | NFT_MSG_NEWTABLE, NLM_F_CREATE | (acknowledge_all || i + 1 == count ? NLM_F_ACK : 0),
                  "add table " + table, table);
    }
    batch.add(NFNL_MSG_BATCH_END, 0, "end the transaction");
    return batch;
}

unsigned count_tables(Socket& socket)
{
    unsigned count = 0;
    const auto read = socket.dump(
        MessageBuilder(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE, 0).family_header(nfgenmsg{}).finish(), "list tables",
        [&](const nlmsghdr&) -> Result<void> {
            ++count;
            return {};
        },
        [&] { count = 0; });
    REQUIRE(read);
    return count;
}

}  // namespace

TEST_CASE("batches")
{
    Namespace ns;
    auto opened = Socket::open(NETLINK_NETFILTER);
    REQUIRE(opened);
    Socket& socket = *opened;
    const auto send = [&](const Batch& batch) { return socket.send_batch(batch.bytes, batch.labels); };

    const auto missing = send(tables(10, 10, false, 5));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message == "delete table none");
    CHECK(missing.error().errnum == ENOENT);
    CHECK(contains(missing.error().kernel_message, "attribute type 1 at byte 20 of the request"));
    CHECK(count_tables(socket) == 0);

    const Batch large = tables(2000, 2000);
    CHECK(large.bytes.size() > 212 * 1024);
    CHECK(send(large));
    CHECK(count_tables(socket) == 2000);

    // More acknowledgements than any queue holds: committed, and never told as a refusal.
    const auto drowned = send(tables(20000, 2001, true));
    CHECK(count_tables(socket) == 2001);
    MESSAGE("20000 acknowledgements: " << (drowned ? "all read" : to_text(drowned.error())));
    if (!drowned)
        CHECK(drowned.error().errnum == ENOBUFS);
    CHECK(send(tables(1, 1)));  // and nothing of it is left for the next one
    CHECK(socket.writes() == 4);

    const pid_t child = ::fork();
    if (child == 0) {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct none[2]{};
        const bool dropped = ::syscall(SYS_capset, &header, none) == 0;
        auto powerless = Socket::open(NETLINK_NETFILTER);
        const Batch some = tables(3, 3);
        const auto refused = powerless->send_batch(some.bytes, some.labels);
        ::_exit(dropped && !refused && refused.error().kind == ErrorKind::privilege
                        && refused.error().message == "start the transaction"
                    ? 0
                    : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("IPv4 forwarding resets just what is told before")
{
    Namespace ns;
    const Sysctl sysctl;
    // An odd state, as an administrator may have it.
    REQUIRE(sysctl.write("net/ipv4/ip_forward", "0"));
    REQUIRE(sysctl.write("net/ipv4/conf/all/accept_redirects", "0"));
    REQUIRE(sysctl.write("net/ipv4/conf/lan0/forwarding", "1"));
    const std::string everything = "grep -r . /proc/sys/net/ipv4 2>/dev/null | sort";
    const std::string before = output(everything);
    const auto values = sysctl.ipv4_forwarding_side_effects();
    REQUIRE(values);
    CHECK(values->size() >= 5);  // redirects; forwarding of default, lo, wan0, lan0, and of what loaded modules bring
    CHECK(values->at("net/ipv4/conf/lan0/forwarding") == "1");
    for (const char* value : {"1", "0"}) {
        REQUIRE(sysctl.write("net/ipv4/ip_forward", value));
        CHECK(output(everything) != before);
    }
    for (const auto& [key, value] : *values)
        REQUIRE(sysctl.write(key, value));
    CHECK(output(everything) == before);
    const auto odd = sysctl.write("net/ipv4/ip_forward", "maybe");
    REQUIRE_FALSE(odd);
    CHECK(to_text(odd.error()) == "cannot write sysctl net/ipv4/ip_forward = maybe: Invalid argument");
}

TEST_CASE("privilege")
{
    Namespace ns;
    CHECK(require_net_admin());
    // Each in a child, for there is no way back.
    const auto in_child = [](const std::function<bool()>& check) {
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(check() ? 0 : 1);
        int status = 1;
        ::waitpid(child, &status, 0);
        return status == 0;
    };
    CHECK(in_child([] {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct none[2]{};
        if (::syscall(SYS_capset, &header, none) != 0)
            return false;
        const auto answer = require_net_admin();
        return !answer && answer.error().kind == ErrorKind::privilege;
    }));
    // A user namespace of its own in the old network namespace: all capabilities, and none that counts here.
    CHECK(in_child([] {
        if (::unshare(CLONE_NEWUSER) != 0)
            return true;  // forbidden here (a sysctl of the distribution's): nothing to see
        const auto answer = require_net_admin();
        return !answer && answer.error().kind == ErrorKind::privilege;
    }));
    CHECK(in_child([] { return ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 || require_net_admin().has_value(); }));
}

TEST_CASE("ip6tnl: created, changed in place, read back")
{
    Namespace ns;
    const unsigned wan = index_of("wan0");
    Tunnel tunnel{name("mape0"), ipv6("2001:db8::1"), ipv6("2001:db8:ffff::9"), name("wan0"), 64, 1452, "mape-gen test"};
    // Why there are two messages: in the one that creates, Linux 6.1 drops the alias and refuses the address generation mode.
    const auto create_with = [&](const Message& attributes) {
        Message message = create_tunnel(tunnel, wan);
        message.insert(message.end(), attributes.begin() + NLMSG_HDRLEN, attributes.end());
        return message;
    };
    MessageBuilder mode(RTM_NEWLINK, 0);
    mode.nest(IFLA_AF_SPEC, [&] {
        mode.nest(AF_INET6, [&] { mode.u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE); });
    });
    CHECK(ns.refused(create_with(mode.finish())).errnum == EAFNOSUPPORT);
    ns.done(create_with(MessageBuilder(RTM_NEWLINK, 0).text(IFLA_IFALIAS, tunnel.alias).finish()));
    const unsigned index = index_of("mape0");
    NetworkState state = ns.read();
    CHECK(state.find_link("mape0")->alias.empty());
    ns.done(mark_tunnel(tunnel, index));

    // Beside it one made by iproute2, in another namespace since the kernel allows one tunnel of these endpoints.
    const auto shown_by = [](const std::string& where) {
        // The index differs, a random permanent address, and the qdisc of what has been up once; the rest has to be equal.
        return output(where + "ip -d link show mape0 | sed -e 's/^[0-9]*: //' -e 's/ permaddr [0-9a-f:]*//' "
                              "-e 's/ qdisc no[a-z]*//'");
    };
    sh("ip netns add other");
    sh("ip -n other link add wan0 type veth peer name lan0 && ip -n other link set wan0 up");
    const auto make_other = [&](const std::string& rest) {
        sh("ip -n other -6 tunnel add mape0 mode ipip6 encaplimit none " + rest);
        sh("ip -n other link set mape0 mtu 1452 alias 'mape-gen test' && ip -n other link set mape0 addrgenmode none");
    };
    make_other("local 2001:db8::1 remote 2001:db8:ffff::9 dev wan0 hoplimit 64");
    CHECK(shown_by("") == shown_by("ip netns exec other "));
    CHECK(output("ip -6 tunnel show mape0") == output("ip -n other -6 tunnel show mape0"));

    state = ns.read();
    const Link* link = state.find_link("mape0");
    REQUIRE(link);
    REQUIRE(link->tunnel);
    const Ip6Tunnel expected{tunnel.local, tunnel.remote, wan, 4, 64, 4, 0, IP6_TNL_F_IGN_ENCAP_LIMIT, 0, false, 0};
    CHECK(*link->tunnel == expected);
    CHECK(link->mtu == 1452);
    CHECK(link->alias == "mape-gen test");
    CHECK(link->lower_index == wan);
    CHECK(link->address_generation == IN6_ADDR_GEN_MODE_NONE);
    CHECK_FALSE(link->up);
    CHECK(state.tunnel_with_endpoints(tunnel.local, tunnel.remote, wan) == link);

    // Up: no link-local address, and not one packet for it.
    ns.done(set_link_up(index, true));
    CHECK(ns.read().addresses_of(index).empty());

    CHECK(ns.refused(create_tunnel(tunnel, wan)).errnum == EEXIST);
    Tunnel twin = tunnel;
    twin.name = name("mape1");
    CHECK(ns.refused(create_tunnel(twin, wan)).errnum == EEXIST);

    // Every attribute changes at once, while it is up, and comes back the same way.
    Tunnel changed = tunnel;
    changed.local = ipv6("2001:db8::2");
    changed.remote = ipv6("2001:db8:ffff::8");
    changed.bound_to.reset();
    changed.hop_limit = 33;
    changed.mtu = 1400;
    changed.alias = "mape-gen other";
    ns.done(change_tunnel(changed, index, 0));
    state = ns.read();
    link = state.find_link("mape0");
    REQUIRE(link->tunnel);
    const Ip6Tunnel after{changed.local, changed.remote, 0, 4, 33, 4, 0, IP6_TNL_F_IGN_ENCAP_LIMIT, 0, false, 0};
    CHECK(*link->tunnel == after);
    CHECK(link->index == index);
    CHECK(link->up);
    CHECK(link->mtu == 1400);
    CHECK(link->alias == "mape-gen other");
    ns.done(change_tunnel(tunnel, index, wan));
    ns.done(set_link_up(index, false));
    CHECK(shown_by("") == shown_by("ip netns exec other "));

    ns.done(delete_link(index));
    sh("ip netns del other");
}

TEST_CASE("ip6tnl: made by iproute2, seen by us")
{
    Namespace ns;
    sh("ip -6 tunnel add t6 mode ip6ip6 local 2001:db8::5 remote 2001:db8::6 encaplimit 7 hoplimit 9 tclass 0x10 flowlabel 0x12345");
    sh("ip link add t7 type ip6tnl mode any external");
    const NetworkState state = ns.read();
    const Link* link = state.find_link("t6");
    REQUIRE(link);
    REQUIRE(link->tunnel);
    const Ip6Tunnel expected{ipv6("2001:db8::5"), ipv6("2001:db8::6"), 0, 41, 9, 7, 0x01012345, 0, 0, false, 0};
    CHECK(link->tunnel->flow_info == expected.flow_info);
    CHECK(link->tunnel->protocol == 41);
    CHECK(link->tunnel->encap_limit == 7);
    CHECK(link->tunnel->hop_limit == 9);
    CHECK(state.find_link("t7")->tunnel->collect_metadata);
    CHECK(state.find_link("ip6tnl0")->tunnel->remote == Ipv6Address{});
}

int main(int argc, char** argv)
{
    if (::geteuid() != 0) {
        std::puts("SKIP: needs root");
        return skipped;
    }
    if (::unshare(CLONE_NEWNET) != 0) {
        std::printf("SKIP: no network namespace of our own (unshare: %s)\n", std::strerror(errno));
        return skipped;
    }
    if (std::system("exec bash -c 'ip -V' >/dev/null 2>&1") != 0) {
        std::puts("SKIP: needs iproute2 and bash");
        return skipped;
    }
    // rtnl_test ip6tnl: the cases that need the driver, and only those; without the word all others.
    const bool want_ip6tnl = argc > 1 && std::strcmp(argv[1], "ip6tnl") == 0;
    if (want_ip6tnl && !answers_to_ip6tnl()) {
        std::puts("SKIP: this kernel has no ip6tnl (module ip6_tunnel)");
        return skipped;
    }
    doctest::Context context(argc, argv);
    context.addFilter(want_ip6tnl ? "test-case" : "test-case-exclude", "ip6tnl:*");
    return context.run();
}
