// A command line: words separated by NUL.
#include "fuzz.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/argv.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/options.h"
#include "map/rule_table.h"

using namespace mape;
using namespace mape::cli;

namespace {

Result<Argv> parse(const std::vector<std::string>& words)
{
    std::vector<const char*> argv{"mape-gen"};
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    argv.push_back(nullptr);
    return parse_argv(static_cast<int>(argv.size()) - 1, argv.data());
}

/// What run() does with each option, whatever the command.
void set(const Argv& argv)
{
    Flags flags;
    Settings settings;
    for (const ArgvOption& option : argv.options) {
        const FlagRow* flag = find_flag(option.name);
        const OptionRow* key = find_option(option.name);
        HOLDS((flag == nullptr) != (key == nullptr));
        if (const auto done = flag ? flag->set(flags, option.value) : set_option(*key, settings, option.value); !done) {
            fuzz::check_error(done.error());
            HOLDS(done.error().kind == ErrorKind::input);
        }
        for (const CommandRow& command : command_rows())
            if (flag)
                (void)belongs_to(*flag, command.name);
    }
    for (const Error& error : check_settings(settings))
        fuzz::check_error(error);
}

/// Written down as plainly as can be it is read the same.
void check_round_trip(const Argv& argv)
{
    std::vector<std::string> plain;
    for (const ArgvOption& option : argv.options) {
        const FlagRow* flag = find_flag(option.name);
        if (flag && flag->syntax.empty())
            HOLDS(option.value.empty());
        // A word of its own must not look like an option; behind = there must be one.
        plain.push_back("--" + option.name + (option.value.empty() ? "" : "=" + option.value));
        if (option.value.empty() && (!flag || !flag->syntax.empty()))
            plain.emplace_back();
    }
    plain.push_back("--");
    plain.insert(plain.end(), argv.words.begin(), argv.words.end());
    const auto again = parse(plain);
    HOLDS(again);
    HOLDS(again->words == argv.words);
    HOLDS(std::equal(again->options.begin(), again->options.end(), argv.options.begin(), argv.options.end(),
                     [](const ArgvOption& a, const ArgvOption& b) { return a.name == b.name && a.value == b.value; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::vector<std::string> words;
    for (std::string_view rest = fuzz::as_text(data, size); !rest.empty();) {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto argv = parse(words);
    if (!argv) {
        fuzz::check_error(argv.error());
        HOLDS(argv.error().kind == ErrorKind::input);
        return 0;
    }
    set(*argv);
    check_round_trip(*argv);
    if (!argv->words.empty() && !find_command(argv->words.front()))
        fuzz::check_error(unknown_command(argv->words.front()));
    return 0;
}
