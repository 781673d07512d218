#include "cli/argv.h"

#include "cli/flags.h"
#include "cli/options.h"
#include "cli/suggest.h"

#include <boost/program_options.hpp>
#include <fmt/format.h>

namespace mape::cli {

namespace po = boost::program_options;

namespace {

po::options_description describe()
{
    po::options_description description;
    for (const FlagRow& row : flag_rows()) {
        std::string name(row.name);
        if (row.letter != 0)
            name += fmt::format(",{}", row.letter);
        if (row.syntax.empty())
            description.add_options()(name.c_str(), "");
        else
            description.add_options()(name.c_str(), po::value<std::string>());
    }
    for (const OptionRow& row : option_rows())
        description.add_options()(std::string(row.name).c_str(), po::value<std::string>());
    return description;
}

std::string_view syntax_of(std::string_view name)
{
    if (const OptionRow* key = find_option(name))
        return key->syntax;
    const FlagRow* flag = find_flag(name);
    return flag ? flag->syntax : std::string_view{};
}

Error missing_value(std::string_view name)
{
    return input_error(fmt::format("--{}: the value is missing; allowed: {}", name, syntax_of(name)));
}

// Boost's exceptions name the option with its dashes or without, by its style of the moment.
std::string bare(std::string_view name)
{
    name = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    return std::string(name.substr(0, name.find('=')));
}

Error unknown_option(const std::string& token)
{
    std::vector<std::string_view> known(option_names().begin(), option_names().end());
    for (const FlagRow& row : flag_rows())
        known.push_back(row.name);
    const std::string name = bare(token);
    const std::string dashes = token.starts_with("--") ? "--" : "-";
    // -mtu is --mtu with a dash missing, not the letters m, t and u.
    const std::string near = suggestion(name, known, "--");
    return input_error(fmt::format("{}{}: there is no such option", dashes, name),
                       near.empty() ? "mape-gen help lists them" : near);
}

}  // namespace

Result<Argv> parse_argv(int argc, const char* const* argv)
{
    using namespace po::command_line_style;
    Argv result;
    try {
        const auto parsed = po::command_line_parser(argc, argv)
                                .options(describe())
                                .style(allow_long | long_allow_next | long_allow_adjacent | allow_short
                                       | allow_dash_for_short | short_allow_next | short_allow_adjacent | allow_sticky)
                                .allow_unregistered()
                                .run();
        for (const po::option& option : parsed.options) {
            if (option.unregistered)
                return fail(unknown_option(option.original_tokens.empty() ? option.string_key
                                                                          : option.original_tokens.front()));
            if (option.position_key >= 0) {
                result.words.insert(result.words.end(), option.value.begin(), option.value.end());
                continue;
            }
            const std::string name = bare(option.string_key);
            const std::string value = option.value.empty() ? std::string{} : option.value.front();
            // Boost takes what follows, whatever it is; no value of ours looks like an option.
            if (value.starts_with("--"))
                return fail(missing_value(name));
            result.options.push_back({name, value});
        }
    } catch (const po::invalid_syntax& error) {
        const std::string token = bare(error.tokens());
        const std::string name = bare(error.get_option_name());
        const std::string& option = name.empty() ? token : name;
        switch (error.kind()) {
        case po::invalid_syntax::extra_parameter:
            return fail(input_error(fmt::format("--{} takes no value", option)));
        case po::invalid_syntax::missing_parameter:
        case po::invalid_syntax::empty_adjacent_parameter:
            return fail(missing_value(option));
        default:
            return fail(input_error(fmt::format("\"{}\" cannot be read as an option", error.tokens())));
        }
    } catch (const po::error& error) {
        return fail(input_error(error.what()));
    }
    return result;
}

}  // namespace mape::cli
