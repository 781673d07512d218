#include "cli/options.h"

#include "base/number.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>

namespace mape::cli {

namespace {

constexpr std::string_view blanks = " \t,";

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> words(std::string_view text)
{
    std::vector<std::string_view> list;
    for (auto first = text.find_first_not_of(blanks); first != std::string_view::npos;
         first = text.find_first_not_of(blanks)) {
        text.remove_prefix(first);
        const auto length = std::min(text.find_first_of(blanks), text.size());
        list.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return list;
}

template <class Target, class Value>
Result<void> assign(Target& target, Result<Value> value)
{
    if (!value)
        return fail(value.error());
    target = std::move(*value);
    return {};
}

template <class Target>
Result<void> number(Target& target, std::string_view value, std::uint32_t min, std::uint32_t max)
{
    const auto parsed = parse_number(value, min, max);
    if (!parsed)
        return fail(input_error(fmt::format("\"{}\" is not a number from {} to {}", value, min, max)));
    target = *parsed;
    return {};
}

Result<void> yes_or_no(bool& target, std::string_view value)
{
    if (value != "yes" && value != "no")
        return fail(input_error(fmt::format("\"{}\" is neither yes nor no", value)));
    target = value == "yes";
    return {};
}

Result<void> set_lan(Settings& settings, std::string_view value)
{
    settings.lan.clear();
    if (value == "auto")
        return {};
    for (const std::string_view word : words(value)) {
        auto device = InterfaceName::parse(word);
        if (!device)
            return fail(device.error());
        if (std::find(settings.lan.begin(), settings.lan.end(), *device) != settings.lan.end())
            return fail(input_error(fmt::format("{} stands twice in the list", word)));
        settings.lan.push_back(*device);
    }
    return {};
}

Result<void> set_isp(Settings& settings, std::string_view value)
{
    const auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    };
    if (!std::all_of(value.begin(), value.end(), allowed))
        return fail(input_error(fmt::format("\"{}\" is not the name of a rule table: mape-gen isp list shows them", value)));
    settings.line.isp.reset();
    if (value != "auto")
        settings.line.isp = std::string(value);
    return {};
}

Result<void> set_iid(Settings& settings, std::string_view value)
{
    const auto format = parse_iid_format(value);
    if (!format && value != "auto")
        return fail(input_error(fmt::format("\"{}\" is not rfc7597, draft03 or auto", value)));
    settings.line.rule.iid = format;
    return {};
}

Result<void> set_default_route(Settings& settings, std::string_view value)
{
    if (value == "yes")
        settings.default_route = DefaultRouteMode::yes;
    else if (value == "no")
        settings.default_route = DefaultRouteMode::no;
    else if (value == "prepend")
        settings.default_route = DefaultRouteMode::prepend;
    else
        return fail(input_error(fmt::format("\"{}\" is not yes, no or prepend", value)));
    return {};
}

Result<void> set_table(Settings& settings, std::string_view value)
{
    // RT_TABLE_LOCAL, 255, is the kernel's own.
    const auto id = value == "main" ? std::optional<std::uint32_t>(254) : parse_number(value, 1, 0xffffffff);
    if (value != "off" && (!id || *id == 255))
        return fail(input_error(
            fmt::format("\"{}\" is not main, off or a table number from 1 to 4294967295 other than 255", value)));
    settings.table = value == "off" ? std::nullopt : id;
    return {};
}

Result<void> add_rule(Settings& settings, std::string_view value)
{
    std::optional<InterfaceName> iif;
    std::optional<Ipv4Prefix> from;
    std::optional<std::uint32_t> preference;
    const auto list = words(value);
    for (std::size_t i = 0; i < list.size(); i += 2) {
        if (i + 1 == list.size())
            return fail(input_error(fmt::format("\"{}\" has nothing behind it; such as iif br0 pref 1000", list[i])));
        Result<void> done;
        if (list[i] == "iif" && !iif)
            done = assign(iif, InterfaceName::parse(list[i + 1]));
        else if (list[i] == "from" && !from)
            done = assign(from, Ipv4Prefix::parse(list[i + 1]));
        else if (list[i] == "pref" && !preference)
            done = number(preference, list[i + 1], 1, 32765);
        else
            return fail(input_error(
                fmt::format("\"{}\": each of iif, from and pref at most once, such as iif br0 pref 1000", list[i])));
        if (!done)
            return done;
    }
    if (!preference)
        return fail(input_error("pref is missing, the place among the rules; such as iif br0 pref 1000"));
    if (!iif && !from)
        return fail(input_error("neither iif nor from: that would catch all traffic; such as iif br0 pref 1000"));
    settings.rules.push_back({iif, from, *preference});
    return {};
}

Result<void> add_reservation(Settings& settings, std::string_view value)
{
    const auto list = words(value);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] != "last-ranges") {
            const auto range = PortRange::parse(list[i]);
            if (!range)
                return fail(range.error());
            settings.reserve.push_back(*range);
            continue;
        }
        const auto count = ++i < list.size() ? parse_number(list[i], 1, 65535) : std::nullopt;
        if (!count)
            return fail(input_error("last-ranges needs a number from 1 to 65535 behind it, such as last-ranges 2"));
        settings.reserve.push_back(LastRanges{*count});
    }
    return {};
}

Result<void> set_protocols(Settings& settings, std::string_view value)
{
    settings.all_protocols = value == "all";
    settings.protocols.reset();
    if (settings.all_protocols)
        return {};
    std::vector<nft::Protocol> list;
    for (const std::string_view word : words(value)) {
        const auto protocol = nft::parse_protocol(word);
        if (!protocol)
            return fail(protocol.error());
        if (std::find(list.begin(), list.end(), *protocol) == list.end())
            list.push_back(*protocol);
    }
    settings.protocols = std::move(list);
    return {};
}

Result<void> set_inbound(Settings& settings, std::string_view value)
{
    if (value != "closed" && value != "open")
        return fail(input_error(fmt::format("\"{}\" is neither closed nor open", value)));
    settings.inbound_open = value == "open";
    return {};
}

Result<void> add_open(Settings& settings, std::string_view value)
{
    std::optional<nft::Protocol> protocol;
    bool unused = false;
    for (const std::string_view word : words(value)) {
        if (word.front() >= '0' && word.front() <= '9') {
            const auto ports = PortRange::parse(word);
            if (!ports)
                return fail(ports.error());
            if (!protocol)
                return fail(input_error(fmt::format("no protocol before {}; such as tcp 22, udp 51820", word)));
            settings.open.push_back({*protocol, *ports});
            unused = false;
            continue;
        }
        if (unused)
            break;
        const auto named = nft::parse_protocol(word);
        if (!named)
            return fail(named.error());
        if (*named == nft::Protocol::icmp)
            return fail(input_error("icmp has no ports, and is always let in"));
        protocol = *named;
        unused = true;
    }
    if (unused)
        return fail(input_error("no port behind the protocol; such as tcp 22, udp 51820"));
    return {};
}

Result<void> set_lan_notrack(Settings& settings, std::string_view value)
{
    settings.lan_notrack.clear();
    const auto list = words(value);
    for (std::size_t i = 0; i < list.size(); i += 2) {
        const auto lan = Ipv4Prefix::parse(list[i]);
        if (!lan)
            return fail(lan.error());
        if (i + 1 == list.size())
            return fail(input_error(fmt::format("behind {} the router's own address in it is missing; "
                                                "such as 192.168.1.0/24 192.168.1.2", list[i])));
        const auto router = Ipv4Address::parse(list[i + 1]);
        if (!router)
            return fail(router.error());
        if (!lan->contains(*router))
            return fail(input_error(fmt::format("{} is not an address of {}", list[i + 1], list[i])));
        settings.lan_notrack.push_back({*lan, *router});
    }
    return {};
}

Result<void> set_log_rate(Settings& settings, std::string_view value)
{
    settings.log_rate.reset();
    if (value == "off")
        return {};
    const auto rate = nft::LimitRate::parse(value);
    if (!rate)
        return fail(input_error(fmt::format("\"{}\" is not off or a number from 1 to 1000000 and /second, /minute, /hour or "
                                            "/day; such as 5/minute", value)));
    settings.log_rate = *rate;
    return {};
}

constexpr std::string_view interfaces = "interfaces";
constexpr std::string_view map = "map";
constexpr std::string_view tunnel = "tunnel";
constexpr std::string_view nat = "nat";
constexpr std::string_view filter = "filter";
constexpr std::array sections{interfaces, map, tunnel, nat, filter};

using Text = std::string_view;

template <class Target, class Parser>
Result<void> parse_or_auto(Target& target, Text value, Parser parser)
{
    target.reset();
    if (value == "auto")
        return {};
    return assign(target, parser(value));
}

constexpr std::array rows{
    OptionRow{"wan", interfaces, "DEVICE|auto", "auto", "device of the IPv6 line; auto: that of the IPv6 default route", false,
              [](Settings& s, Text v) { return parse_or_auto(s.wan, v, InterfaceName::parse); }},
    OptionRow{"lan", interfaces, "DEVICE...|auto", "auto",
              "devices of the LAN; auto: every up device with an IPv4 address but WAN, tunnel, lo", false, set_lan},

    OptionRow{"prefix", map, "PREFIX|auto", "auto", "the end-user prefix of the line; auto: read from the kernel", false,
              [](Settings& s, Text v) { return parse_or_auto(s.line.prefix, v, parse_end_user_prefix); }},
    OptionRow{"isp", map, "NAME|auto", "auto", "search the rule tables of this provider only", false, set_isp},
    OptionRow{"rule-ipv6", map, "PREFIX", "from a table", "rule IPv6 prefix", false,
              [](Settings& s, Text v) { return assign(s.line.rule.rule_ipv6, Ipv6Prefix::parse(v)); }},
    OptionRow{"rule-ipv4", map, "PREFIX", "from a table", "rule IPv4 prefix", false,
              [](Settings& s, Text v) { return assign(s.line.rule.rule_ipv4, Ipv4Prefix::parse(v)); }},
    OptionRow{"ea-length", map, "0-48", "from a table", "how many bits of the prefix are EA bits", false,
              [](Settings& s, Text v) { return number(s.line.rule.ea_length, v, 0, 48); }},
    OptionRow{"psid-offset", map, "0-15", "from a table, else 6", "bits of a port before the PSID", false,
              [](Settings& s, Text v) { return number(s.line.rule.psid_offset, v, 0, 15); }},
    OptionRow{"psid", map, "0-65535", "from the prefix", "the PSID, where the EA bits do not carry it", false,
              [](Settings& s, Text v) { return number(s.line.rule.psid, v, 0, 65535); }},
    OptionRow{"psid-length", map, "0-16", "from the rule", "length of the PSID in bits", false,
              [](Settings& s, Text v) { return number(s.line.rule.psid_length, v, 0, 16); }},
    OptionRow{"br", map, "ADDRESS|auto", "from a table", "IPv6 address of the border relay", false,
              [](Settings& s, Text v) { return parse_or_auto(s.line.br, v, Ipv6Address::parse); }},
    OptionRow{"iid", map, "rfc7597|draft03|auto", "from a table, else rfc7597", "form of the interface identifier", false, set_iid},
    OptionRow{"ipv4", map, "ADDRESS[/LEN]", "computed", "fixed-address line: the address or block of the contract", false,
              [](Settings& s, Text v) { return assign(s.line.ipv4, Ipv4Prefix::parse(v)); }},
    OptionRow{"ce", map, "ADDRESS", "computed", "fixed-address line: the CE address of the contract", false,
              [](Settings& s, Text v) { return assign(s.line.ce, Ipv6Address::parse(v)); }},

    OptionRow{"tunnel", tunnel, "DEVICE", "NAME", "name of the tunnel device", false,
              [](Settings& s, Text v) { return assign(s.tunnel, parse_tunnel_name(v)); }},
    OptionRow{"mtu", tunnel, "1280-65495|auto", "WAN MTU - 40", "MTU of the tunnel", false,
              [](Settings& s, Text v) {
                  s.mtu.reset();
                  return v == "auto" ? Result<void>{} : number(s.mtu, v, 1280, 65495);
              }},
    OptionRow{"bind-device", tunnel, "yes|no", "yes", "bind the tunnel to the WAN device", false,
              [](Settings& s, Text v) { return yes_or_no(s.bind_device, v); }},
    OptionRow{"default-route", tunnel, "yes|no|prepend", "yes",
              "IPv4 default route into the tunnel; prepend: before a foreign one of the same metric", false, set_default_route},
    OptionRow{"metric", tunnel, "0-4294967295", "0", "metric of that route", false,
              [](Settings& s, Text v) { return number(s.metric, v, 0, 0xffffffff); }},
    OptionRow{"table", tunnel, "main|off|NUMBER", "main", "routing table of that route; off: no route is set", false, set_table},
    OptionRow{"rule", tunnel, "[iif DEVICE] [from PREFIX] pref NUMBER", "none",
              "policy rule that looks up `table`", true, add_rule},
    OptionRow{"forwarding", tunnel, "yes|no", "yes", "switch IPv4 forwarding on", false,
              [](Settings& s, Text v) { return yes_or_no(s.forwarding, v); }},

    OptionRow{"reserve", nat, "last-ranges N|PORT[-PORT]...", "none", "ports of the set that source NAT leaves alone", true,
              add_reservation},
    OptionRow{"protocols", nat, "NAME...|all", "tcp udp icmp udplite sctp dccp",
              "protocols that are translated; all: every one, only where the address is not shared", false, set_protocols},

    OptionRow{"inbound", filter, "closed|open", "closed",
              "new connections from the tunnel to the router; closed: icmp, forwards and `open` only", false, set_inbound},
    OptionRow{"open", filter, "PROTOCOL PORT[-PORT]...", "none", "services of the router that may be reached from the tunnel",
              true, add_open},
    OptionRow{"lan-notrack", filter, "PREFIX ADDRESS...", "none",
              "LAN and the router's address in it: traffic between them is not tracked", false, set_lan_notrack},
    OptionRow{"log-rate", filter, "N/second|minute|hour|day, off", "5/minute", "how often dropped packets are logged", false,
              set_log_rate},
};

constexpr auto names = [] {
    std::array<std::string_view, rows.size()> list{};
    for (std::size_t i = 0; i < rows.size(); ++i)
        list[i] = rows[i].name;
    return list;
}();

}  // namespace

std::span<const OptionRow> option_rows()
{
    return rows;
}

std::span<const std::string_view> option_names()
{
    return names;
}

std::span<const std::string_view> option_sections()
{
    return sections;
}

const OptionRow* find_option(std::string_view name)
{
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& r) { return r.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

Result<void> set_option(const OptionRow& row, Settings& settings, std::string_view value)
{
    value = trim(value);
    // A list of separators only is as empty as nothing at all.
    if (value.find_first_not_of(blanks) == std::string_view::npos)
        return fail(input_error(fmt::format("the value is missing; allowed: {}", row.syntax)));
    if (value.find('\0') != std::string_view::npos)
        return fail(input_error("the value holds a NUL byte"));
    return row.set(settings, value);
}

Result<InterfaceName> parse_tunnel_name(std::string_view text)
{
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    const auto allowed = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    };
    auto name = InterfaceName::parse(text);
    if (!name || !letter(text.front()) || !std::all_of(text.begin(), text.end(), allowed))
        return fail(input_error(fmt::format("\"{}\" is not a name for a tunnel: a letter, then letters, digits or any of . _ -, "
                                            "15 in all at most", text)));
    if (text == "ip6tnl0")
        return fail(input_error("\"ip6tnl0\" is the device that the ip6_tunnel module makes for itself: take another name, "
                                "such as mape0"));
    return name;
}

Result<Ipv6Prefix> parse_end_user_prefix(std::string_view text)
{
    if (text.find('/') != std::string_view::npos)
        return Ipv6Prefix::parse(text);
    const auto address = Ipv6Address::parse(text);
    if (!address)
        return fail(input_error(fmt::format("\"{}\" is not an IPv6 prefix such as 2001:db8:12:3400::/56", text)));
    return Ipv6Prefix::of(*address, 64);
}

std::vector<Error> check_settings(const Settings& settings)
{
    std::vector<Error> errors;
    if (!settings.rules.empty() && (!settings.table || *settings.table == 254))
        errors.push_back(input_error(fmt::format("{} needs a routing table of its own", stated_key(settings, "rule")),
                                     "say which one: table = 300 in [tunnel]"));
    if (!settings.tunnel)
        return errors;
    const std::string same = fmt::format("names the tunnel's own device, {}", settings.tunnel->str());
    if (settings.wan == settings.tunnel)
        errors.push_back(input_error(fmt::format("{} {}", stated_key(settings, "wan"), same)));
    if (std::find(settings.lan.begin(), settings.lan.end(), *settings.tunnel) != settings.lan.end())
        errors.push_back(input_error(fmt::format("{} {}", stated_key(settings, "lan"), same)));
    return errors;
}

}  // namespace mape::cli
