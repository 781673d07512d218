#include "cli/usage.h"

#include "cli/flags.h"
#include "cli/options.h"

#include <fmt/format.h>

namespace mape::cli {

namespace {

std::string flag_text(const FlagRow& row)
{
    std::string text = row.letter != 0 ? fmt::format("-{}, --{}", row.letter, row.name) : fmt::format("--{}", row.name);
    return row.syntax.empty() ? text : fmt::format("{} {}", text, row.syntax);
}

std::string flag_lines(std::string_view command, bool common)
{
    std::string text;
    for (const FlagRow& row : flag_rows())
        if (row.commands.empty() == common && (common || belongs_to(row, command)))
            text += fmt::format("  {:<25} {}\n", flag_text(row), row.description);
    return text;
}

std::string key_lines(std::string_view dashes, std::string_view only = {})
{
    std::string text;
    for (const std::string_view section : option_sections()) {
        std::string lines;
        for (const OptionRow& row : option_rows()) {
            if (row.section != section || (!only.empty() && row.name != only))
                continue;
            lines += fmt::format("  {}{} {}\n      {}{}; default: {}\n", dashes, row.name, row.syntax, row.description,
                                 row.repeatable ? "; may stand several times" : "", row.default_text);
        }
        if (!lines.empty())
            text += only.empty() ? fmt::format("\n[{}]\n{}", section, lines) : lines;
    }
    return text;
}

// scdoc reads * and _ as font changes, \ escapes them.
std::string scdoc(std::string_view text)
{
    std::string escaped;
    for (const char c : text) {
        if (std::string_view("*_\\#`~<").find(c) != std::string_view::npos)
            escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

std::string usage()
{
    std::string text = "usage: mape-gen COMMAND [ARGUMENTS] [OPTIONS]\n\n";
    for (const CommandRow& row : command_rows()) {
        const std::string call = fmt::format("{} {}", row.name, row.arguments);
        if (call.size() <= 25)
            text += fmt::format("  {:<25} {}\n", call, row.summary);
        else
            text += fmt::format("  {}\n  {:<25} {}\n", call, "", row.summary);
    }
    text += "\nOptions of all commands:\n" + flag_lines({}, true);
    text += "\nEvery key of the configuration is an option too: --psid-offset 4. An option wins over the file.\n"
            "mape-gen help COMMAND shows a command's own options, mape-gen help keys all keys.\n"
            "NAME (default mape0) stands for the configuration /etc/mape-gen/NAME.conf and the tunnel device.\n"
            "MAPE_GEN_CONFIG_DIR names another directory than /etc/mape-gen, MAPE_GEN_DATA another than " MAPE_DATA_DIR ".\n"
            "\nExit codes: 0 done or nothing to do; 1 failed, the box is as before; 2 bad usage or input; 3 drift or findings;\n"
            "5 needs privilege; 6 failed, and undoing failed too.\n";
    return text;
}

std::string command_help(const CommandRow& command)
{
    std::string text = fmt::format("usage: mape-gen {}{}{} [OPTIONS]\n{}\n", command.name, command.arguments.empty() ? "" : " ",
                                   command.arguments, command.summary);
    if (!command.details.empty())
        text += fmt::format("\n{}", command.details);
    const std::string own = flag_lines(command.name, false);
    text += fmt::format("\nOptions:\n{}{}", own, flag_lines({}, true));
    if (command.reads == Reads::configuration)
        text += fmt::format("\nKeys of the configuration, as options:\n{}", key_lines("--"));
    if (command.reads == Reads::tunnel_only)
        text += key_lines("--", "tunnel");
    return text;
}

std::string key_help()
{
    return "Keys of the configuration file, by section. Each is an option of the same name, with two dashes.\n" + key_lines("");
}

std::string manual_table(std::string_view which)
{
    std::string text;
    if (which == "commands") {
        for (const CommandRow& row : command_rows())
            text += fmt::format("*{}* {}\n\t{}.\n\n", scdoc(row.name), scdoc(row.arguments), scdoc(row.summary));
    } else if (which == "options") {
        for (const FlagRow& row : flag_rows())
            text += fmt::format("*{}*\n\t{}.{}\n\n", scdoc(flag_text(row)), scdoc(row.description),
                                row.commands.empty() ? "" : fmt::format(" For: {}.", scdoc(row.commands)));
    } else {
        for (const std::string_view section : option_sections()) {
            text += fmt::format("## \\[{}]\n\n", section);
            for (const OptionRow& row : option_rows())
                if (row.section == section)
                    text += fmt::format("*{}* = {}\n\t{}{}. Default: {}.\n\n", scdoc(row.name), scdoc(row.syntax),
                                        scdoc(row.description), row.repeatable ? "; may stand several times" : "",
                                        scdoc(row.default_text));
        }
    }
    return text;
}

}  // namespace mape::cli
