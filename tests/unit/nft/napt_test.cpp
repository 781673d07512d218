#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nft/text.h"
#include "samples.h"

using namespace mape;
using nft::Protocol;

namespace {

std::string text_of(const NaptParameters& parameters)
{
    const auto ruleset = napt_ruleset(parameters);
    REQUIRE(ruleset);
    return nft::to_text(*ruleset);
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

std::string refusal(const NaptParameters& parameters)
{
    const auto ruleset = napt_ruleset(parameters);
    REQUIRE(!ruleset);
    CHECK(ruleset.error().kind == ErrorKind::input);
    return ruleset.error().message;
}

std::vector<std::uint16_t> ports_of(const std::vector<PortRange>& ranges)
{
    std::vector<std::uint16_t> ports;
    for (const PortRange range : ranges)
        for (std::uint32_t port = range.first; port <= range.last; ++port)
            ports.push_back(static_cast<std::uint16_t>(port));
    return ports;
}

/// The elements of the first map of ranges in a ruleset.
std::vector<nft::SourceNatMap::Element> first_map(const NaptParameters& parameters)
{
    const nft::Ruleset ruleset = *napt_ruleset(parameters);
    for (const nft::Chain& chain : ruleset.tables.front().chains)
        for (const nft::Rule& rule : chain.rules)
            for (const nft::Statement& statement : rule.statements)
                if (const auto* map = std::get_if<nft::SourceNatMap>(&statement))
                    return map->elements;
    return {};
}

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("source NAT hands out the set without what is reserved, in pieces of at most 128")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        const auto& [set, reserved] = std::tie(sample.parameters.ports, sample.parameters.reserved);
        const auto pieces = source_ports(set, reserved);
        std::vector<std::uint16_t> expected;
        for (std::uint32_t port = 1; port <= 65535; ++port) {
            const auto number = static_cast<std::uint16_t>(port);
            if (set.contains(number)
                && std::none_of(reserved.begin(), reserved.end(), [&](PortRange range) { return range.contains(number); }))
                expected.push_back(number);
        }
        CHECK(ports_of(pieces) == expected);
        CHECK(std::all_of(pieces.begin(), pieces.end(), [](PortRange piece) { return piece.size() <= 128; }));
    }
}

TEST_CASE("pieces of one range differ by one port at most")
{
    const auto pieces = source_ports(*PortSet::make(0, 2, 0), {});
    CHECK(pieces.size() == 128);
    const auto [least, most] = std::minmax_element(pieces.begin(), pieces.end(),
                                                   [](PortRange a, PortRange b) { return a.size() < b.size(); });
    CHECK(least->size() == 127);
    CHECK(most->size() == 128);
}

TEST_CASE("reservations may overlap, lie outside and come in any order")
{
    const PortSet set = *PortSet::make(4, 8, 0x34);
    CHECK(source_ports(set, {{4932, 4943}, {4928, 4935}, {1, 2}}) == source_ports(set, {{4928, 4943}}));
    CHECK(source_ports(set, {{0, 65535}}).empty());
}

TEST_CASE("the seeds' line: 63 pieces by turn, 64 turns")
{
    const auto ruleset = napt_ruleset(samples::seeds());
    REQUIRE(ruleset);
    REQUIRE(ruleset->tables.size() == 2);
    const nft::Table& table = ruleset->tables.front();
    CHECK(table.name.name == "mape_mape0");
    REQUIRE(table.maps.size() == 1);
    CHECK(table.maps.front().elements.size() == 64);
    CHECK(first_map(samples::seeds()).size() == 63);
    const std::string text = nft::to_text(*ruleset);
    CHECK(has(text, "map { 0 : 153.240.174.134 . 1728-1743,"));
    CHECK(has(text, "62 : 153.240.174.134 . 65216-65231 }; }\n"));
    CHECK(has(text, "ip saddr 153.240.174.134 meta l4proto { tcp, udp, dccp, sctp, udplite } th sport & 0x03f0 == 0x02c0 "
                    "th sport >= 1024 accept"));
    CHECK(has(text, "ip6 nexthdr 41 ip6 saddr 2001:380:a120::9 iifname \"wan0\" goto dropped"));
    CHECK(has(text, "tcp option maxseg size set 1420"));
}

TEST_CASE("a reserved port costs its piece a share, no more: units are the greatest common divisor of the sizes")
{
    NaptParameters parameters = samples::v6plus();
    parameters.reserved = {{4930, 4930}};
    const auto by_port = first_map(parameters);
    CHECK(by_port.size() == 16);
    CHECK(by_port[0].last == 1);    // 4928-4929: 2 of 239
    CHECK(by_port[1].last == 14);   // 4931-4943: 13
    CHECK(by_port.back().last == 238);
    CHECK(has(text_of(parameters), "numgen inc mod 239 map"));
    parameters.reserved = {{4928, 4935}};
    CHECK(first_map(parameters).back().last == 28);  // halves of 16: 1 and 14 times 2
    parameters.reserved = {{4928, 4943}};
    CHECK(first_map(parameters).back().last == 13);  // all whole again
}

TEST_CASE("64 turns, each over all pieces; fewer where the pieces are many, one where they are very many")
{
    const auto turns = [](const NaptParameters& parameters) { return count(text_of(parameters), "\tchain turn"); };
    CHECK(turns(samples::seeds()) == 64);
    CHECK(turns(samples::line("192.0.2.1", 8, 1, 1)) == 64);   // 255 pieces
    CHECK(turns(samples::line("192.0.2.1", 10, 1, 1)) == 16);  // 1023
    CHECK(turns(samples::line("192.0.2.1", 13, 1, 1)) == 2);   // 8191
    CHECK(turns(samples::line("192.0.2.1", 14, 1, 1)) == 0);   // 16383: one turn, without a chain of its own
    for (const NaptParameters& parameters : {samples::seeds(), samples::line("192.0.2.1", 14, 1, 1)}) {
        const std::string text = text_of(parameters);
        CHECK(count(text, "snat ip to numgen inc mod") == std::max<std::size_t>(turns(parameters), 1));
        CHECK(has(text, "@turn") == (turns(parameters) > 0));
    }
    // 16 flows in turn meet 16 pieces.
    const auto pieces = first_map(samples::v6plus());
    CHECK(pieces.size() == 15);
    CHECK(pieces.back().ports == PortRange{62016 + 256, 62016 + 271});
}

TEST_CASE("single ports beside ranges are a map of their own, with the share they have of all ports")
{
    NaptParameters parameters = samples::seeds();
    parameters.reserved = {{1742, 1742}, {2765, 2766}};  // leaves 1743 and 2767 single, and 1003 in ranges
    const std::string text = text_of(parameters);
    CHECK(has(text, "elements = { 0-1 : jump singles }"));
    CHECK(count(text, "numgen inc mod 1005 vmap @single\n") == 64);
    CHECK(count(text, "numgen inc mod 1003 map") == 64);
    CHECK(has(text, "numgen inc mod 2 map { 0 : 153.240.174.134 . 1743,\n\t\t\t1 : 153.240.174.134 . 2767 }"));
    parameters.reserved = {{1742, 1742}};
    CHECK(has(text_of(parameters), "snat ip to 153.240.174.134:1743"));
}

TEST_CASE("guards follow the parameters")
{
    NaptParameters parameters = samples::v6plus();
    SUBCASE("no minimum where a = 0")
    {
        parameters = samples::line("192.0.2.1", 0, 2, 3);
        CHECK(!has(text_of(parameters), "th sport >="));
    }
    SUBCASE("an address of its own: no port is asked for")
    {
        parameters = samples::line("192.0.2.1", 0, 0, 0);
        const std::string text = text_of(parameters);
        CHECK(!has(text, "th sport"));
        CHECK(has(text, "\t\tip saddr 192.0.2.1 accept\n"));
        CHECK(has(text, "snat ip to 192.0.2.1\n"));
        CHECK(!has(text, "counter out_outside_set"));
    }
    SUBCASE("a prefix: translated to all of it")
    {
        parameters = samples::line("192.0.2.16/28", 0, 0, 0);
        CHECK(has(text_of(parameters), "snat ip to 192.0.2.16-192.0.2.31 persistent\n"));
        CHECK(has(text_of(parameters), "ip daddr != 192.0.2.16/28 counter name \"in_not_ours\" drop"));
    }
    SUBCASE("all protocols: none is called other")
    {
        parameters = samples::line("192.0.2.1", 0, 0, 0);
        parameters.all_protocols = true;
        CHECK(!has(text_of(parameters), "other"));
        CHECK(!has(text_of(parameters), "meta l4proto"));
    }
    SUBCASE("inbound open")
    {
        CHECK(has(text_of(parameters), "counter name \"in_closed\" drop"));
        parameters.inbound_open = true;
        CHECK(!has(text_of(parameters), "in_closed"));
    }
    SUBCASE("log rate")
    {
        CHECK(has(text_of(parameters), "limit rate 5/minute burst 5 packets log prefix \"mape0 other protocol: \" level info"));
        parameters.log_rate = {};
        CHECK(!has(text_of(parameters), "log"));
    }
    SUBCASE("open ports, merged by protocol")
    {
        parameters.open = {{Protocol::udp, {4928, 4928}}, {Protocol::tcp, {4931, 4940}}, {Protocol::tcp, {4928, 4930}}};
        CHECK(has(text_of(parameters), "\t\ttcp dport 4928-4940 accept\n\t\tudp dport 4928 accept\n"));
    }
    SUBCASE("no table ip6 unless both WAN and border relay are known")
    {
        parameters.wan = samples::device("wan0");
        CHECK(!has(text_of(parameters), "ip6"));
    }
    SUBCASE("notrack, both ways")
    {
        CHECK(!has(text_of(parameters), "notrack"));
        parameters.lan_notrack = {{*Ipv4Prefix::parse("192.168.1.0/24"), *Ipv4Address::parse("192.168.1.1")}};
        CHECK(has(text_of(parameters), "ip daddr 192.168.1.1 ip saddr 192.168.1.0/24 notrack\n"));
        CHECK(has(text_of(parameters), "ip saddr 192.168.1.1 ip daddr 192.168.1.0/24 notrack\n"));
    }
}

TEST_CASE("comments fit into what nft keeps")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        const auto ruleset = napt_ruleset(sample.parameters);
        REQUIRE(ruleset);
        const auto fits = [](const std::string& comment) {
            return comment.size() <= nft::longest_comment && comment.find('"') == std::string::npos;
        };
        for (const nft::Table& table : ruleset->tables) {
            CHECK(fits(table.comment));
            for (const auto& counter : table.counters)
                CHECK(fits(counter.comment));
            for (const auto& map : table.maps)
                CHECK(fits(map.comment));
            for (const auto& chain : table.chains)
                CHECK(fits(chain.comment));
        }
    }
}

TEST_CASE("every name that is referred to is there, and every counter is used")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        const auto ruleset = napt_ruleset(sample.parameters);
        REQUIRE(ruleset);
        for (const nft::Table& table : ruleset->tables) {
            std::vector<std::string> chains;
            std::vector<std::string> counted;
            for (const nft::Chain& chain : table.chains)
                chains.push_back(chain.name);
            const auto is_chain = [&](const std::string& name) {
                return std::find(chains.begin(), chains.end(), name) != chains.end();
            };
            for (const auto& map : table.maps) {
                std::uint32_t next = 0;
                for (const auto& element : map.elements) {
                    CHECK(element.first == next);
                    next = element.last + 1;
                    CHECK(is_chain(element.chain));
                }
            }
            for (const nft::Chain& chain : table.chains)
                for (const nft::Rule& rule : chain.rules)
                    for (const nft::Statement& statement : rule.statements) {
                        if (const auto* verdict = std::get_if<nft::Verdict>(&statement); verdict && !verdict->chain.empty())
                            CHECK(is_chain(verdict->chain));
                        if (const auto* counter = std::get_if<nft::CounterReference>(&statement))
                            counted.push_back(counter->name);
                        if (const auto* vmap = std::get_if<nft::NumgenVmap>(&statement)) {
                            const auto map = std::find_if(table.maps.begin(), table.maps.end(),
                                                          [&](const auto& each) { return each.name == vmap->map; });
                            REQUIRE(map != table.maps.end());
                            CHECK(map->elements.back().last + 1 < vmap->modulus);
                        }
                        if (const auto* vmap = std::get_if<nft::HashVmap>(&statement)) {
                            const auto map = std::find_if(table.maps.begin(), table.maps.end(),
                                                          [&](const auto& each) { return each.name == vmap->map; });
                            REQUIRE(map != table.maps.end());
                            CHECK(map->elements.size() == vmap->modulus);
                        }
                    }
            for (const auto& counter : table.counters)
                CHECK(std::find(counted.begin(), counted.end(), counter.name) != counted.end());
            for (const std::string& name : counted)
                CHECK(std::any_of(table.counters.begin(), table.counters.end(),
                                  [&](const auto& counter) { return counter.name == name; }));
        }
    }
}

TEST_CASE("the mark: same text, same hash; the version is not hashed")
{
    const auto mark = [](const NaptParameters& parameters) { return napt_ruleset(parameters)->tables.front().comment; };
    NaptParameters parameters = samples::v6plus();
    const std::string first = mark(parameters);
    CHECK(first == mark(parameters));
    CHECK(first.substr(0, 11) == "mape-gen 0 ");
    CHECK(first.size() == 11 + 16);
    CHECK(nft::is_mark(first));
    CHECK(!nft::is_mark("mape-generator"));
    parameters.version = "9";
    CHECK(mark(parameters).substr(11) == first.substr(11));
    parameters.tunnel_mtu = 1452;
    CHECK(mark(parameters).substr(11) != first.substr(11));
    const auto both = napt_ruleset(samples::seeds());
    CHECK(both->tables[0].comment == both->tables[1].comment);
}

TEST_CASE("refused, with a sentence")
{
    NaptParameters parameters = samples::v6plus();
    SUBCASE("a shared prefix")
    {
        parameters.ipv4 = *Ipv4Prefix::parse("192.0.2.0/28");
        CHECK(has(refusal(parameters), "192.0.2.0/28"));
    }
    SUBCASE("ports of a prefix reserved")
    {
        parameters = samples::line("192.0.2.0/28", 0, 0, 0);
        parameters.reserved = {{1, 2}};
        CHECK(has(refusal(parameters), "192.0.2.0/28"));
    }
    SUBCASE("no address at all")
    {
        parameters = samples::line("0.0.0.0/0", 0, 0, 0);
        CHECK(has(refusal(parameters), "0.0.0.0/0"));
    }
    SUBCASE("all protocols of a shared address")
    {
        parameters.all_protocols = true;
        CHECK(has(refusal(parameters), "protocols all"));
    }
    SUBCASE("no protocol")
    {
        parameters.protocols = {};
        CHECK(has(refusal(parameters), "protocol"));
    }
    SUBCASE("no port left")
    {
        parameters.reserved = {{0, 65535}};
        CHECK(has(refusal(parameters), "no port is left"));
    }
    SUBCASE("an open port outside the set")
    {
        parameters.open = {{Protocol::tcp, {4928, 4944}}};
        CHECK(has(refusal(parameters), "4944"));
    }
    SUBCASE("icmp opened")
    {
        parameters.open = {{Protocol::icmp, {4928, 4928}}};
        CHECK(has(refusal(parameters), "icmp"));
    }
    SUBCASE("MTU")
    {
        parameters.tunnel_mtu = 67;
        CHECK(has(refusal(parameters), "67"));
        parameters.tunnel_mtu = 65536;
        CHECK(has(refusal(parameters), "65536"));
    }
    SUBCASE("a LAN that is everything")
    {
        parameters.lan_notrack = {{*Ipv4Prefix::parse("0.0.0.0/0"), *Ipv4Address::parse("192.168.1.1")}};
        CHECK(has(refusal(parameters), "lan-notrack"));
    }
    SUBCASE("a tunnel whose table could not be named")
    {
        for (const char* name : {"a:b", "a@b", "a+b"}) {
            parameters.tunnel = samples::device(name);
            CHECK(has(refusal(parameters), name));
        }
    }
}
