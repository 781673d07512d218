#include "cli/commands.h"
#include "cli/json.h"
#include "cli/line.h"
#include "cli/line_text.h"
#include "cli/options.h"

#include "base/number.h"
#include "map/explain.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace mape::cli {

namespace {

int show(const Line& line, const Invocation& invocation, Output& output)
{
    const unsigned mtu = mtu_without_device(invocation.settings, line);
    if (output.json()) {
        set_line(output, line, mtu, invocation.flags.explain);
        return 0;
    }
    output.print(line_text(line, mtu, output.verbose()));
    if (invocation.flags.explain)
        output.print("\n" + explained_text(line));
    return 0;
}

struct Endpoint {
    Ipv4Address address;
    std::uint16_t port;
};

// 192.0.2.1:4321; nothing where it does not look like one.
Result<Endpoint> parse_endpoint(std::string_view text)
{
    const auto colon = text.find(':');
    const auto address = Ipv4Address::parse(text.substr(0, colon));
    if (!address)
        return fail(address.error());
    const auto port = colon == std::string_view::npos ? std::nullopt : parse_number(text.substr(colon + 1), 0, 65535);
    if (!port)
        return fail(input_error(fmt::format("\"{}\" is not an IPv4 address with a port from 0 to 65535, such as 192.0.2.1:4321",
                                            text)));
    return Endpoint{*address, static_cast<std::uint16_t>(*port)};
}

// The rule that gives out `address`: the stated one, or the table's with what is stated over it.
Result<Line> owner_line(const Endpoint& endpoint, const Invocation& invocation)
{
    const LineFields& fields = invocation.settings.line;
    const bool whole = fields.rule.rule_ipv6 || fields.rule.rule_ipv4 || fields.rule.ea_length;
    const RuleRow* row = nullptr;
    MapRuleFields stated = fields.rule;
    if (!whole) {
        row = invocation.tables.find(endpoint.address, fields.isp ? std::string_view(*fields.isp) : std::string_view{});
        if (!row)
            return fail(input_error(fmt::format("{} is in no rule table (searched: {})", to_text(endpoint.address),
                                                fmt::join(invocation.tables.searched_files(), ", ")),
                                    "state the provider's rule with --rule-ipv6, --rule-ipv4 and --ea-length"));
        stated.rule_ipv6 = row->rule.ipv6_prefix();
        stated.rule_ipv4 = row->rule.ipv4_prefix();
        stated.ea_length = row->rule.ea_length();
        stated.psid_offset = stated.psid_offset.value_or(row->rule.psid_offset());
        stated.iid = stated.iid.value_or(row->rule.iid());
    }
    const auto rule = MapRule::make(stated);
    if (!rule)
        return fail(rule.error());
    auto edge = owner_of(*rule, endpoint.address, endpoint.port);
    if (!edge)
        return fail(edge.error());
    Line line{.rule = *rule,
              .edge = std::move(*edge),
              .br = fields.br || !row ? fields.br : row->br,
              .isp = row ? std::optional(row->isp) : std::nullopt,
              .confidence = row ? std::optional(row->confidence) : std::nullopt,
              .rule_source = row ? row->source : "configuration",
              .table_mtu = row ? row->mtu : std::nullopt,
              .explained = {},
              .warnings = {}};
    line.explained = explain(line, {fields, invocation.settings.origins, row});
    return line;
}

Result<int> calc_endpoint(std::string_view text, Invocation& invocation, Output& output)
{
    const auto endpoint = parse_endpoint(text);
    if (!endpoint)
        return fail(endpoint.error());
    const auto line = owner_line(*endpoint, invocation);
    if (!line)
        return fail(line.error());
    if (!output.json()) {
        const PortSet& ports = line->edge.ports;
        output.print(ports.shared() ? fmt::format("port {} of {} belongs to PSID {}\n\n", endpoint->port,
                                                  to_text(endpoint->address), ports.psid())
                                    : fmt::format("{} belongs to one line, with all its ports\n\n", to_text(endpoint->address)));
    }
    return show(*line, invocation, output);
}

// Standard input by lines, in constant memory.
class LineReader {
public:
    /// False at the end. A line longer than any prefix is cut, and `too_long` set.
    bool next(std::string& line, bool& too_long)
    {
        line.clear();
        too_long = false;
        bool any = false;
        for (;;) {
            if (begin_ == end_ && !fill())
                return any;
            any = true;
            const char c = buffer_[begin_++];
            if (c == '\n')
                return true;
            if (line.size() < longest)
                line += c;
            else
                too_long = true;
        }
    }
    [[nodiscard]] int errnum() const { return errnum_; }

private:
    bool fill()
    {
        for (;;) {
            const ssize_t got = ::read(STDIN_FILENO, buffer_, sizeof buffer_);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                errnum_ = errno;
            begin_ = 0;
            end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
            return got > 0;
        }
    }

    static constexpr std::size_t longest = 200;
    char buffer_[65536];
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    int errnum_ = 0;
};

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Result<Line> calc_prefix(std::string_view text, const Invocation& invocation)
{
    const auto prefix = parse_end_user_prefix(text);
    if (!prefix)
        return fail(prefix.error());
    LineFields fields = invocation.settings.line;
    fields.prefix = *prefix;
    return resolve_line(fields, invocation.tables, invocation.settings.origins);
}

Error too_long_error(const std::string& text)
{
    return input_error(fmt::format("\"{}...\" is too long for a prefix", text.substr(0, 40)));
}

Result<int> calc_stream(const Invocation& invocation, Output& output)
{
    const CommandRow& command = *find_command("calc");
    LineReader reader;
    std::string text;
    bool too_long = false;
    bool failed = false;
    unsigned long number = 0;
    output.documents_of_its_own();
    while (!output.broken() && reader.next(text, too_long)) {
        ++number;
        const std::string_view word = trim(text);
        if (word.empty() || word.front() == '#')
            continue;
        const auto line = too_long ? Result<Line>(fail(too_long_error(text))) : calc_prefix(word, invocation);
        if (line) {
            output.write(ndjson_line(*line, mtu_without_device(invocation.settings, *line), invocation.flags.explain));
            continue;
        }
        failed = true;
        output.write(ndjson_error(command.json_fields, with_context(fmt::format("line {}", number), line.error())));
    }
    if (reader.errnum() != 0)
        return fail(system_error(reader.errnum(), "cannot read standard input"));
    return failed ? 2 : 0;
}

}  // namespace

Result<int> calc_command(Invocation& invocation, Output& output)
{
    if (invocation.arguments.empty()) {
        const auto line = resolve_invocation(invocation, output);
        if (!line)
            return fail(line.error());
        return show(*line, invocation, output);
    }
    const std::string& what = invocation.arguments.front();
    if (const auto stated = invocation.settings.origins.find("prefix");
        stated != invocation.settings.origins.end() && stated->second == "--prefix")
        return fail(input_error(fmt::format("calc {} and --prefix: one of the two", what)));
    if (what == "-")
        return calc_stream(invocation, output);
    // An IPv6 address has two colons before any dot.
    if (what.find('.') < what.find(':'))
        return calc_endpoint(what, invocation, output);
    const auto prefix = parse_end_user_prefix(what);
    if (!prefix)
        return fail(prefix.error());
    invocation.settings.line.prefix = *prefix;
    invocation.settings.origins["prefix"] = "the argument";
    const auto line = resolve_invocation(invocation, output);
    if (!line)
        return fail(line.error());
    return show(*line, invocation, output);
}

}  // namespace mape::cli
