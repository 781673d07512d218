#include "netlink/nft_dump.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>
#include <set>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "netlink/attributes.h"
#include "netlink/nft_messages.h"
#include "nft/napt.h"
#include "nft/text.h"

namespace mape::netlink {

namespace {

constexpr const char* reading = "cannot read the nf_tables ruleset";
constexpr int attempts = 5;
constexpr std::span<const std::byte> no_bytes;

/// Attributes newer than the headers of Debian 12 (linux/netfilter/nf_tables.h of 6.17): how many elements a set has.
constexpr unsigned nfta_set_count = 20;

/// Attribute types that are no part of what an object is: whose it is, its name (which is in the line already), handles, use
/// counts, values that move.
using Ignored = std::initializer_list<unsigned>;

void append_value(std::string& line, std::span<const std::byte> payload)
{
    if (const auto text = as_text(payload)) {
        fmt::format_to(std::back_inserter(line), "\"{}\"", *text);
        return;
    }
    static constexpr std::string_view digits = "0123456789abcdef";
    for (const std::byte byte : payload) {
        line += digits[static_cast<std::size_t>(byte) >> 4];
        line += digits[static_cast<std::size_t>(byte) & 15];
    }
}

void append_attributes(std::string& line, const std::vector<RawAttribute>& attributes, Ignored ignored)
{
    for (const RawAttribute& attribute : attributes) {
        if (std::find(ignored.begin(), ignored.end(), attribute.type) != ignored.end())
            continue;
        fmt::format_to(std::back_inserter(line), " {}=", attribute.type);
        append_value(line, attribute.payload);
    }
}

/// One attempt to read one table. The kernel has no lock that spans several dumps: the caller compares generations.
class TableReader {
public:
    TableReader(Socket& socket, const nft::TableName& table)
        : socket_(socket), table_(table), family_(protocol_family(table.family))
    {
    }

    Result<std::vector<std::string>> read()
    {
        if (auto done = table(); !done || lines_.empty())
            return done.map([] { return std::vector<std::string>(); });
        for (const auto part : {&TableReader::objects, &TableReader::flowtables, &TableReader::chains, &TableReader::sets,
                                &TableReader::rules, &TableReader::elements})
            if (auto done = (this->*part)(); !done)
                return fail(std::move(done.error()));
        return std::move(lines_);
    }

private:
    struct Set {
        std::string name;
        std::string line;   ///< its attributes
        std::string title;  ///< of its elements' lines: the name, or the rule that uses an anonymous one
        bool anonymous;
    };

    using EachObject = std::function<Result<void>(const std::vector<RawAttribute>&, const Attributes&)>;

    /// Calls `each` with every object of one kind that is in the table.
    Result<void> dump(unsigned type, unsigned table_attribute, const EachObject& each,
                      const std::function<void()>& restart)
    {
        return socket_.dump(
            read_request(type, family_, {{table_attribute, table_.name}}), reading,
            [&](const nlmsghdr& message) -> Result<void> {
                const Attributes named(attributes_in(message), "nf_tables message");
                if (family_in(message) != family_ || named.text(table_attribute) != table_.name)
                    return {};
                auto attributes = raw_attributes(attributes_in(message));
                if (!attributes)
                    return fail(std::move(attributes.error()));
                return each(*attributes, named);
            },
            restart);
    }

    /// Objects that are known by a name: a sorted line each.
    Result<void> named_objects(unsigned type, std::string_view kind, unsigned table_attribute, unsigned name_attribute,
                               Ignored ignored)
    {
        std::vector<std::string> found;
        auto done = dump(
            type, table_attribute,
            [&](const std::vector<RawAttribute>& attributes, const Attributes& named) -> Result<void> {
                std::string& line =
                    found.emplace_back(fmt::format("{} {}:", kind, named.text(name_attribute).value_or("?")));
                append_attributes(line, attributes, ignored);
                return {};
            },
            [&] { found.clear(); });
        std::sort(found.begin(), found.end());
        std::move(found.begin(), found.end(), std::back_inserter(lines_));
        return done;
    }

    Result<void> table()
    {
        return dump(
            NFT_MSG_GETTABLE, NFTA_TABLE_NAME,
            [&](const std::vector<RawAttribute>& attributes, const Attributes&) -> Result<void> {
                std::string& line = lines_.emplace_back(fmt::format("table {}:", nft::to_text(table_)));
                append_attributes(line, attributes, {NFTA_TABLE_NAME, NFTA_TABLE_USE, NFTA_TABLE_HANDLE});
                return {};
            },
            [&] { lines_.clear(); });
    }

    Result<void> objects()
    {
        return named_objects(NFT_MSG_GETOBJ, "object", NFTA_OBJ_TABLE, NFTA_OBJ_NAME,
                             {NFTA_OBJ_TABLE, NFTA_OBJ_NAME, NFTA_OBJ_DATA, NFTA_OBJ_USE, NFTA_OBJ_HANDLE});
    }

    Result<void> flowtables()
    {
        return named_objects(NFT_MSG_GETFLOWTABLE, "flowtable", NFTA_FLOWTABLE_TABLE, NFTA_FLOWTABLE_NAME,
                             {NFTA_FLOWTABLE_TABLE, NFTA_FLOWTABLE_NAME, NFTA_FLOWTABLE_USE, NFTA_FLOWTABLE_HANDLE});
    }

    Result<void> chains()
    {
        return named_objects(
            NFT_MSG_GETCHAIN, "chain", NFTA_CHAIN_TABLE, NFTA_CHAIN_NAME,
            {NFTA_CHAIN_TABLE, NFTA_CHAIN_HANDLE, NFTA_CHAIN_NAME, NFTA_CHAIN_USE, NFTA_CHAIN_COUNTERS, NFTA_CHAIN_ID});
    }

    Result<void> sets()
    {
        auto done = dump(
            NFT_MSG_GETSET, NFTA_SET_TABLE,
            [&](const std::vector<RawAttribute>& attributes, const Attributes& named) -> Result<void> {
                Set& set = sets_.emplace_back();
                set.name = named.text(NFTA_SET_NAME).value_or("?");
                set.anonymous = (named.be32(NFTA_SET_FLAGS).value_or(0) & NFT_SET_ANONYMOUS) != 0;
                set.title = set.name;
                append_attributes(set.line, attributes,
                                  {NFTA_SET_TABLE, NFTA_SET_NAME, NFTA_SET_ID, NFTA_SET_HANDLE, nfta_set_count});
                return {};
            },
            [&] { sets_.clear(); });
        std::sort(sets_.begin(), sets_.end(), [](const Set& a, const Set& b) { return a.name < b.name; });
        return done;
    }

    Set* find_set(const std::string& name)
    {
        const auto it = std::lower_bound(sets_.begin(), sets_.end(), name,
                                         [](const Set& set, const std::string& wanted) { return set.name < wanted; });
        return it == sets_.end() || it->name != name ? nullptr : &*it;
    }

    Result<void> rules()
    {
        struct Rule {
            std::string chain;
            std::string line;
        };
        std::vector<Rule> found;
        std::map<std::string, unsigned> numbers;
        auto done = dump(
            NFT_MSG_GETRULE, NFTA_RULE_TABLE,
            [&](const std::vector<RawAttribute>& attributes, const Attributes& named) -> Result<void> {
                Rule& rule = found.emplace_back();
                rule.chain = named.text(NFTA_RULE_CHAIN).value_or("?");
                const std::string title = fmt::format("{} {}", rule.chain, ++numbers[rule.chain]);
                rule.line = fmt::format("rule {}:", title);
                append_attributes(rule.line, attributes,
                                  {NFTA_RULE_TABLE, NFTA_RULE_CHAIN, NFTA_RULE_HANDLE, NFTA_RULE_POSITION,
                                   NFTA_RULE_EXPRESSIONS});
                return append_expressions(rule.line, title, named.bytes(NFTA_RULE_EXPRESSIONS).value_or(no_bytes));
            },
            [&] {
                found.clear();
                numbers.clear();
            });
        // By chain, in their order: the kernel lists chains as they were made.
        std::stable_sort(found.begin(), found.end(), [](const Rule& a, const Rule& b) { return a.chain < b.chain; });
        for (Rule& rule : found)
            lines_.push_back(std::move(rule.line));
        return done;
    }

    Result<void> append_expressions(std::string& line, const std::string& title, std::span<const std::byte> bytes)
    {
        const auto expressions = raw_expressions(bytes);
        if (!expressions)
            return fail(expressions.error());
        unsigned set_number = 0;
        for (const RawExpression& expression : *expressions) {
            fmt::format_to(std::back_inserter(line), " [{}", expression.name);
            for (const RawAttribute& attribute : expression.data) {
                if (moves(expression.name, attribute.type))
                    continue;
                fmt::format_to(std::back_inserter(line), " {}=", attribute.type);
                const auto text = as_text(attribute.payload);
                Set* set = text ? find_set(*text) : nullptr;
                if (set != nullptr && set->anonymous) {
                    set->title = fmt::format("{} set {}", title, ++set_number);
                    line += set->title;
                } else {
                    append_value(line, attribute.payload);
                }
            }
            line += ']';
        }
        return {};
    }

    /// Values that packets move.
    static bool moves(std::string_view expression, unsigned attribute)
    {
        return expression == "counter" || expression == "last"
               || (expression == "quota" && attribute == NFTA_QUOTA_CONSUMED);
    }

    Result<void> elements()
    {
        std::sort(sets_.begin(), sets_.end(), [](const Set& a, const Set& b) { return a.title < b.title; });
        for (const Set& set : sets_) {
            lines_.push_back(fmt::format("set {}:{}", set.title, set.line));
            std::vector<std::string> found;
            auto done = socket_.dump(
                read_request(NFT_MSG_GETSETELEM, family_,
                             {{NFTA_SET_ELEM_LIST_TABLE, table_.name}, {NFTA_SET_ELEM_LIST_SET, set.name}}),
                reading, [&](const nlmsghdr& message) { return add_elements(found, set, message); },
                [&] { found.clear(); });
            if (!done)
                return done;
            std::sort(found.begin(), found.end());
            std::move(found.begin(), found.end(), std::back_inserter(lines_));
        }
        return {};
    }

    Result<void> add_elements(std::vector<std::string>& found, const Set& set, const nlmsghdr& message)
    {
        const Attributes named(attributes_in(message), "nf_tables set elements");
        const auto list = named.bytes(NFTA_SET_ELEM_LIST_ELEMENTS);
        if (!list)
            return {};
        const auto elements = raw_attributes(*list);
        if (!elements)
            return fail(elements.error());
        for (const RawAttribute& element : *elements) {
            const auto attributes = raw_attributes(element.payload);
            if (!attributes)
                return fail(attributes.error());
            std::string& line = found.emplace_back("element " + set.title + ":");
            append_attributes(line, *attributes, {NFTA_SET_ELEM_EXPIRATION});
        }
        return {};
    }

    Socket& socket_;
    const nft::TableName& table_;
    std::uint8_t family_;
    std::vector<std::string> lines_;
    std::vector<Set> sets_;
};

/// The kernel counts every change of the ruleset.
Result<std::uint32_t> generation(Socket& socket)
{
    std::uint32_t number = 0;
    auto done =
        socket.get(read_request(NFT_MSG_GETGEN, NFPROTO_UNSPEC), reading, [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables generation");
            number = attributes.be32(NFTA_GEN_ID).value_or(0);
            return attributes.check();
        });
    return done.map([&] { return number; });
}

/// Reads with `read` until nothing changed meanwhile.
template <class Read>
auto consistently(Socket& socket, Read read) -> decltype(read())
{
    for (int attempt = 1;; ++attempt) {
        const auto before = generation(socket);
        if (!before)
            return fail(before.error());
        auto result = read();
        const auto after = generation(socket);
        if (!after)
            return fail(after.error());
        if (*before == *after)
            return result;
        if (attempt == attempts)
            return fail(failure(fmt::format("{}: it changed {} times while it was read", reading, attempts)));
    }
}

struct TableInKernel {
    std::uint8_t family;
    std::string name;
    std::string comment;
};

Result<std::vector<TableInKernel>> all_tables(Socket& socket)
{
    constexpr std::uint8_t comment_type = 0;
    std::vector<TableInKernel> tables;
    auto done = socket.dump(
        read_request(NFT_MSG_GETTABLE, NFPROTO_UNSPEC), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables table");
            const auto user_data = attributes.bytes(NFTA_TABLE_USERDATA);
            tables.push_back({family_in(message).value_or(NFPROTO_UNSPEC), attributes.text(NFTA_TABLE_NAME).value_or(""),
                              user_data ? comment_in(*user_data, comment_type) : ""});
            return attributes.check();
        },
        [&] { tables.clear(); });
    return done.map([&] { return std::move(tables); });
}

/// Value of an nf_tables data attribute (NFTA_DATA_VALUE in `nested`).
std::span<const std::byte> data_value(std::span<const std::byte> nested)
{
    const auto attributes = raw_attributes(nested);
    if (attributes)
        for (const RawAttribute& attribute : *attributes)
            if (attribute.type == NFTA_DATA_VALUE)
                return attribute.payload;
    return {};
}

/// A device name as nft compares it: 16 bytes, or fewer for "mape*".
bool names(std::span<const std::byte> value, const std::string& device)
{
    constexpr std::size_t size = 16;  // IFNAMSIZ
    std::array<char, size> whole{};
    std::memcpy(whole.data(), device.data(), std::min(device.size(), size - 1));
    return !value.empty() && value.size() <= size && std::memcmp(value.data(), whole.data(), value.size()) == 0;
}

std::optional<std::uint32_t> number(const RawExpression& expression, unsigned type)
{
    for (const RawAttribute& attribute : expression.data)
        if (attribute.type == type && attribute.payload.size() == sizeof(std::uint32_t)) {
            std::uint32_t value;
            std::memcpy(&value, attribute.payload.data(), sizeof value);
            return ntohl(value);
        }
    return std::nullopt;
}

/// The device names a rule compares the outgoing device with: values, and the sets it looks it up in.
struct OutgoingDevices {
    bool named = false;
    std::vector<std::string> sets;
};

void look_at(const std::vector<RawExpression>& expressions, const std::string& device, OutgoingDevices& found)
{
    std::optional<std::uint32_t> loaded;  // the register that holds oifname
    for (const RawExpression& expression : expressions) {
        if (expression.name == "meta") {
            if (number(expression, NFTA_META_KEY) == NFT_META_OIFNAME)
                loaded = number(expression, NFTA_META_DREG);
            else if (number(expression, NFTA_META_DREG) == loaded)
                loaded.reset();
        } else if (expression.name == "cmp" && loaded && number(expression, NFTA_CMP_SREG) == loaded) {
            for (const RawAttribute& attribute : expression.data)
                if (attribute.type == NFTA_CMP_DATA && number(expression, NFTA_CMP_OP) == NFT_CMP_EQ)
                    found.named = found.named || names(data_value(attribute.payload), device);
        } else if (expression.name == "lookup" && loaded && number(expression, NFTA_LOOKUP_SREG) == loaded) {
            for (const RawAttribute& attribute : expression.data)
                if (attribute.type == NFTA_LOOKUP_SET)
                    if (auto name = as_text(attribute.payload))
                        found.sets.push_back(std::move(*name));
        }
    }
}

Result<bool> set_names(Socket& socket, std::uint8_t family, const std::string& table, const std::string& set,
                       const std::string& device)
{
    bool named = false;
    auto done = socket.dump(
        read_request(NFT_MSG_GETSETELEM, family, {{NFTA_SET_ELEM_LIST_TABLE, table}, {NFTA_SET_ELEM_LIST_SET, set}}),
        reading, [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables set elements");
            const auto list = attributes.bytes(NFTA_SET_ELEM_LIST_ELEMENTS);
            const auto elements = raw_attributes(list.value_or(no_bytes));
            if (!elements)
                return fail(elements.error());
            for (const RawAttribute& element : *elements) {
                const auto key = Attributes(element.payload, "nf_tables set element").bytes(NFTA_SET_ELEM_KEY);
                named = named || (key && names(data_value(*key), device));
            }
            return {};
        },
        [&] { named = false; });
    return done.map([&] { return named; });
}

Result<bool> chain_names(Socket& socket, std::uint8_t family, const std::string& table, const std::string& chain,
                         const std::string& device)
{
    OutgoingDevices found;
    auto done = socket.dump(
        read_request(NFT_MSG_GETRULE, family, {{NFTA_RULE_TABLE, table}, {NFTA_RULE_CHAIN, chain}}), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables rule");
            // Older kernels filter less than they were asked to.
            if (attributes.text(NFTA_RULE_TABLE) != table || attributes.text(NFTA_RULE_CHAIN) != chain)
                return {};
            const auto bytes = attributes.bytes(NFTA_RULE_EXPRESSIONS);
            const auto expressions = raw_expressions(bytes.value_or(no_bytes));
            if (!expressions)
                return fail(expressions.error());
            look_at(*expressions, device, found);
            return {};
        },
        [&] { found = {}; });
    if (!done)
        return fail(std::move(done.error()));
    for (const std::string& set : found.sets) {
        const auto named = set_names(socket, family, table, set, device);
        if (!named || *named)
            return named;
    }
    return found.named;
}

Result<std::vector<ForeignNatChain>> read_foreign_nat_chains(Socket& socket, const InterfaceName& tunnel)
{
    const auto tables = all_tables(socket);
    if (!tables)
        return fail(tables.error());
    const auto is_ours = [&](std::uint8_t family, const std::string& name) {
        return std::any_of(tables->begin(), tables->end(), [&](const TableInKernel& table) {
            return table.family == family && table.name == name && nft::is_mark(table.comment);
        });
    };
    std::vector<ForeignNatChain> chains;
    auto done = socket.dump(
        read_request(NFT_MSG_GETCHAIN, NFPROTO_UNSPEC), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables chain");
            const std::uint8_t family = family_in(message).value_or(NFPROTO_UNSPEC);
            const Attributes hook = attributes.nested(NFTA_CHAIN_HOOK);
            const std::string table = attributes.text(NFTA_CHAIN_TABLE).value_or("");
            if ((family != NFPROTO_IPV4 && family != NFPROTO_INET) || attributes.text(NFTA_CHAIN_TYPE) != "nat"
                || hook.be32(NFTA_HOOK_HOOKNUM) != NF_INET_POST_ROUTING || is_ours(family, table))
                return attributes.check();
            chains.push_back({*family_of(family), table, attributes.text(NFTA_CHAIN_NAME).value_or(""),
                              static_cast<int>(hook.be32(NFTA_HOOK_PRIORITY).value_or(0)), false});
            return attributes.check();
        },
        [&] { chains.clear(); });
    if (!done)
        return fail(std::move(done.error()));
    for (ForeignNatChain& chain : chains) {
        const auto named = chain_names(socket, protocol_family(chain.family), chain.table, chain.chain, tunnel.str());
        if (!named)
            return fail(named.error());
        chain.names_tunnel = *named;
    }
    return chains;
}

}  // namespace

Result<std::vector<std::string>> dump_table(Socket& socket, const nft::TableName& table)
{
    return consistently(socket, [&] { return TableReader(socket, table).read(); });
}

Result<std::vector<NamedTable>> tables_named_after(Socket& socket, const InterfaceName& tunnel)
{
    auto tables = all_tables(socket);
    if (!tables)
        return fail(std::move(tables.error()));
    const std::string name = table_name(tunnel);
    std::vector<NamedTable> named;
    for (TableInKernel& table : *tables)
        if (const auto family = family_of(table.family); family && table.name == name)
            named.push_back({{*family, name}, std::move(table.comment)});
    return named;
}

Result<std::vector<nft::TableName>> our_tables(Socket& socket, const InterfaceName& tunnel)
{
    const auto named = tables_named_after(socket, tunnel);
    if (!named)
        return fail(named.error());
    std::vector<nft::TableName> ours;
    for (const NamedTable& table : *named)
        if (nft::is_mark(table.comment))
            ours.push_back(table.name);
    return ours;
}

Result<std::map<std::string, CounterValue>> read_counters(Socket& socket, const nft::TableName& table)
{
    const std::uint8_t family = protocol_family(table.family);
    std::map<std::string, CounterValue> counters;
    auto done = socket.dump(
        read_request(NFT_MSG_GETOBJ, family, {{NFTA_OBJ_TABLE, table.name}}), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables object");
            if (family_in(message) != family || attributes.text(NFTA_OBJ_TABLE) != table.name
                || attributes.be32(NFTA_OBJ_TYPE) != NFT_OBJECT_COUNTER)
                return attributes.check();
            const Attributes data = attributes.nested(NFTA_OBJ_DATA);
            const auto value = [&](unsigned type) {
                std::uint64_t bytes = 0;
                if (const auto span = data.bytes(type, sizeof bytes))
                    std::memcpy(&bytes, span->data(), sizeof bytes);
                return be64toh(bytes);
            };
            counters[attributes.text(NFTA_OBJ_NAME).value_or("")] = {value(NFTA_COUNTER_PACKETS), value(NFTA_COUNTER_BYTES)};
            return attributes.check();
        },
        [&] { counters.clear(); });
    return done.map([&] { return std::move(counters); });
}

Result<std::vector<ForeignNatChain>> foreign_nat_chains(Socket& socket, const InterfaceName& tunnel)
{
    return consistently(socket, [&] { return read_foreign_nat_chains(socket, tunnel); });
}

namespace {

/// Families and names of tables with a chain at input, ours left out.
Result<std::set<std::pair<std::uint8_t, std::string>>> tables_at_input(Socket& socket)
{
    const auto tables = all_tables(socket);
    if (!tables)
        return fail(tables.error());
    std::set<std::pair<std::uint8_t, std::string>> found;
    auto done = socket.dump(
        read_request(NFT_MSG_GETCHAIN, NFPROTO_UNSPEC), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables chain");
            const std::uint8_t family = family_in(message).value_or(NFPROTO_UNSPEC);
            const Attributes hook = attributes.nested(NFTA_CHAIN_HOOK);
            if ((family == NFPROTO_IPV4 || family == NFPROTO_INET) && attributes.text(NFTA_CHAIN_TYPE)
                && hook.be32(NFTA_HOOK_HOOKNUM) == NF_INET_LOCAL_IN)
                found.emplace(family, attributes.text(NFTA_CHAIN_TABLE).value_or(""));
            return attributes.check();
        },
        [&] { found.clear(); });
    if (!done)
        return fail(std::move(done.error()));
    for (const TableInKernel& table : *tables)
        if (nft::is_mark(table.comment))
            found.erase({table.family, table.name});
    return found;
}

}  // namespace

Result<std::vector<std::string>> foreign_stateful_input(Socket& socket)
{
    const auto tables = tables_at_input(socket);
    if (!tables)
        return fail(tables.error());
    std::set<std::string> stateful;
    auto done = socket.dump(
        read_request(NFT_MSG_GETRULE, NFPROTO_UNSPEC), reading,
        [&](const nlmsghdr& message) -> Result<void> {
            const Attributes attributes(attributes_in(message), "nf_tables rule");
            const std::pair table{family_in(message).value_or(NFPROTO_UNSPEC), attributes.text(NFTA_RULE_TABLE).value_or("")};
            if (!tables->contains(table))
                return {};
            const auto bytes = attributes.bytes(NFTA_RULE_EXPRESSIONS);
            const auto expressions = raw_expressions(bytes.value_or(std::span<const std::byte>()));
            if (!expressions)
                return fail(expressions.error());
            for (const RawExpression& expression : *expressions)
                if (expression.name == "ct")
                    stateful.insert(fmt::format("{} {}", nft::to_text(*family_of(table.first)), table.second));
            return {};
        },
        [&] { stateful.clear(); });
    return done.map([&] { return std::vector<std::string>(stateful.begin(), stateful.end()); });
}

}  // namespace mape::netlink
