#include "nft/text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include <endian.h>
#include <fmt/format.h>

namespace mape::nft {

namespace {

/// Where a line of set elements is broken.
constexpr std::size_t line_width = 120;

/// Of a whole ruleset: what a map of 64 turns and 63 pieces takes.
constexpr std::size_t size_to_expect = 160 * 1024;

constexpr std::string_view mark_start = "mape-gen ";

std::string_view name_of(Hook hook)
{
    switch (hook) {
    case Hook::prerouting: return "prerouting";
    case Hook::input: return "input";
    case Hook::forward: return "forward";
    case Hook::output: return "output";
    case Hook::postrouting: return "postrouting";
    case Hook::ingress: return "ingress";
    case Hook::egress: return "egress";
    }
    return {};
}

std::string_view name_of(Base::Type type)
{
    switch (type) {
    case Base::Type::filter: return "filter";
    case Base::Type::nat: return "nat";
    }
    return {};
}

std::string_view name_of(Field field)
{
    switch (field) {
    case Field::th_sport: return "th sport";
    case Field::th_dport: return "th dport";
    case Field::icmp_id: return "icmp id";
    }
    return {};
}

std::string_view name_of(IcmpType type)
{
    switch (type) {
    case IcmpType::echo_reply: return "echo-reply";
    case IcmpType::destination_unreachable: return "destination-unreachable";
    case IcmpType::echo_request: return "echo-request";
    case IcmpType::time_exceeded: return "time-exceeded";
    case IcmpType::parameter_problem: return "parameter-problem";
    }
    return {};
}

std::string_view ne(Op op)
{
    return op == Op::ne ? "!= " : "";
}

/// "srcnat - 1": the nearest standard priority that exists at the hook, as nft lists it; a number where none is near.
std::string priority_text(const Base& base)
{
    struct Name {
        int priority;
        std::string_view name;
        std::optional<Hook> only;
    };
    static constexpr std::array<Name, 4> names{{{priority::raw, "raw", {}},
                                                {priority::dstnat, "dstnat", Hook::prerouting},
                                                {priority::filter, "filter", {}},
                                                {priority::srcnat, "srcnat", Hook::postrouting}}};
    for (const Name& name : names) {
        const int offset = base.priority - name.priority;
        if (offset < -10 || offset > 10 || (name.only && *name.only != base.hook))
            continue;
        if (offset == 0)
            return std::string(name.name);
        return fmt::format("{} {} {}", name.name, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
    }
    return fmt::format("{}", base.priority);
}

/// Room for the text of one element: two keys, "jump " and a chain's name (NFT_CHAIN_MAXNAMELEN is 256), or address and ports.
class Short {
public:
    void put(std::string_view text)
    {
        std::memcpy(room_.data() + size_, text.data(), text.size());
        size_ += text.size();
    }
    /// "7", "7-9".
    void range(std::uint32_t first, std::uint32_t last)
    {
        number(first);
        if (last == first)
            return;
        put("-");
        number(last);
    }
    [[nodiscard]] const char* data() const { return room_.data(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void number(std::uint32_t value)
    {
        const auto end = std::to_chars(room_.data() + size_, room_.data() + room_.size(), value);
        size_ = static_cast<std::size_t>(end.ptr - room_.data());
    }

    std::array<char, 320> room_;  // filled as it is needed
    std::size_t size_ = 0;
};

/// Text of each kind of statement.
class StatementText {
public:
    explicit StatementText(std::string& out, std::size_t limit = std::string::npos) : out_(out), limit_(limit) {}

    void operator()(const InterfaceMatch& match)
    {
        const auto name = match.direction == InterfaceMatch::Direction::in ? "iifname" : "oifname";
        put("{} {}\"{}\"", name, ne(match.op), match.name.str());
    }
    void operator()(const ProtocolMatch& match)
    {
        put("meta l4proto {}", ne(match.op));
        list(match.protocols, [this](Protocol protocol) { put("{}", to_text(protocol)); });
    }
    void operator()(const AddressMatch& match)
    {
        const auto name = match.side == AddressMatch::Side::source ? "saddr" : "daddr";
        put("ip {} {}{}", name, ne(match.op),
            match.prefix.length == 32 ? to_text(match.prefix.address) : to_text(match.prefix));
    }
    void operator()(const NextHeaderMatch& match) { put("ip6 nexthdr {}", match.protocol); }
    void operator()(const Ip6SourceMatch& match) { put("ip6 saddr {}", to_text(match.address)); }
    void operator()(const BitsMatch& match)
    {
        if (match.mask == 0xffff)
            put("{} {}", name_of(match.field), match.value);
        else
            put("{} & 0x{:04x} == 0x{:04x}", name_of(match.field), match.mask, match.value);
    }
    void operator()(const MinimumMatch& match) { put("{} >= {}", name_of(match.field), match.minimum); }
    void operator()(const ServiceMatch& match)
    {
        put("{} dport ", to_text(match.protocol));
        list(match.ports, [this](PortRange ports) { put("{}", to_text(ports)); });
    }
    void operator()(const IcmpTypeMatch& match)
    {
        put("icmp type ");
        list(match.types, [this](IcmpType type) { put("{}", name_of(type)); });
    }
    void operator()(const TcpSynMatch&) { put("tcp flags & (syn | rst) == syn"); }
    void operator()(const LaterFragmentMatch&) { put("ip frag-off & 0x1fff != 0"); }
    void operator()(const ConntrackStateMatch& match)
    {
        put("ct state ");
        bits<3>(match.bits, ",", {{{ConntrackState::invalid, "invalid"},
                                   {ConntrackState::established, "established"},
                                   {ConntrackState::related, "related"}}});
    }
    void operator()(const ConntrackStatusMatch& match)
    {
        const bool none = match.op == Op::ne;
        put("ct status {}", none ? "& (" : "");
        bits<2>(match.bits, none ? " | " : ",", {{{ConntrackStatus::snat, "snat"}, {ConntrackStatus::dnat, "dnat"}}});
        put("{}", none ? ") == 0" : "");
    }
    void operator()(const LimitRate& rate) { put("limit rate {} burst {} packets", to_text(rate), limit_burst); }
    void operator()(const CounterReference& counter) { put("counter name \"{}\"", counter.name); }
    void operator()(const Log& log) { put("log prefix \"{}\" level info", log.prefix); }
    void operator()(const MaxSegmentSize& clamp) { put("tcp option maxseg size set {}", clamp.size); }
    void operator()(const Notrack&) { put("notrack"); }
    void operator()(const Verdict& verdict)
    {
        switch (verdict.kind) {
        case Verdict::Kind::accept: put("accept"); return;
        case Verdict::Kind::drop: put("drop"); return;
        case Verdict::Kind::jump: put("jump {}", verdict.chain); return;
        case Verdict::Kind::go_to: put("goto {}", verdict.chain); return;
        }
    }
    void operator()(const SourceNat& nat)
    {
        put("snat ip to {}", to_text(nat.first));
        if (nat.first != nat.last)
            put("-{} persistent", to_text(nat.last));
        if (nat.ports)
            put(":{}", to_text(*nat.ports));
    }
    void operator()(const SourceNatMap& nat)
    {
        put("snat ip to numgen inc mod {} map {{ ", nat.modulus());
        const std::string address = to_text(nat.address) + " . ";
        elements(nat.elements, [&](Short& text, const SourceNatMap::Element& element) {
            text.put(address);
            text.range(element.ports.first, element.ports.last);
        });
        put(" }}");
    }
    void operator()(const NumgenVmap& vmap) { put("numgen inc mod {} vmap @{}", vmap.modulus, vmap.map); }
    void operator()(const HashVmap& vmap)
    {
        put("jhash ip daddr {}mod {} seed 0x{:x} vmap @{}", vmap.with_port ? ". th dport " : "", vmap.modulus, hash_seed,
            vmap.map);
    }

    /// "0 : X, 1-3 : Y", broken into lines. There are thousands of them: no format, one append each.
    template <class Element, class Data>
    void elements(const std::vector<Element>& elements, Data data)
    {
        std::size_t line = out_.rfind('\n') == std::string::npos ? 0 : out_.rfind('\n') + 1;
        for (const Element& element : elements) {
            if (out_.size() > limit_)
                return;
            Short text;
            text.range(element.first, element.last);
            text.put(" : ");
            data(text, element);
            if (&element != &elements.front()) {
                const bool fits = out_.size() - line + text.size() + 2 <= line_width;
                out_ += fits ? ", " : ",\n\t\t\t";
                if (!fits)
                    line = out_.size() - 3;
            }
            out_.append(text.data(), text.size());
        }
    }

private:
    template <class... T>
    void put(fmt::format_string<T...> format, T&&... arguments)
    {
        fmt::format_to(std::back_inserter(out_), format, std::forward<T>(arguments)...);
    }

    /// "a" or "{ a, b }".
    template <class T, class Each>
    void list(const std::vector<T>& values, Each each)
    {
        if (values.size() == 1) {
            each(values.front());
            return;
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            put("{}", i == 0 ? "{ " : ", ");
            each(values[i]);
        }
        put(" }}");
    }

    template <std::size_t N>
    void bits(std::uint32_t set, std::string_view separator,
              const std::array<std::pair<std::uint32_t, std::string_view>, N>& names)
    {
        std::string_view before;
        for (const auto& [bit, name] : names)
            if ((set & bit) != 0) {
                put("{}{}", before, name);
                before = separator;
            }
    }

    std::string& out_;
    std::size_t limit_;  ///< elements behind this length are left out
};

void append(std::string& out, const Rule& rule, std::size_t limit = std::string::npos)
{
    StatementText text(out, limit);
    bool first = true;
    for (const Statement& statement : rule.statements) {
        if (!first)
            out += ' ';
        first = false;
        std::visit(text, statement);
    }
    if (!rule.comment.empty())
        fmt::format_to(std::back_inserter(out), " comment \"{}\"", rule.comment);
}

void append(std::string& out, const Counter& counter)
{
    if (counter.comment.empty())
        fmt::format_to(std::back_inserter(out), "\tcounter {} {{ }}\n", counter.name);
    else
        fmt::format_to(std::back_inserter(out), "\tcounter {} {{ comment \"{}\"; }}\n", counter.name, counter.comment);
}

void append(std::string& out, const VerdictMap& map)
{
    fmt::format_to(std::back_inserter(out), "\tmap {} {{\n\t\ttypeof meta cpu : verdict\n", map.name);
    if (map.interval())
        out += "\t\tflags interval\n";
    if (!map.comment.empty())
        fmt::format_to(std::back_inserter(out), "\t\tcomment \"{}\"\n", map.comment);
    out += "\t\telements = { ";
    StatementText(out).elements(map.elements, [](Short& text, const VerdictMap::Element& element) {
        text.put("jump ");
        text.put(element.chain);
    });
    out += " }\n\t}\n";
}

void append(std::string& out, const Chain& chain)
{
    if (!chain.base && chain.comment.empty() && chain.rules.size() == 1) {
        fmt::format_to(std::back_inserter(out), "\tchain {} {{ ", chain.name);
        append(out, chain.rules.front());
        out += "; }\n";
        return;
    }
    fmt::format_to(std::back_inserter(out), "\tchain {} {{\n", chain.name);
    if (!chain.comment.empty())
        fmt::format_to(std::back_inserter(out), "\t\tcomment \"{}\"\n", chain.comment);
    if (chain.base) {
        fmt::format_to(std::back_inserter(out), "\t\ttype {} hook {} ", name_of(chain.base->type),
                       name_of(chain.base->hook));
        if (chain.base->device)
            fmt::format_to(std::back_inserter(out), "device \"{}\" ", chain.base->device->str());
        fmt::format_to(std::back_inserter(out), "priority {}; policy accept;\n", priority_text(*chain.base));
    }
    for (const Rule& rule : chain.rules) {
        out += "\t\t";
        append(out, rule);
        out += '\n';
    }
    out += "\t}\n";
}

/// An empty table first: deleting one that does not exist is an error.
void append_delete(std::string& out, const TableName& table)
{
    fmt::format_to(std::back_inserter(out), "table {0} {1}\ndelete table {0} {1}\n", to_text(table.family), table.name);
}

std::string text_of(const Ruleset& ruleset, bool with_marks)
{
    std::string out;
    out.reserve(size_to_expect);
    for (const Table& table : ruleset.tables) {
        append_delete(out, table.name);
        fmt::format_to(std::back_inserter(out), "table {} {} {{\n", to_text(table.name.family), table.name.name);
        if (with_marks && !table.comment.empty())
            fmt::format_to(std::back_inserter(out), "\tcomment \"{}\"\n", table.comment);
        for (const Counter& counter : table.counters)
            append(out, counter);
        for (const VerdictMap& map : table.maps)
            append(out, map);
        for (const Chain& chain : table.chains)
            append(out, chain);
        out += "}\n";
    }
    return out;
}

}  // namespace

std::string to_text(const Ruleset& ruleset)
{
    return text_of(ruleset, true);
}

std::string to_text(const Rule& rule, std::size_t longest)
{
    std::string out;
    append(out, rule, longest);
    if (out.size() > longest)
        out.replace(longest, std::string::npos, "...");
    return out;
}

std::string delete_text(const std::vector<TableName>& tables)
{
    std::string out;
    for (const TableName& table : tables)
        append_delete(out, table);
    return out;
}

std::string to_text(const TableName& table)
{
    return fmt::format("{} {}", to_text(table.family), table.name);
}

std::string mark(const Ruleset& ruleset, std::string_view version)
{
    // Tells two rulesets of ours apart, no defence against anyone.
    std::string text = text_of(ruleset, false);
    std::uint64_t hash = 0xcbf29ce484222325U ^ text.size();
    text.resize((text.size() + sizeof hash - 1) / sizeof hash * sizeof hash);
    for (std::size_t i = 0; i < text.size(); i += sizeof hash) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + i, sizeof word);
        hash ^= le64toh(word);
        hash *= 0x100000001b3U;
        hash ^= hash >> 32;
    }
    return fmt::format("{}{} {:016x}", mark_start, version, hash);
}

bool is_mark(std::string_view comment)
{
    return comment.substr(0, mark_start.size()) == mark_start;
}

}  // namespace mape::nft
