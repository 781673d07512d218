// Reading nf_tables back: every change that somebody makes to our tables is seen, packets passing are not one.
// Needs root, nft and iproute2. Exit code 77 and a reason: could not run.
#define DOCTEST_CONFIG_IMPLEMENT
#include "nft_lab.h"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../unit/nft/samples.h"

using namespace mape;

namespace {

/// Lines of one that are not in the other.
std::vector<std::string> only_in(std::vector<std::string> a, std::vector<std::string> b)
{
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<std::string> left;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(left));
    return left;
}

/// The handle of the first rule of a chain whose listing has `part`.
std::string handle_of(const std::string& chain, const std::string& part)
{
    return lab::output("nft -a list chain ip mape_mape0 " + chain + " | grep '" + part
                       + "' | sed 's/.*# handle //' | head -n 1");
}

}  // namespace

TEST_CASE("every change is seen")
{
    NaptParameters parameters = samples::seeds();
    parameters.open = {{nft::Protocol::tcp, {1728, 1730}}, {nft::Protocol::tcp, {1733, 1733}}};
    parameters.reserved = {{1742, 1742}, {2765, 2766}};
    const auto ruleset = napt_ruleset(parameters);
    REQUIRE(ruleset);

    struct Change {
        const char* what;
        std::string command;
        const char* seen_as;  ///< in a line that is new or gone
    };
    for (const Change& change : std::vector<Change>{
             {"a rule replaced",
              "nft replace rule ip mape_mape0 clamp handle $(HANDLE) oifname \"mape0\" tcp option maxseg size set 1400",
              "rule clamp 1"},
             {"a rule deleted", "nft delete rule ip mape_mape0 clamp handle $(HANDLE)", "rule clamp 1"},
             {"a rule added", "nft add rule ip mape_mape0 out accept", "rule out 7"},
             {"a rule inserted", "nft insert rule ip mape_mape0 out accept", "rule out 1"},
             {"a rule with a comment", "nft add rule ip mape_mape0 out accept comment x", "rule out 7"},
             {"a rule that counts", "nft add rule ip mape_mape0 out counter", "rule out 7"},
             {"an element removed", "nft delete element ip mape_mape0 turn { 5 }", "element turn"},
             {"an element changed",
              "nft 'delete element ip mape_mape0 turn { 5 }; add element ip mape_mape0 turn { 5 : jump turn6 }'",
              "element turn"},
             {"an interval removed", "nft delete element ip mape_mape0 single { 0-1 }", "element single"},
             {"a counter added", "nft add counter ip mape_mape0 more", "object more"},
             {"a chain added", "nft add chain ip mape_mape0 more", "chain more"},
             {"a set added", "nft add set ip mape_mape0 more '{ type ipv4_addr; }'", "set more"},
             {"a set filled",
              "nft 'add set ip mape_mape0 more { type ipv4_addr; }; add element ip mape_mape0 more { 192.0.2.7 }'",
              "element more"},
             {"the table put to sleep", "nft add table ip mape_mape0 '{ flags dormant; }'", "table ip"},
             {"the other table deleted", "nft delete table ip6 mape_mape0", "table ip6"},
         }) {
        CAPTURE(change.what);
        netlink::Socket socket = lab::fresh_namespace();
        lab::load(socket, *ruleset);
        const auto before = lab::dump(socket, *ruleset);
        std::string command = change.command;
        if (const auto at = command.find("$(HANDLE)"); at != std::string::npos) {
            std::string handle = handle_of("clamp", "oifname");
            handle.erase(handle.find_last_not_of('\n') + 1);
            command.replace(at, 9, handle);
        }
        lab::output(command);
        const auto after = lab::dump(socket, *ruleset);
        auto differing = only_in(before, after);
        const auto added = only_in(after, before);
        differing.insert(differing.end(), added.begin(), added.end());
        CHECK(!differing.empty());
        CHECK_MESSAGE(std::any_of(differing.begin(), differing.end(),
                                  [&](const std::string& line) { return line.rfind(change.seen_as, 0) == 0; }),
                      (differing.empty() ? "" : differing.front()));
        lab::load(socket, *ruleset);
        CHECK(lab::dump(socket, *ruleset) == before);
    }
}

TEST_CASE("what differs in the parameters differs in the dump")
{
    const auto dump_of = [](const nft::Ruleset& ruleset) {
        netlink::Socket socket = lab::fresh_namespace();
        lab::load(socket, ruleset);
        return lab::dump(socket, ruleset);
    };
    nft::Ruleset ruleset = *napt_ruleset(samples::v6plus());
    const auto before = dump_of(ruleset);
    CHECK(dump_of(ruleset) == before);
    auto& chains = ruleset.tables.front().chains;
    const auto out = std::find_if(chains.begin(), chains.end(), [](const nft::Chain& chain) { return chain.name == "out"; });
    REQUIRE(out != chains.end());
    SUBCASE("priority")
    {
        out->base->priority += 1;
        const auto after = dump_of(ruleset);
        REQUIRE(only_in(after, before).size() == 1);
        CHECK(only_in(after, before).front().rfind("chain out:", 0) == 0);
    }
    SUBCASE("comment of a chain")
    {
        out->comment += '.';
        CHECK(only_in(dump_of(ruleset), before).size() == 1);
    }
    SUBCASE("mark")
    {
        ruleset.tables.front().comment += '.';
        CHECK(only_in(dump_of(ruleset), before).size() == 1);
    }
    SUBCASE("content of an anonymous set")
    {
        for (nft::Statement& statement : out->rules.at(1).statements)
            if (auto* match = std::get_if<nft::ProtocolMatch>(&statement))
                match->protocols.pop_back();
        const auto gone = only_in(before, dump_of(ruleset));
        CHECK(std::any_of(gone.begin(), gone.end(),
                          [](const std::string& line) { return line.rfind("element out 2 set 1:", 0) == 0; }));
    }
}

TEST_CASE("packets passing change counters, not the dump")
{
    netlink::Socket socket = lab::fresh_namespace();
    NaptParameters parameters = samples::v6plus();
    parameters.tunnel = samples::device("lo");
    const auto ruleset = napt_ruleset(parameters);
    REQUIRE(ruleset);
    lab::output("ip link set lo up");
    lab::load(socket, *ruleset);
    const auto before = lab::dump(socket, *ruleset);
    const nft::TableName table = ruleset->tables.front().name;
    const auto zero = netlink::read_counters(socket, table);
    REQUIRE(zero);
    CHECK(zero->size() == 7);
    CHECK(zero->at("out_wrong_source") == netlink::CounterValue{});
    // A protocol that is not translated, into the "tunnel".
    constexpr int gre = 47;
    const int raw = ::socket(AF_INET, SOCK_RAW, gre);
    REQUIRE(raw >= 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 3; ++i)
        (void)::sendto(raw, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    ::close(raw);
    const auto counted = netlink::read_counters(socket, table);
    REQUIRE(counted);
    CHECK(counted->at("other_protocol") == netlink::CounterValue{3, 3 * 21});
    CHECK(lab::dump(socket, *ruleset) == before);
}

TEST_CASE("tables by name and mark")
{
    netlink::Socket socket = lab::fresh_namespace();
    const InterfaceName tunnel = samples::device("mape0");
    CHECK(netlink::our_tables(socket, tunnel)->empty());
    CHECK(netlink::dump_table(socket, {nft::Family::ip, "mape_mape0"})->empty());
    CHECK(netlink::read_counters(socket, {nft::Family::ip, "mape_mape0"})->empty());
    const auto ruleset = napt_ruleset(samples::seeds());
    lab::load(socket, *ruleset);
    lab::nft("table inet mape_mape0 { comment \"somebody's\"; }");
    lab::nft("table netdev mape_mape0 { }");
    lab::nft("table ip mape_mape1 { comment \"mape-gen 0 0\"; }");
    CHECK(netlink::our_tables(socket, tunnel)
          == std::vector<nft::TableName>{{nft::Family::ip, "mape_mape0"}, {nft::Family::ip6, "mape_mape0"}});
    const auto named = netlink::tables_named_after(socket, tunnel);
    REQUIRE(named);
    CHECK(named->size() == 4);
    for (const netlink::NamedTable& table : *named)
        if (table.name.family == nft::Family::ip)
            CHECK(table.comment == ruleset->tables.front().comment);
        else if (table.name.family == nft::Family::inet)
            CHECK(table.comment == "somebody's");
}

TEST_CASE("tables of others that ask for the state of packets at input, and no others")
{
    netlink::Socket socket = lab::fresh_namespace();
    lab::load(socket, *napt_ruleset(samples::seeds()));
    CHECK(netlink::foreign_stateful_input(socket)->empty());

    const auto found = [&](const std::string& family, const std::string& hook, const std::string& rule) {
        lab::nft("table " + family + " other { chain c { type filter hook " + hook + " priority 0; policy accept; " + rule
                 + "; }; }");
        const auto tables = netlink::foreign_stateful_input(socket);
        lab::nft("delete table " + family + " other");
        REQUIRE(tables);
        return *tables;
    };
    const std::vector<std::string> none;
    CHECK(found("inet", "input", "ct state established,related accept") == std::vector<std::string>{"inet other"});
    CHECK(found("ip", "input", "ct state vmap { established : accept, invalid : drop }") == std::vector<std::string>{"ip other"});
    CHECK(found("inet", "input", "tcp dport 22 accept") == none);
    CHECK(found("inet", "forward", "ct state established accept") == none);
    CHECK(found("ip6", "input", "ct state established accept") == none);
}

TEST_CASE("nat chains of others")
{
    netlink::Socket socket = lab::fresh_namespace();
    const InterfaceName tunnel = samples::device("mape0");
    lab::load(socket, *napt_ruleset(samples::seeds()));
    CHECK(netlink::foreign_nat_chains(socket, tunnel)->empty());

    const auto chain = [&](const std::string& family, const std::string& rules) {
        lab::nft("table " + family + " other { set s { type ifname; elements = { \"mape0\", \"eth0\" }; }; "
                 + "set n { type ifname; elements = { \"eth0\" }; }; "
                 + "chain post { type nat hook postrouting priority srcnat - 7; policy accept; " + rules + "; }; "
                 + "chain pre { type nat hook prerouting priority dstnat; policy accept; }; "
                 + "chain filter { type filter hook postrouting priority 0; policy accept; oifname \"mape0\" accept; }; }");
        const auto found = netlink::foreign_nat_chains(socket, tunnel);
        lab::nft("delete table " + family + " other");
        REQUIRE(found);
        REQUIRE(found->size() == 1);
        CHECK(found->front().table == "other");
        CHECK(found->front().chain == "post");
        CHECK(found->front().priority == 93);
        CHECK(nft::to_text(found->front().family) == family);
        return found->front().names_tunnel;
    };
    CHECK(chain("ip", "oifname \"mape0\" masquerade"));
    CHECK(chain("inet", "ip saddr 10.0.0.0/8 oifname \"mape0\" masquerade"));
    CHECK(chain("ip", "oifname \"mape*\" masquerade"));
    CHECK(chain("ip", "oifname { \"eth1\", \"mape0\" } masquerade"));
    CHECK(chain("ip", "oifname @s masquerade"));
    CHECK(!chain("ip", "oifname @n masquerade"));
    CHECK(!chain("ip", "oifname \"eth0\" masquerade"));
    CHECK(!chain("ip", "oifname \"mape01\" masquerade"));
    CHECK(!chain("ip", "iifname \"mape0\" masquerade"));
    CHECK(!chain("ip", "oifname != \"mape0\" masquerade"));
}

int main(int argc, char** argv)
{
    return lab::run(argc, argv);
}
