#include "cli/flags.h"

#include "base/number.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mape::cli {

namespace {

using Text = std::string_view;

template <class Target>
Result<void> path(Target& target, Text value)
{
    if (value.empty() || value.find('\0') != Text::npos)
        return fail(input_error("the path is missing"));
    target = std::string(value);
    return {};
}

constexpr std::array rows{
    FlagRow{"json", 0, "", "calc ruleset apply revert status check isp", "one JSON document on stdout instead of text",
            [](Flags& f, Text) { f.json = true; return Result<void>{}; }},
    FlagRow{"explain", 0, "", "calc", "say for each value which input it came from",
            [](Flags& f, Text) { f.explain = true; return Result<void>{}; }},
    FlagRow{"dry-run", 0, "", "apply revert", "print what would be done and do nothing; needs no privilege",
            [](Flags& f, Text) { f.dry_run = true; return Result<void>{}; }},
    FlagRow{"lock-timeout", 0, "SECONDS", "apply revert", "how long to wait for another mape-gen (10)",
            [](Flags& f, Text v) {
                const auto seconds = parse_number(v, 0, 3600);
                if (!seconds)
                    return Result<void>(fail(input_error(fmt::format("\"{}\" is not a number of seconds from 0 to 3600", v))));
                f.lock_timeout = *seconds;
                return Result<void>{};
            }},
    FlagRow{"config", 0, "FILE", "calc ruleset apply revert status",
            "read this configuration file instead of NAME's", [](Flags& f, Text v) { return path(f.config, v); }},
    FlagRow{"state-dir", 0, "DIR", "apply revert status", "where the journal is kept (/run/mape-gen)",
            [](Flags& f, Text v) { return path(f.state_dir, v); }},
    FlagRow{"data-dir", 0, "DIR", "", "where the shipped rule tables are (else $MAPE_GEN_DATA)",
            [](Flags& f, Text v) { return path(f.data_dir, v); }},
    FlagRow{"verbose", 'v', "", "", "say more",
            [](Flags& f, Text) { f.verbose = true; return Result<void>{}; }},
    FlagRow{"quiet", 'q', "", "", "no notes; warnings and errors remain",
            [](Flags& f, Text) { f.quiet = true; return Result<void>{}; }},
    FlagRow{"help", 'h', "", "", "show the usage, of a command where one is given",
            [](Flags& f, Text) { f.help = true; return Result<void>{}; }},
    FlagRow{"version", 0, "", "", "show the version",
            [](Flags& f, Text) { f.version = true; return Result<void>{}; }},
};

}  // namespace

std::span<const FlagRow> flag_rows()
{
    return rows;
}

const FlagRow* find_flag(std::string_view name)
{
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const FlagRow& r) { return r.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

bool belongs_to(const FlagRow& row, std::string_view command)
{
    std::string_view list = row.commands;
    if (list.empty())
        return true;
    while (!list.empty()) {
        const auto length = std::min(list.find(' '), list.size());
        if (list.substr(0, length) == command)
            return true;
        list.remove_prefix(std::min(length + 1, list.size()));
    }
    return false;
}

}  // namespace mape::cli
