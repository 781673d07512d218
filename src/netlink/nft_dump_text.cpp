#include "netlink/nft_dump_text.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "netlink/attributes.h"
#include "netlink/nft_dump_parse.h"
#include "nft/text.h"

namespace mape::netlink {

namespace {

/// Attributes newer than the headers of Debian 12 (linux/netfilter/nf_tables.h of 6.17): how many elements a set has.
constexpr unsigned nfta_set_count = 20;

/// Attribute types that are no part of what an object is: whose it is, its name (which is in the line already), handles, use
/// counts, values that move.
using Ignored = std::span<const unsigned>;

constexpr unsigned of_table[] = {NFTA_TABLE_NAME, NFTA_TABLE_USE, NFTA_TABLE_HANDLE};
constexpr unsigned of_object[] = {NFTA_OBJ_TABLE, NFTA_OBJ_NAME, NFTA_OBJ_DATA, NFTA_OBJ_USE, NFTA_OBJ_HANDLE};
constexpr unsigned of_flowtable[] = {NFTA_FLOWTABLE_TABLE, NFTA_FLOWTABLE_NAME, NFTA_FLOWTABLE_USE, NFTA_FLOWTABLE_HANDLE};
constexpr unsigned of_chain[] = {NFTA_CHAIN_TABLE, NFTA_CHAIN_HANDLE,   NFTA_CHAIN_NAME,
                                 NFTA_CHAIN_USE,   NFTA_CHAIN_COUNTERS, NFTA_CHAIN_ID};
constexpr unsigned of_set[] = {NFTA_SET_TABLE, NFTA_SET_NAME, NFTA_SET_ID, NFTA_SET_HANDLE, nfta_set_count};
constexpr unsigned of_rule[] = {NFTA_RULE_TABLE, NFTA_RULE_CHAIN, NFTA_RULE_HANDLE, NFTA_RULE_POSITION,
                                NFTA_RULE_EXPRESSIONS};
constexpr unsigned of_element[] = {NFTA_SET_ELEM_EXPIRATION};

struct Kind {
    unsigned get;              ///< NFT_MSG_GET...
    unsigned table_attribute;  ///< the one that says whose it is
    unsigned name_attribute;   ///< of a rule: its chain's
    std::string_view word;
    Ignored ignored;
};

/// In the order of TableText::Part.
constexpr std::array<Kind, TableText::parts.size()> kinds{{
    {NFT_MSG_GETTABLE, NFTA_TABLE_NAME, NFTA_TABLE_NAME, "table", of_table},
    {NFT_MSG_GETOBJ, NFTA_OBJ_TABLE, NFTA_OBJ_NAME, "object", of_object},
    {NFT_MSG_GETFLOWTABLE, NFTA_FLOWTABLE_TABLE, NFTA_FLOWTABLE_NAME, "flowtable", of_flowtable},
    {NFT_MSG_GETCHAIN, NFTA_CHAIN_TABLE, NFTA_CHAIN_NAME, "chain", of_chain},
    {NFT_MSG_GETSET, NFTA_SET_TABLE, NFTA_SET_NAME, "set", of_set},
    {NFT_MSG_GETRULE, NFTA_RULE_TABLE, NFTA_RULE_CHAIN, "rule", of_rule},
}};

const Kind& kind_of(TableText::Part part)
{
    return kinds[static_cast<std::size_t>(part)];
}

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

/// A name as it may stand in a line: as it is if it is printable, else in hex. The kernel takes names of any bytes.
std::string shown(const std::string& name)
{
    const auto bytes = std::as_bytes(std::span(name.c_str(), name.size() + 1));
    if (const auto text = as_text(bytes))
        return *text;
    std::string hex = "0x";
    append_value(hex, bytes);
    return hex;
}

/// Values that packets move.
bool moves(std::string_view expression, unsigned attribute)
{
    return expression == "counter" || expression == "last" || (expression == "quota" && attribute == NFTA_QUOTA_CONSUMED);
}

}  // namespace

TableText::TableText(nft::TableName table) : table_(std::move(table)), family_(protocol_family(table_.family)) {}

Message TableText::request(Part part) const
{
    return read_request(kind_of(part).get, family_, {{kind_of(part).table_attribute, table_.name}});
}

Result<void> TableText::add(Part part, const nlmsghdr& message)
{
    const Kind& kind = kind_of(part);
    const Attributes named(attributes_in(message), "nf_tables message");
    // Older kernels filter less than they were asked to.
    if (family_in(message) != family_ || named.text(kind.table_attribute) != table_.name)
        return {};
    const auto attributes = raw_attributes(attributes_in(message));
    if (!attributes)
        return fail(attributes.error());
    const std::string name = named.text(kind.name_attribute).value_or("?");
    if (part == Part::sets) {
        const bool anonymous = (named.be32(NFTA_SET_FLAGS).value_or(0) & NFT_SET_ANONYMOUS) != 0;
        append_attributes(sets_.emplace_back(Set{name, {}, shown(name), anonymous}).line, *attributes, kind.ignored);
        return {};
    }
    const std::string title = part == Part::table   ? nft::to_text(table_)
                              : part == Part::rules ? fmt::format("{} {}", shown(name), ++rule_numbers_[name])
                                                    : shown(name);
    std::string& line = found_.emplace_back(Found{part == Part::rules ? name : "", fmt::format("{} {}:", kind.word, title)}).line;
    append_attributes(line, *attributes, kind.ignored);
    if (part != Part::rules)
        return {};
    return append_expressions(line, title, named.bytes(NFTA_RULE_EXPRESSIONS).value_or(std::span<const std::byte>()));
}

void TableText::restart(Part part)
{
    found_.clear();
    rule_numbers_.clear();
    if (part == Part::sets)
        sets_.clear();
}

void TableText::finish(Part part)
{
    // Rules by chain, in their order: the kernel lists chains as they were made.
    if (part == Part::rules)
        std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.chain < b.chain; });
    else
        std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.line < b.line; });
    for (Found& found : found_)
        lines_.push_back(std::move(found.line));
    found_.clear();
    // The rules look sets up by name, what comes after them goes by title.
    if (part == Part::sets)
        std::sort(sets_.begin(), sets_.end(), [](const Set& a, const Set& b) { return a.name < b.name; });
    if (part == Part::rules)
        std::sort(sets_.begin(), sets_.end(), [](const Set& a, const Set& b) { return a.title < b.title; });
}

TableText::Set* TableText::find_set(const std::string& name)
{
    const auto it = std::lower_bound(sets_.begin(), sets_.end(), name,
                                     [](const Set& set, const std::string& wanted) { return set.name < wanted; });
    return it == sets_.end() || it->name != name ? nullptr : &*it;
}

Result<void> TableText::append_expressions(std::string& line, const std::string& title, std::span<const std::byte> bytes)
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

Message TableText::elements_request(const nft::TableName& table, const std::string& set)
{
    return read_request(NFT_MSG_GETSETELEM, protocol_family(table.family),
                        {{NFTA_SET_ELEM_LIST_TABLE, table.name}, {NFTA_SET_ELEM_LIST_SET, set}});
}

Result<void> TableText::add_elements(std::size_t set, const nlmsghdr& message)
{
    const auto elements = parse_elements(message);
    if (!elements)
        return fail(elements.error());
    for (std::vector<RawAttribute> element : *elements) {
        // A batch has them in another order than the kernel.
        std::sort(element.begin(), element.end(), [](const RawAttribute& a, const RawAttribute& b) { return a.type < b.type; });
        append_attributes(found_.emplace_back(Found{{}, "element " + sets_[set].title + ":"}).line, element, of_element);
    }
    return {};
}

void TableText::finish_elements(std::size_t set)
{
    lines_.push_back(fmt::format("set {}:{}", sets_[set].title, sets_[set].line));
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.line < b.line; });
    for (Found& found : found_)
        lines_.push_back(std::move(found.line));
    found_.clear();
}

}  // namespace mape::netlink
