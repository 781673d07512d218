#include "map/rule_table.h"

#include "base/number.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace mape {

namespace {

constexpr std::array<std::pair<std::string_view, Confidence>, 5> confidence_words{{
    {"complete", Confidence::complete},
    {"believed-complete", Confidence::believed_complete},
    {"partial", Confidence::partial},
    {"unverified", Confidence::unverified},
    {"user", Confidence::user},
}};

/// A row before its rule is made.
struct Draft {
    std::string isp;
    MapRuleFields rule;
    std::optional<Ipv6Address> br;
    std::optional<unsigned> mtu;
    Confidence confidence = Confidence::user;
    std::string source;
};

template <class T, class Target>
Result<void> store(Result<T> parsed, Target& target)
{
    if (!parsed)
        return fail(std::move(parsed).error());
    target = *std::move(parsed);
    return {};
}

Result<std::uint32_t> number(std::string_view text, std::uint32_t min, std::uint32_t max)
{
    if (const auto value = parse_number(text, min, max))
        return *value;
    return fail(input_error(fmt::format("\"{}\" is not a number from {} to {}", text, min, max)));
}

Result<IidFormat> iid_format(std::string_view text)
{
    if (const auto format = parse_iid_format(text))
        return *format;
    return fail(input_error(fmt::format("\"{}\" is not rfc7597 or draft03", text)));
}

Result<Confidence> confidence_word(std::string_view text)
{
    for (const auto& [word, confidence] : confidence_words)
        if (word == text)
            return confidence;
    return fail(input_error(
        fmt::format("\"{}\" is not complete, believed-complete, partial, unverified or user", text)));
}

struct Column {
    std::string_view name;
    bool required;
    Result<void> (*read)(std::string_view text, Draft& row);
};

const std::array<Column, 10> columns{{
    {"isp", true, [](std::string_view t, Draft& d) { return store(Result<std::string>(t), d.isp); }},
    {"rule_ipv6", true, [](std::string_view t, Draft& d) { return store(Ipv6Prefix::parse(t), d.rule.rule_ipv6); }},
    {"rule_ipv4", true, [](std::string_view t, Draft& d) { return store(Ipv4Prefix::parse(t), d.rule.rule_ipv4); }},
    {"ea_length", true, [](std::string_view t, Draft& d) { return store(number(t, 0, 48), d.rule.ea_length); }},
    {"psid_offset", true, [](std::string_view t, Draft& d) { return store(number(t, 0, 15), d.rule.psid_offset); }},
    {"br", false, [](std::string_view t, Draft& d) { return store(Ipv6Address::parse(t), d.br); }},
    {"iid", true, [](std::string_view t, Draft& d) { return store(iid_format(t), d.rule.iid); }},
    // 68: the smallest MTU of IPv4, RFC 791.
    {"tunnel_mtu", false, [](std::string_view t, Draft& d) { return store(number(t, 68, 65535), d.mtu); }},
    {"confidence", false, [](std::string_view t, Draft& d) { return store(confidence_word(t), d.confidence); }},
    {"source", false, [](std::string_view t, Draft& d) { return store(Result<std::string>(t), d.source); }},
}};

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \r") - first + 1);
}

void split(std::string_view line, std::vector<std::string_view>& cells)
{
    cells.clear();
    for (;;) {
        const auto tab = line.find('\t');
        cells.push_back(trim(line.substr(0, tab)));
        if (tab == std::string_view::npos)
            return;
        line.remove_prefix(tab + 1);
    }
}

Result<std::vector<const Column*>> parse_header(std::string_view line)
{
    std::vector<const Column*> header;
    std::vector<std::string_view> cells;
    split(line, cells);
    for (const std::string_view name : cells) {
        const auto column = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
        if (column == columns.end()) {
            std::vector<std::string_view> names;
            for (const Column& c : columns)
                names.push_back(c.name);
            return fail(input_error(fmt::format("unknown column \"{}\"; there are {}", name, fmt::join(names, " "))));
        }
        if (std::find(header.begin(), header.end(), &*column) != header.end())
            return fail(input_error(fmt::format("column {} is there twice", name)));
        header.push_back(&*column);
    }
    for (const Column& column : columns)
        if (column.required && std::find(header.begin(), header.end(), &column) == header.end())
            return fail(input_error(fmt::format("column {} is missing", column.name)));
    return header;
}

/// `cells` is room for the fields, the same for all rows.
Result<RuleRow> parse_row(std::string_view line, const std::vector<const Column*>& header, std::vector<std::string_view>& cells)
{
    split(line, cells);
    if (cells.size() > header.size())
        return fail(input_error(fmt::format("{} fields under {} columns", cells.size(), header.size())));
    // Editors strip the tabs of empty fields at the end of a line.
    cells.resize(header.size());
    Draft draft;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const Column& column = *header[i];
        if (cells[i].empty()) {
            if (column.required)
                return fail(input_error(fmt::format("{} is empty", column.name)));
            continue;
        }
        if (auto read = column.read(cells[i], draft); !read)
            return fail(with_context(column.name, read.error()));
    }
    auto rule = MapRule::make(draft.rule);
    if (!rule)
        return fail(rule.error());
    return RuleRow{.isp = std::move(draft.isp),
                   .rule = *rule,
                   .br = draft.br,
                   .mtu = draft.mtu,
                   .confidence = draft.confidence,
                   .source = std::move(draft.source),
                   .file = {},
                   .line = 0};
}

/// Of the rows that hold what is asked for, the one with the longest prefix; a user's row among equals.
template <class Holds, class Length>
const RuleRow* longest(const std::vector<RuleRow>& rows, const std::vector<bool>& users, std::string_view isp, Holds holds,
                       Length length)
{
    const auto restricted = [&](std::size_t i) { return !isp.empty() && rows[i].isp != isp; };
    const auto overridden = [&](std::size_t i) {
        if (users[i])
            return false;
        for (std::size_t j = 0; j < rows.size(); ++j)
            if (users[j] && !restricted(j) && rows[j].rule.ipv6_prefix() == rows[i].rule.ipv6_prefix())
                return true;
        return false;
    };
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (restricted(i) || !holds(rows[i].rule) || overridden(i))
            continue;
        const unsigned now = length(rows[i].rule);
        const unsigned before = best ? length(rows[*best].rule) : 0;
        if (!best || now > before || (now == before && users[i] && !users[*best]))
            best = i;
    }
    return best ? &rows[*best] : nullptr;
}

}  // namespace

std::string_view to_text(Confidence confidence)
{
    for (const auto& [word, value] : confidence_words)
        if (value == confidence)
            return word;
    return "user";
}

Result<std::vector<RuleRow>> parse_rule_table(std::string_view text, std::string_view file_name)
{
    std::vector<const Column*> header;
    std::vector<RuleRow> rows;
    std::vector<std::string_view> cells;
    for (unsigned number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const auto at = [&](const Error& error) { return fail(with_context(fmt::format("{}:{}", file_name, number), error)); };
        if (header.empty()) {
            auto parsed = parse_header(line);
            if (!parsed)
                return at(parsed.error());
            header = *parsed;
            continue;
        }
        auto row = parse_row(line, header, cells);
        if (!row)
            return at(row.error());
        row->file = file_name;
        row->line = number;
        rows.push_back(*std::move(row));
    }
    if (header.empty())
        return fail(input_error(fmt::format("{}: no line with the names of the columns", file_name)));
    return rows;
}

void RuleTables::add(std::vector<RuleRow> rows, std::string file_name, bool users)
{
    users_.insert(users_.end(), rows.size(), users);
    std::move(rows.begin(), rows.end(), std::back_inserter(rows_));
    files_.push_back(std::move(file_name));
}

const RuleRow* RuleTables::find(const Ipv6Prefix& prefix, std::string_view isp) const
{
    return longest(
        rows_, users_, isp,
        [&](const MapRule& rule) {
            return rule.map_prefix_length() <= prefix.length && rule.ipv6_prefix().contains(prefix);
        },
        [](const MapRule& rule) { return rule.ipv6_prefix().length; });
}

const RuleRow* RuleTables::find(Ipv4Address address, std::string_view isp) const
{
    return longest(
        rows_, users_, isp, [&](const MapRule& rule) { return rule.ipv4_prefix().contains(address); },
        [](const MapRule& rule) { return rule.ipv4_prefix().length; });
}

std::vector<Ipv6Address> RuleTables::border_relays() const
{
    std::vector<Ipv6Address> relays;
    for (const RuleRow& row : rows_)
        if (row.br && std::find(relays.begin(), relays.end(), *row.br) == relays.end())
            relays.push_back(*row.br);
    return relays;
}

}  // namespace mape
