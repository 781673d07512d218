#include "cli/commands.h"

#include "cli/options.h"
#include "cli/suggest.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mape::cli {

namespace {

constexpr std::array rows{
    CommandRow{"calc", "[PREFIX | IPV4:PORT | -]", "compute address, PSID, ports and CE address, and show them", 1,
               Reads::configuration, false,
               "isp rule end_user_prefix ipv4 psid psid_length psid_offset sharing_ratio ce br iid mtu port_ranges port_count "
               "explain",
               "PREFIX     an end-user prefix; a bare address stands for its /64. Only --config and options add to it.\n"
               "IPV4:PORT  the customer edge that this port belongs to, by the rule stated or found in a table.\n"
               "-          one prefix a line on standard input, one JSON document a line on standard output; exit code 2 if\n"
               "           one of them failed.\n"
               "nothing    the line of the configuration (mape0.conf) and the options; prefix = auto reads the kernel.\n",
               calc_command},
    CommandRow{"ruleset", "", "print the nftables ruleset as text", 0, Reads::configuration, false, "tunnel table ruleset",
               "Without --mtu the table's MTU counts, else 1460. Without --wan the rule that needs the WAN is left out.\n",
               ruleset_command},
    CommandRow{"apply", "[NAME]", "turn this box into the customer edge", 1, Reads::configuration, true,
               "tunnel wan ipv4 ce br mtu diff outage_us verdict", "", apply_command},
    CommandRow{"revert", "[NAME]", "undo what apply did", 1, Reads::tunnel_only, true, "tunnel diff", "", revert_command},
    CommandRow{"status", "[NAME]", "what is in place, and whether it works", 1, Reads::configuration, true,
               "tunnel applied wan ipv4 ce br mtu drift ruleset_changes sent received counters verdict", "", status_command},
    CommandRow{"check", "[FILE]", "is this configuration valid; offline, no privilege needed", 1, Reads::tables, false,
               "files valid errors unchecked line",
               "FILE       default: mape0.conf and mape0.conf.d/*.conf in the configuration directory.\n", check_command},
    CommandRow{"isp", "list | show NAME | find PREFIX", "the rule tables of providers", 2, Reads::tables, false, "isps rows",
               "list         each provider, how many rules, how sure they are.\n"
               "show NAME    all rules of one.\n"
               "find PREFIX  the rules that hold this prefix; the first one, the longest, is the one that counts.\n",
               isp_command},
    CommandRow{"help", "[COMMAND | keys]", "this, a command's options, or all configuration keys", 1, Reads::nothing, false, "",
               "", help_command},
};

struct OtherVerb {
    std::string_view name;
    std::string_view sentence;
};

constexpr std::string_view apply_does = "mape-gen apply does that, and mape-gen revert undoes it";
constexpr std::string_view revert_does = "mape-gen revert does that";
constexpr std::string_view apply_again = "mape-gen apply brings what differs up to date; there is no need to stop before";
constexpr std::string_view calc_does = "mape-gen calc does that";
constexpr std::string_view status_does = "mape-gen status does that";

constexpr std::array other_verbs{
    OtherVerb{"up", apply_does},
    OtherVerb{"start", apply_does},
    OtherVerb{"on", apply_does},
    OtherVerb{"enable", apply_does},
    OtherVerb{"run", apply_does},
    OtherVerb{"set", apply_does},
    OtherVerb{"setup", apply_does},
    OtherVerb{"install", apply_does},
    OtherVerb{"add", apply_does},
    OtherVerb{"down", revert_does},
    OtherVerb{"stop", revert_does},
    OtherVerb{"off", revert_does},
    OtherVerb{"undo", revert_does},
    OtherVerb{"remove", revert_does},
    OtherVerb{"delete", revert_does},
    OtherVerb{"del", revert_does},
    OtherVerb{"teardown", revert_does},
    OtherVerb{"disable", "systemctl disable mape-gen@mape0 does that at boot, and mape-gen revert now"},
    OtherVerb{"restart", apply_again},
    OtherVerb{"reload", apply_again},
    OtherVerb{"refresh", apply_again},
    OtherVerb{"show", status_does},
    OtherVerb{"info", status_does},
    OtherVerb{"explain", "mape-gen calc --explain does that"},
    OtherVerb{"compute", calc_does},
    OtherVerb{"calculate", calc_does},
    OtherVerb{"nft", "mape-gen ruleset prints it"},
    OtherVerb{"rules", "mape-gen ruleset prints the nftables rules, mape-gen isp list the mapping rules"},
    OtherVerb{"diff", "mape-gen apply --dry-run shows what would change"},
    OtherVerb{"plan", "mape-gen apply --dry-run shows what would change"},
    OtherVerb{"validate", "mape-gen check does that"},
    OtherVerb{"test", "mape-gen check looks at a configuration, mape-gen apply --dry-run at this box"},
};

constexpr auto names = [] {
    std::array<std::string_view, rows.size()> list{};
    for (std::size_t i = 0; i < rows.size(); ++i)
        list[i] = rows[i].name;
    return list;
}();

}  // namespace

std::span<const CommandRow> command_rows()
{
    return rows;
}

const CommandRow* find_command(std::string_view name)
{
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const CommandRow& r) { return r.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

Error unknown_command(std::string_view name)
{
    const std::string sentence = fmt::format("\"{}\" is not a command", name);
    for (const OtherVerb& verb : other_verbs)
        if (verb.name == name)
            return input_error(sentence, std::string(verb.sentence));
    if (const auto near = nearest_word(name, names))
        return input_error(sentence, fmt::format("did you mean {}?", *near));
    if (parse_end_user_prefix(name))
        return input_error(sentence, fmt::format("did you mean mape-gen calc {}?", name));
    return input_error(sentence, "mape-gen help lists them");
}

}  // namespace mape::cli
