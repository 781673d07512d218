#include "cli/commands.h"
#include "cli/usage.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mape::cli {

namespace {

// For the build of the manual; not in the usage.
constexpr std::array manual_tables{std::string_view("man-commands"), std::string_view("man-options"),
                                   std::string_view("man-keys")};

}  // namespace

Result<int> help_command(Invocation& invocation, Output& output)
{
    if (invocation.arguments.empty()) {
        output.print(usage());
        return 0;
    }
    const std::string& topic = invocation.arguments.front();
    if (const CommandRow* command = find_command(topic)) {
        output.print(command_help(*command));
        return 0;
    }
    if (topic == "keys") {
        output.print(key_help());
        return 0;
    }
    if (std::find(manual_tables.begin(), manual_tables.end(), topic) != manual_tables.end()) {
        output.print(manual_table(std::string_view(topic).substr(4)));
        return 0;
    }
    return fail(unknown_command(topic));
}

}  // namespace mape::cli
