#include "cli/commands.h"
#include "cli/config.h"
#include "cli/json.h"
#include "cli/line.h"
#include "cli/line_text.h"

#include "apply/napt_from_settings.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape::cli {

namespace {

Result<std::vector<std::string>> files_to_check(const Invocation& invocation)
{
    if (!invocation.arguments.empty())
        return std::vector<std::string>{invocation.arguments.front()};
    const std::string main = default_config_file(invocation.name);
    auto files = default_config_files(invocation.name);
    if (files && (files->empty() || files->front() != main))
        return fail(input_error(fmt::format("there is no {}", main), "name the file to check: mape-gen check FILE"));
    return files;
}

bool known_isp(const std::string& isp, const RuleTables& tables)
{
    return std::any_of(tables.rows().begin(), tables.rows().end(), [&](const RuleRow& row) { return row.isp == isp; });
}

// What only the running box can tell.
std::vector<std::string> unchecked_of(const Settings& settings)
{
    std::vector<std::string> unchecked;
    if (!settings.line.prefix && !settings.line.ce)
        unchecked.push_back("prefix = auto: whether the box has a prefix that a rule knows, and so the address and ports");
    unchecked.push_back(settings.wan ? fmt::format("wan = {}: whether there is such a device", settings.wan->str())
                                     : "wan = auto: which device the IPv6 default route uses");
    return unchecked;
}

// The line and what depends on it; adds to `errors` what is wrong. An error that knows no line begins with `file`.
std::optional<Line> check_line(const std::string& file, const Settings& settings, const InterfaceName& tunnel,
                               const RuleTables& tables, std::vector<Error>& errors)
{
    const LineFields& fields = settings.line;
    if (!fields.prefix && !fields.ce) {
        if (fields.isp && !known_isp(*fields.isp, tables))
            errors.push_back(input_error(fmt::format("{} = {}: no rule table has this provider", stated_key(settings, "isp"),
                                                     *fields.isp),
                                         "mape-gen isp list shows those there are"));
        if (fields.rule.rule_ipv6 || fields.rule.rule_ipv4 || fields.rule.ea_length)
            if (auto rule = MapRule::make(fields.rule); !rule)
                errors.push_back(with_context(file, rule.error()));
        return std::nullopt;
    }
    auto line = resolve_line(fields, tables, settings.origins);
    if (!line) {
        errors.push_back(with_context(file, line.error()));
        return std::nullopt;
    }
    if (!line->br)
        errors.push_back(input_error(fmt::format("{}: br is missing: neither the configuration nor a rule table has a border "
                                                 "relay", file),
                                     "apply needs it: br = ADDRESS in [map]"));
    const auto parameters = napt_from_settings(settings, *line, tunnel, settings.wan, mtu_without_device(settings, *line),
                                               MAPE_VERSION);
    if (!parameters)
        errors.push_back(parameters.error());
    else if (auto ruleset = napt_ruleset(*parameters); !ruleset)
        errors.push_back(with_context(file, ruleset.error()));
    return std::move(*line);
}

}  // namespace

Result<int> check_command(Invocation& invocation, Output& output)
{
    const auto files = files_to_check(invocation);
    if (!files)
        return fail(files.error());
    const auto config = read_config(*files);
    if (!config)
        return fail(config.error());
    std::vector<ConfigError> errors = config->errors;
    Settings settings = make_settings(*config, {}, errors);
    std::stable_sort(errors.begin(), errors.end(), [](const ConfigError& a, const ConfigError& b) {
        return a.file == b.file && a.line < b.line;
    });

    std::optional<Line> line;
    if (errors.empty()) {
        invocation.settings = settings;
        std::vector<Error> later;
        line = check_line(files->front(), settings, tunnel_name(invocation), invocation.tables, later);
        for (Error& error : later)
            errors.push_back({std::move(error), files->front(), 0, {}});
    }
    const std::vector<std::string> unchecked = errors.empty() ? unchecked_of(settings) : std::vector<std::string>{};
    const unsigned mtu = line ? mtu_without_device(settings, *line) : 0;
    if (line)
        for (const std::string& warning : line->warnings)
            output.warn(warning);
    set_check(output, *files, errors, unchecked, line && errors.empty() ? &*line : nullptr, mtu);

    if (!errors.empty()) {
        for (std::size_t i = 0; i + 1 < errors.size(); ++i)
            output.error(errors[i].error);
        return fail(errors.back().error);
    }
    if (config->assignments.empty())
        output.note(fmt::format("{} states nothing: every value is its default", files->front()));
    if (output.json())
        return 0;
    std::string text;
    for (const std::string& file : *files)
        text += fmt::format("{}: valid\n", file);
    if (line)
        text += "\n" + line_text(*line, mtu, output.verbose());
    text += "\nnot checked, as it needs the box:\n";
    for (const std::string& sentence : unchecked)
        text += fmt::format("  {}\n", sentence);
    output.print(text);
    return 0;
}

}  // namespace mape::cli
