#include "cli/commands.h"
#include "cli/json.h"
#include "cli/line_text.h"
#include "cli/options.h"
#include "cli/suggest.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mape::cli {

namespace {

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell; the last one is not padded.
std::string table_text(const std::vector<Cells>& lines)
{
    std::vector<std::size_t> widths;
    for (const Cells& cells : lines) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    }
    std::string text;
    for (const Cells& cells : lines) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += i + 1 == cells.size() ? cells[i] : fmt::format("{:<{}}  ", cells[i], widths[i]);
        text += line + "\n";
    }
    return text;
}

std::string joined(const std::vector<std::string>& list)
{
    return fmt::format("{}", fmt::join(list, ", "));
}

void add_once(std::vector<std::string>& list, std::string_view item)
{
    if (std::find(list.begin(), list.end(), item) == list.end())
        list.emplace_back(item);
}

std::vector<IspSummary> summaries(const RuleTables& tables)
{
    std::vector<IspSummary> isps;
    for (const RuleRow& row : tables.rows()) {
        auto isp = std::find_if(isps.begin(), isps.end(), [&](const IspSummary& one) { return one.name == row.isp; });
        if (isp == isps.end())
            isp = isps.insert(isp, {row.isp, 0, {}, {}});
        ++isp->rows;
        add_once(isp->confidences, to_text(row.confidence));
        add_once(isp->files, row.file);
    }
    std::sort(isps.begin(), isps.end(), [](const IspSummary& a, const IspSummary& b) { return a.name < b.name; });
    return isps;
}

void show_rows(const std::vector<const RuleRow*>& rows, Output& output)
{
    if (output.json()) {
        set_rows(output, rows);
        return;
    }
    std::vector<Cells> lines{{"isp", "rule IPv6 prefix", "rule IPv4 prefix", "EA", "offset", "PSID", "IID", "border relay",
                              "confidence", "place"}};
    for (const RuleRow* row : rows)
        lines.push_back({row->isp, to_text(row->rule.ipv6_prefix()), to_text(row->rule.ipv4_prefix()),
                         fmt::format("{}", row->rule.ea_length()), fmt::format("{}", row->rule.psid_offset()),
                         fmt::format("{}", row->rule.psid_length()), std::string(to_text(row->rule.iid())),
                         row->br ? to_text(*row->br) : "-", std::string(to_text(row->confidence)),
                         fmt::format("{}:{}", row->file, row->line)});
    output.print(table_text(lines));
}

Result<int> list(const Invocation& invocation, Output& output)
{
    const std::vector<IspSummary> isps = summaries(invocation.tables);
    if (output.json()) {
        set_isps(output, isps);
        return 0;
    }
    std::vector<Cells> lines{{"isp", "rules", "confidence", "tables"}};
    for (const IspSummary& isp : isps)
        lines.push_back({isp.name, fmt::format("{}", isp.rows), joined(isp.confidences), joined(isp.files)});
    output.print(table_text(lines));
    return 0;
}

Result<int> show(const Invocation& invocation, Output& output)
{
    const std::string& name = invocation.arguments[1];
    std::vector<const RuleRow*> rows;
    for (const RuleRow& row : invocation.tables.rows())
        if (row.isp == name)
            rows.push_back(&row);
    if (rows.empty()) {
        const std::vector<IspSummary> isps = summaries(invocation.tables);
        std::vector<std::string> names;
        for (const IspSummary& isp : isps)
            names.push_back(isp.name);
        return fail(input_error(fmt::format("isp \"{}\" is in no rule table: known are {}", name, joined(names))));
    }
    show_rows(rows, output);
    return 0;
}

Result<int> find(const Invocation& invocation, Output& output)
{
    const auto prefix = parse_end_user_prefix(invocation.arguments[1]);
    if (!prefix)
        return fail(prefix.error());
    if (auto open = refuse_closed_network(*prefix); !open)
        return fail(open.error());
    std::vector<const RuleRow*> rows;
    for (const RuleRow& row : invocation.tables.rows())
        if (row.rule.ipv6_prefix().contains(*prefix))
            rows.push_back(&row);
    const RuleRow* counts = invocation.tables.find(*prefix);
    std::stable_sort(rows.begin(), rows.end(), [&](const RuleRow* a, const RuleRow* b) {
        if ((a == counts) != (b == counts))
            return a == counts;
        return a->rule.ipv6_prefix().length > b->rule.ipv6_prefix().length;
    });
    if (rows.empty())
        return fail(input_error(fmt::format("prefix {} is in no rule table (searched: {})", to_text(*prefix),
                                            joined(invocation.tables.searched_files())),
                                "state the provider's rule with --rule-ipv6, --rule-ipv4 and --ea-length"));
    if (!counts)
        output.warn(fmt::format("{} is too short for any of these rules", to_text(*prefix)));
    show_rows(rows, output);
    return 0;
}

struct Verb {
    std::string_view name;
    std::size_t arguments;
    Result<int> (*function)(const Invocation&, Output&);
};
constexpr std::array verbs{Verb{"list", 1, list}, Verb{"show", 2, show}, Verb{"find", 2, find}};
constexpr std::array<std::string_view, 3> verb_names{"list", "show", "find"};

}  // namespace

Result<int> isp_command(Invocation& invocation, Output& output)
{
    if (invocation.arguments.empty())
        return fail(input_error("isp: list, show NAME or find PREFIX is missing"));
    const std::string& name = invocation.arguments.front();
    for (const Verb& verb : verbs) {
        if (verb.name != name)
            continue;
        if (invocation.arguments.size() != verb.arguments)
            return fail(input_error(verb.arguments == 1 ? "isp list takes no argument"
                                                        : fmt::format("isp {}: {} is missing", name,
                                                                      name == "show" ? "NAME" : "PREFIX")));
        return verb.function(invocation, output);
    }
    const auto near = nearest_word(name, verb_names);
    return fail(input_error(fmt::format("isp \"{}\": there are list, show NAME and find PREFIX", name),
                            near ? fmt::format("did you mean {}?", *near) : ""));
}

}  // namespace mape::cli
