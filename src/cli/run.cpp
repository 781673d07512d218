#include "cli/run.h"

#include "cli/argv.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/data.h"
#include "cli/flags.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/usage.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mape::cli {

namespace {

int exit_code(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::input: return 2;
    case ErrorKind::failed: return 1;
    case ErrorKind::privilege: return 5;
    case ErrorKind::undo_failed: return 6;
    }
    return 1;
}

// A standard descriptor that is closed would be given to the next file opened, and what was meant for a terminal would be
// written into a journal. /dev/null, opened for reading, takes the place: a write to it fails as it did before.
void occupy_standard_descriptors()
{
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0)
            (void)!::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

Result<void> set_flags(const Argv& argv, Flags& flags)
{
    std::vector<std::string_view> seen;
    for (const ArgvOption& option : argv.options) {
        const FlagRow* row = find_flag(option.name);
        if (!row)
            continue;
        if (!row->syntax.empty() && std::find(seen.begin(), seen.end(), row->name) != seen.end())
            return fail(input_error(fmt::format("--{} is given twice", row->name)));
        seen.push_back(row->name);
        if (auto done = row->set(flags, option.value); !done)
            return fail(with_context(fmt::format("--{}", row->name), done.error()));
    }
    return {};
}

Result<std::vector<Assignment>> key_options(const Argv& argv)
{
    std::vector<Assignment> assignments;
    for (const ArgvOption& option : argv.options) {
        const OptionRow* row = find_option(option.name);
        if (!row)
            continue;
        const std::string name = fmt::format("--{}", row->name);
        for (const Assignment& before : assignments)
            if (before.row == row && !row->repeatable)
                return fail(input_error(fmt::format("{} is given twice", name)));
        assignments.push_back({row, option.value, name, option.value.empty() ? name : fmt::format("{} {}", name, option.value),
                               {}, 0});
    }
    return assignments;
}

// Options that the command does not take: said before anything is read.
Result<void> check_options(const Argv& argv, const CommandRow& command)
{
    for (const ArgvOption& option : argv.options) {
        const FlagRow* flag = find_flag(option.name);
        const bool fits = flag ? belongs_to(*flag, command.name)
                               : command.reads == Reads::configuration
                                     || (command.reads == Reads::tunnel_only && option.name == "tunnel");
        if (!fits)
            return fail(input_error(fmt::format("{} does not take --{}", command.name, option.name),
                                    fmt::format("mape-gen help {} lists what it takes", command.name)));
    }
    return {};
}

Result<void> set_arguments(const Argv& argv, const CommandRow& command, Invocation& invocation)
{
    invocation.arguments.assign(argv.words.begin() + 1, argv.words.end());
    if (invocation.arguments.size() > command.max_arguments) {
        const std::string& surplus = invocation.arguments[command.max_arguments];
        return fail(input_error(fmt::format("{}: \"{}\" is one argument too many", command.name, surplus),
                                fmt::format("usage: mape-gen {}{}{}", command.name, command.arguments.empty() ? "" : " ",
                                            command.arguments)));
    }
    if (command.names_configuration && !invocation.arguments.empty()) {
        invocation.name = invocation.arguments.front();
        if (auto name = parse_tunnel_name(invocation.name); !name) {
            Error error = with_context(fmt::format("{} NAME", command.name), name.error());
            if (invocation.name.find('/') != std::string::npos)
                error.hint = "a file is named with --config";
            return fail(error);
        }
    }
    return {};
}

// `calc` that is told what to compute does not look at this box's own configuration, only at one that is named.
bool reads_default_file(const Invocation& invocation)
{
    return invocation.command != "calc" || invocation.arguments.empty();
}

Result<void> read_settings(const std::vector<Assignment>& options, Invocation& invocation)
{
    if (invocation.flags.config) {
        invocation.config_files = {*invocation.flags.config};
    } else if (reads_default_file(invocation)) {
        auto files = default_config_files(invocation.name);
        if (!files)
            return fail(files.error());
        invocation.config_files = std::move(*files);
    }
    const auto config = read_config(invocation.config_files);
    if (!config)
        return fail(config.error());
    std::vector<ConfigError> errors = config->errors;
    invocation.settings = make_settings(*config, options, errors);
    if (!errors.empty())
        return fail(first_of(errors));
    invocation.prefix_is_auto = !invocation.settings.line.prefix;
    return {};
}

Result<void> prepare(const CommandRow& command, const Argv& argv, Invocation& invocation, Output& output)
{
    if (auto done = check_options(argv, command); !done)
        return done;
    if (auto done = set_arguments(argv, command, invocation); !done)
        return done;
    if (command.reads == Reads::nothing)
        return {};
    const auto options = key_options(argv);
    if (!options)
        return fail(options.error());
    if (command.reads == Reads::tunnel_only) {
        // Undoing must be possible with a configuration that is broken or gone; it only says the tunnel's name.
        if (auto done = read_settings(*options, invocation); !done) {
            output.warn(fmt::format("the configuration is not used: {}", done.error().message));
            std::vector<ConfigError> errors;
            invocation.settings = make_settings({}, *options, errors);
            if (!errors.empty())
                return fail(first_of(errors));
        }
        return {};
    }
    if (command.reads == Reads::configuration)
        if (auto done = read_settings(*options, invocation); !done)
            return done;
    auto tables = load_rule_tables(invocation.flags);
    if (!tables)
        return fail(tables.error());
    invocation.tables = std::move(*tables);
    return {};
}

int finish(Output& output, int code)
{
    if (const auto done = output.finish(); !done) {
        // Exit 1 would say that the box is as it was.
        const bool applied = code == 0 && output.changed();
        output.error(applied ? with_context("done; but", done.error()) : done.error());
        return code == 0 && !applied ? 1 : code;
    }
    return code;
}

int report(Output& output, const Error& error)
{
    output.error(error);
    return finish(output, exit_code(error.kind));
}

// The flags that decide how errors are told, also where argv cannot be read as a whole.
bool wants_json(int argc, const char* const* argv)
{
    return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

}  // namespace

InterfaceName tunnel_name(const Invocation& invocation)
{
    return invocation.settings.tunnel ? *invocation.settings.tunnel : *parse_tunnel_name(invocation.name);
}

int run(int argc, const char* const* argv)
{
    occupy_standard_descriptors();
    // A closed pipe is told as an error like a full disk, not by a signal in the middle of apply.
    std::signal(SIGPIPE, SIG_IGN);

    Output output;
    Invocation invocation;
    const CommandRow* command = nullptr;
    const auto failed = [&](const Error& error) {
        if (invocation.flags.json || wants_json(argc, argv))
            output.print_json(command ? command->json_fields : std::string_view{}, &error);
        return report(output, error);
    };

    const auto parsed = parse_argv(argc, argv);
    if (!parsed)
        return failed(parsed.error());
    if (auto done = set_flags(*parsed, invocation.flags); !done)
        return failed(done.error());
    output.configure(invocation.flags);

    if (invocation.flags.version) {
        output.write("mape-gen " MAPE_VERSION "\n");
        return finish(output, 0);
    }
    if (parsed->words.empty()) {
        if (invocation.flags.help) {
            output.write(usage());
            return finish(output, 0);
        }
        return failed(input_error("a command is missing", "such as mape-gen calc 2001:db8:12:3400::/56; mape-gen help lists them"));
    }
    command = find_command(parsed->words.front());
    if (!command)
        return failed(unknown_command(parsed->words.front()));
    if (invocation.flags.help) {
        output.write(command_help(*command));
        return finish(output, 0);
    }
    invocation.command = command->name;
    if (auto done = prepare(*command, *parsed, invocation, output); !done)
        return failed(done.error());

    const auto code = command->function(invocation, output);
    if (!code)
        return failed(code.error());
    if (output.json() && !output.prints_documents())
        output.print_json(command->json_fields, nullptr);
    return finish(output, *code);
}

}  // namespace mape::cli
