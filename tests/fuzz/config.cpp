// A configuration file, as `check` reads it: text, settings, line, ruleset.
#include "fuzz.h"

#include <algorithm>

#include <fmt/format.h>

#include "apply/napt_from_settings.h"
#include "base/file.h"
#include "cli/config.h"
#include "map/line.h"
#include "netlink/reply.h"
#include "nft/batch.h"
#include "nft/napt.h"
#include "nft/text.h"

using namespace mape;
using namespace mape::cli;

namespace {

RuleTables documentation_tables()
{
    const auto text = read_file(MAPE_TEST_DATA "/doc.tsv", 1 << 20);
    HOLDS(text);
    auto rows = parse_rule_table(*text, "doc.tsv");
    HOLDS(rows);
    RuleTables tables;
    tables.add(std::move(*rows), "doc.tsv", false);
    return tables;
}

void check_errors(const std::vector<ConfigError>& errors, unsigned lines)
{
    for (const ConfigError& error : errors) {
        fuzz::check_error(error.error);
        HOLDS(error.error.kind == ErrorKind::input);
        HOLDS(error.line <= lines);
        if (error.line != 0)
            HOLDS(error.error.message.starts_with(fmt::format("{}:{}: ", error.file, error.line)));
    }
}

/// What was understood, written down as plainly as can be, is understood the same.
void check_round_trip(const ConfigText& config)
{
    std::string plain;
    for (const Assignment& assignment : config.assignments)
        plain += fmt::format("[{}]\n{} = {}\n", assignment.row->section, assignment.row->name, assignment.value);
    const ConfigText again = parse_config(plain, "plain.conf");
    HOLDS(again.errors.empty());
    HOLDS(std::equal(again.assignments.begin(), again.assignments.end(), config.assignments.begin(), config.assignments.end(),
                     [](const Assignment& a, const Assignment& b) { return a.row == b.row && a.value == b.value; }));
}

/// What `check` does with settings that are right one by one.
void check_line(const Settings& settings, const RuleTables& tables)
{
    const auto line = resolve_line(settings.line, tables, settings.origins);
    if (!line)
        return fuzz::check_error(line.error());
    HOLDS(line->edge.ipv4.length <= 32);
    for (const std::string& warning : line->warnings)
        HOLDS(!warning.empty());
    const InterfaceName tunnel = settings.tunnel ? *settings.tunnel : *InterfaceName::parse("mape0");
    const auto parameters = napt_from_settings(settings, *line, tunnel, settings.wan, 1460, "0");
    if (!parameters)
        return fuzz::check_error(parameters.error());
    const auto ruleset = napt_ruleset(*parameters);
    if (!ruleset)
        return fuzz::check_error(ruleset.error());
    HOLDS(!nft::to_text(*ruleset).empty());
    const nft::Batch batch = nft::replace_batch(*ruleset);
    HOLDS(netlink::BatchExchange::make(batch.bytes, batch.labels, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const RuleTables tables = documentation_tables();
    static fuzz::Directory directory;
    static const std::string path = directory.path("mape0.conf");
    const std::string_view text = fuzz::as_text(data, size);
    const auto lines = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')) + 1;

    fuzz::write_file(path, text);
    const auto content = read_text_file(path);
    if (content)
        HOLDS(*content == text);
    else
        fuzz::check_error(content.error());

    ConfigText config = parse_config(text, "mape0.conf");
    check_errors(config.errors, lines);
    for (const Assignment& assignment : config.assignments)
        HOLDS(assignment.row != nullptr && assignment.line > 0 && assignment.line <= lines);
    check_round_trip(config);

    std::vector<ConfigError> errors;
    const Settings settings = make_settings(config, {}, errors);
    check_errors(errors, lines);
    // As options they say the same, and their errors are as many.
    std::vector<ConfigError> as_options;
    const Settings same = make_settings({{}, config.errors}, config.assignments, as_options);
    HOLDS(as_options.size() == errors.size());
    HOLDS(same.origins == settings.origins);

    // The file goes on where read_text_file() let it through and nothing was wrong.
    if (content && errors.empty() && config.errors.empty())
        check_line(settings, tables);
    return 0;
}
