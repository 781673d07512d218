// The two emitters are twins: text loaded by nft and the batch loaded by us are the same ruleset, to the kernel, to
// `nft list` and as bytecode. Needs root and nft 1.0.6 or later. Exit code 77 and a reason: could not run.
#define DOCTEST_CONFIG_IMPLEMENT
#include "nft_lab.h"
#include "netlink/nft_dump_raw.h"

#include <algorithm>
#include <sstream>

#include <arpa/inet.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "../unit/nft/samples.h"

using namespace mape;

namespace {

/// What nft and libnftnl print of a ruleset: rules with their expressions, and the elements of all sets in their order.
struct Bytecode {
    std::vector<std::string> rules;
    std::vector<std::string> elements;
};

std::string trimmed(const std::string& line)
{
    const auto first = line.find_first_not_of(" \t");
    return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

void add_elements(std::vector<std::string>& elements, const std::string& line)
{
    for (auto at = line.find("element "); at != std::string::npos;) {
        const auto next = line.find("element ", at + 1);
        elements.push_back(trimmed(line.substr(at, next == std::string::npos ? next : next - at)));
        at = next;
    }
}

Bytecode nft_compiles(const std::string& text)
{
    const lab::TemporaryFile file(text);
    std::istringstream lines(lab::output("nft -c --debug=netlink -f " + file.path()));
    Bytecode code;
    std::string before;
    bool in_rule = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("element ") != std::string::npos) {
            add_elements(code.elements, line);
            in_rule = false;
        } else if (line.rfind("  [ ", 0) == 0) {
            if (!in_rule)
                code.rules.push_back(trimmed(before));
            in_rule = true;
            code.rules.back() += "\n" + trimmed(line);
        } else {
            in_rule = false;
        }
        before = line;
    }
    // An element that did not fit into a message is printed again with the next one. No two elements of a set are alike.
    code.elements.erase(std::unique(code.elements.begin(), code.elements.end()), code.elements.end());
    return code;
}

/// libnftnl numbers the elements of a message that it builds and refuses to parse what is not numbered 1 throughout.
std::vector<std::byte> renumbered(const nlmsghdr& message)
{
    const auto whole = netlink::bytes_of(message);
    std::vector<std::byte> copy(whole.begin(), whole.end());
    const auto at = [&](std::size_t offset) {
        nlattr header;
        std::memcpy(&header, copy.data() + offset, sizeof header);
        return header;
    };
    constexpr std::size_t attributes = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(nfgenmsg));
    for (std::size_t list = attributes; list < copy.size(); list += NLA_ALIGN(at(list).nla_len)) {
        if ((at(list).nla_type & NLA_TYPE_MASK) != NFTA_SET_ELEM_LIST_ELEMENTS)
            continue;
        const std::size_t end = list + at(list).nla_len;
        for (std::size_t element = list + sizeof(nlattr); element < end; element += NLA_ALIGN(at(element).nla_len)) {
            nlattr header = at(element);
            header.nla_type = NLA_F_NESTED | NFTA_LIST_ELEM;
            std::memcpy(copy.data() + element, &header, sizeof header);
        }
    }
    return copy;
}

/// libnftnl sends the name of a counter without a NUL and reads one back up to a NUL, so a name that fills its attribute
/// gets what follows as a tail.
std::string without_tail(std::string line, const nft::Ruleset& ruleset)
{
    if (line.rfind("[ objref ", 0) != 0)
        return line;
    for (const nft::Table& table : ruleset.tables)
        for (const nft::Counter& counter : table.counters)
            if (const auto at = line.find(" name " + counter.name); at != std::string::npos)
                return line.substr(0, at + 6 + counter.name.size()) + " ]";
    return line;
}

Bytecode we_compile(const nft::Ruleset& ruleset)
{
    const nft::Batch batch = nft::replace_batch(ruleset);
    Bytecode code;
    std::vector<char> room(1U << 22);
    std::span<const std::byte> rest = batch.bytes;
    while (!rest.empty()) {
        const auto message = netlink::next_message(rest);
        REQUIRE(message);
        if ((*message)->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE)) {
            const Handle<nftnl_rule, nftnl_rule_free> rule(nftnl_rule_alloc());
            REQUIRE(nftnl_rule_nlmsg_parse(*message, rule.get()) == 0);
            nftnl_rule_snprintf(room.data(), room.size(), rule.get(), NFTNL_OUTPUT_DEFAULT, 0);
            std::istringstream lines(room.data());
            std::string whole;
            for (std::string line; std::getline(lines, line);)
                if (!trimmed(line).empty() && trimmed(line).rfind("userdata", 0) != 0)
                    whole += (whole.empty() ? "" : "\n") + without_tail(trimmed(line), ruleset);
            code.rules.push_back(whole);
        } else if ((*message)->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWSETELEM)) {
            const Handle<nftnl_set, nftnl_set_free> set(nftnl_set_alloc());
            const auto copy = renumbered(**message);
            REQUIRE(nftnl_set_elems_nlmsg_parse(reinterpret_cast<const nlmsghdr*>(copy.data()), set.get()) == 0);
            nftnl_set_snprintf(room.data(), room.size(), set.get(), NFTNL_OUTPUT_DEFAULT, 0);
            add_elements(code.elements, room.data());
        }
    }
    return code;
}

/// Chain by chain: nft sends rules as the text has them, we send those first that lead to others. Within a chain the order counts.
Bytecode by_chain(Bytecode code)
{
    std::stable_sort(code.rules.begin(), code.rules.end(), [](const std::string& a, const std::string& b) {
        return a.substr(0, a.find('\n')) < b.substr(0, b.find('\n'));
    });
    std::sort(code.elements.begin(), code.elements.end());
    return code;
}

bool is_large(const samples::Sample& sample)
{
    return sample.name.rfind("map-", 0) == 0;
}

}  // namespace

TEST_CASE("bytecode: nft's of the text, ours of the batch")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        const auto ruleset = napt_ruleset(sample.parameters);
        REQUIRE(ruleset);
        const Bytecode theirs = by_chain(nft_compiles(nft::to_text(*ruleset)));
        const Bytecode ours = by_chain(we_compile(*ruleset));
        CHECK(!theirs.rules.empty());
        CHECK_MESSAGE((theirs.rules == ours.rules), lab::difference(theirs.rules, ours.rules));
        CHECK_MESSAGE((theirs.elements == ours.elements), lab::difference(theirs.elements, ours.elements));
    }
}

namespace {

std::vector<nft::TableName> names_of(const nft::Ruleset& ruleset)
{
    std::vector<nft::TableName> names;
    for (const nft::Table& table : ruleset.tables)
        names.push_back(table.name);
    return names;
}

/// Lines of a dump without elements of constant sets and of those the batch had.
std::vector<std::string> put_together(const std::vector<std::byte>& dump, const nft::Ruleset& ruleset)
{
    std::vector<std::string> lines;
    const auto batch = nft::replace_batch_bytes(ruleset);
    for (const nft::TableName& table : names_of(ruleset)) {
        const auto constant = netlink::constant_elements(table, batch);
        REQUIRE(constant);
        std::vector<std::byte> messages = dump;
        messages.insert(messages.end(), constant->begin(), constant->end());
        const auto part = netlink::lines_of(table, messages);
        REQUIRE(part);
        lines.insert(lines.end(), part->begin(), part->end());
    }
    return lines;
}

}  // namespace

TEST_CASE("kernel: the same dump and the same listing, and the listing loads again as the same")
{
    for (const samples::Sample& sample : samples::all()) {
        CAPTURE(sample.name);
        netlink::Socket socket = lab::fresh_namespace();
        const auto ruleset = napt_ruleset(sample.parameters);
        REQUIRE(ruleset);

        lab::nft(nft::to_text(*ruleset));
        const auto theirs = lab::dump(socket, *ruleset);
        const std::string their_list = lab::output("nft list ruleset");
        lab::nft("flush ruleset");
        lab::load(socket, *ruleset);
        const auto ours = lab::dump(socket, *ruleset);
        const std::string our_list = lab::output("nft list ruleset");

        // What a dump leaves out of constant sets is in the batch that made them.
        const auto changeable = netlink::read_tables(socket, names_of(*ruleset), netlink::Elements::of_changeable_sets);
        const auto whole = netlink::read_tables(socket, names_of(*ruleset), netlink::Elements::all);
        REQUIRE(changeable);
        REQUIRE(whole);
        CHECK(changeable->messages.size() <= whole->messages.size());
        if (sample.name == "seeds")
            CHECK(changeable->messages.size() < whole->messages.size() / 3);
        CHECK_MESSAGE((put_together(changeable->messages, *ruleset) == ours),
                      lab::difference(put_together(changeable->messages, *ruleset), ours));

        CHECK(ours.size() > 20);
        CHECK_MESSAGE((theirs == ours), lab::difference(theirs, ours));
        CHECK((their_list == our_list));

        lab::nft("flush ruleset");
        lab::nft(our_list);
        const auto again = lab::dump(socket, *ruleset);
        CHECK_MESSAGE((again == ours), lab::difference(again, ours));
        CHECK((lab::output("nft list ruleset") == our_list));

        if (is_large(sample))
            continue;

        // Replacing what is there leaves one of everything.
        lab::load(socket, *ruleset);
        CHECK((lab::dump(socket, *ruleset) == ours));
        lab::nft(nft::to_text(*ruleset));
        CHECK((lab::dump(socket, *ruleset) == ours));

        std::vector<nft::TableName> names;
        for (const nft::Table& table : ruleset->tables)
            names.push_back(table.name);
        const nft::Batch remove = nft::delete_batch(names);
        REQUIRE(socket.send_batch(remove.bytes, remove.labels));
        CHECK(lab::output("nft list ruleset").empty());
        REQUIRE(socket.send_batch(remove.bytes, remove.labels));
        lab::nft(nft::delete_text(names));
        CHECK(lab::output("nft list ruleset").empty());
    }
}

TEST_CASE("nothing but our tables is touched")
{
    netlink::Socket socket = lab::fresh_namespace();
    lab::nft("table ip mine { chain c { type nat hook postrouting priority srcnat; policy accept; masquerade; }; }");
    lab::nft("table inet mape_mape0 { set s { type ipv4_addr; elements = { 192.0.2.9 }; }; }");
    const std::string before = lab::output("nft list ruleset");
    const auto ruleset = napt_ruleset(samples::seeds());
    lab::load(socket, *ruleset);
    const nft::Batch remove = nft::delete_batch({ruleset->tables[0].name, ruleset->tables[1].name});
    REQUIRE(socket.send_batch(remove.bytes, remove.labels));
    CHECK(lab::output("nft list ruleset") == before);
}

TEST_CASE("an error names the rule in words")
{
    netlink::Socket socket = lab::fresh_namespace();
    nft::Table table{{nft::Family::ip, "mape_t"}};
    table.chains = {{"c", nft::Base{nft::Base::Type::filter, nft::Hook::input, 0},
                     {{{nft::CounterReference{"missing"}, nft::Verdict{nft::Verdict::Kind::drop}}}}}};
    const nft::Batch batch = nft::replace_batch({{table}});
    const auto sent = socket.send_batch(batch.bytes, batch.labels);
    REQUIRE(!sent);
    CHECK(sent.error().errnum == ENOENT);
    CHECK(sent.error().message.find("add rule c 1 of table ip mape_t: counter name \"missing\" drop") != std::string::npos);
    CHECK(lab::output("nft list ruleset").empty());
}

int main(int argc, char** argv)
{
    return lab::run(argc, argv);
}
