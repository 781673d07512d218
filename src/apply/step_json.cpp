// Steps as lines of the journal.
#include "apply/step.h"

#include "base/number.h"
#include "nft/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mape {

namespace {

using Json = nlohmann::json;

// A field that is not what it should be; caught in step_from_json, the only door in.
struct BadField {
    std::string what;
};

const Json& at(const Json& object, const char* key)
{
    if (!object.is_object() || !object.contains(key))
        throw BadField{fmt::format("no \"{}\"", key)};
    return object[key];
}

template <class T>
T get(const Json& object, const char* key)
{
    try {
        return at(object, key).get<T>();
    } catch (const Json::exception&) {
        throw BadField{fmt::format("\"{}\" has the wrong type", key)};
    }
}

template <class T>
T checked(Result<T> result)
{
    if (!result)
        throw BadField{result.error().message};
    return std::move(*result);
}

InterfaceName device(const Json& object, const char* key)
{
    return checked(InterfaceName::parse(get<std::string>(object, key)));
}

std::uint32_t number(const Json& object, const char* key, std::uint32_t max)
{
    // A fraction would be cut off, and one beyond 64 bits is undefined to convert.
    if (at(object, key).is_number_float())
        throw BadField{fmt::format("\"{}\" is not a whole number", key)};
    const auto value = get<std::uint64_t>(object, key);
    if (value > max)
        throw BadField{fmt::format("\"{}\" is out of range", key)};
    return static_cast<std::uint32_t>(value);
}

std::variant<Ipv4Address, Ipv6Address> address(const std::string& text)
{
    if (text.find(':') != std::string::npos)
        return checked(Ipv6Address::parse(text));
    return checked(Ipv4Address::parse(text));
}

std::string text_of(const std::variant<Ipv4Address, Ipv6Address>& value)
{
    return std::visit([](const auto& a) { return to_text(a); }, value);
}

std::string hex(const std::vector<std::byte>& bytes)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4];
        text += digits[std::to_integer<unsigned>(byte) & 0xf];
    }
    return text;
}

unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f')
        return static_cast<unsigned>(c - 'a') + 10;
    throw BadField{"not hexadecimal"};
}

std::vector<std::byte> unhex(const std::string& text)
{
    if (text.size() % 2 != 0)
        throw BadField{"half a byte"};
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    return bytes;
}

// The two sides of each kind of step.

Json to_json_value(bool value) { return value; }
Json to_json_value(const std::string& value) { return value; }
Json to_json_value(const DeviceAddress& a)
{
    return {{"device", a.device.str()},   {"address", text_of(a.address)},      {"length", a.prefix_length},
            {"nodad", a.nodad},           {"noprefixroute", a.noprefixroute},   {"deprecated", a.deprecated},
            {"altered", a.altered}};
}
Json to_json_value(const Tunnel& t)
{
    return {{"name", t.name.str()},         {"local", to_text(t.local)},
            {"remote", to_text(t.remote)},  {"dev", t.bound_to ? Json(t.bound_to->str()) : Json()},
            {"hop_limit", t.hop_limit},     {"mtu", t.mtu},
            {"alias", t.alias}};
}
/// What a step starts from is compared by its mark and never loaded.
Json mark_of(const std::optional<RulesetContent>& from)
{
    return from ? Json{{"mark", from->mark}, {"text", ""}, {"batch", ""}} : Json();
}
Json to_json_value(const RulesetContent& r)
{
    return {{"mark", r.mark}, {"text", r.model ? nft::to_text(**r.model) : ""}, {"batch", hex(*r.batch)}};
}
template <class T>
Json to_json_value(const std::optional<T>& value)
{
    return value ? to_json_value(*value) : Json();
}

void from_json_value(const Json& json, bool& value)
{
    if (!json.is_boolean())
        throw BadField{"not true or false"};
    value = json.get<bool>();
}
void from_json_value(const Json& json, std::string& value)
{
    if (!json.is_string())
        throw BadField{"not a string"};
    value = json.get<std::string>();
}
void from_json_value(const Json& json, std::optional<DeviceAddress>& value)
{
    if (json.is_null())
        return;
    value = DeviceAddress{device(json, "device"),          address(get<std::string>(json, "address")),
                          number(json, "length", 128),     get<bool>(json, "nodad"),
                          get<bool>(json, "noprefixroute"), get<bool>(json, "deprecated"),
                          get<bool>(json, "altered")};
}
void from_json_value(const Json& json, std::optional<Tunnel>& value)
{
    if (json.is_null())
        return;
    value = Tunnel{.name = device(json, "name"),
                   .local = checked(Ipv6Address::parse(get<std::string>(json, "local"))),
                   .remote = checked(Ipv6Address::parse(get<std::string>(json, "remote"))),
                   .bound_to = {},
                   .hop_limit = number(json, "hop_limit", 255),
                   .mtu = number(json, "mtu", 65535),
                   .alias = get<std::string>(json, "alias")};
    if (!at(json, "dev").is_null())
        value->bound_to = device(json, "dev");
}
void from_json_value(const Json& json, std::optional<RulesetContent>& value)
{
    if (json.is_null())
        return;
    value = RulesetContent{get<std::string>(json, "mark"), unhex(get<std::string>(json, "batch")), {}};
}

// What each kind of step is about, beside its two sides; one pair of overloads and one row of `read_step` a kind.

void put_subject(const AddressStep& s, Json& json)
{
    json["kind"] = "address";
    json["device"] = s.device.str();
    json["address"] = text_of(s.address);
}
void put_subject(const TunnelStep& s, Json& json)
{
    json["kind"] = "tunnel";
    json["name"] = s.name.str();
}
void put_subject(const LinkStateStep& s, Json& json)
{
    json["kind"] = "link-state";
    json["name"] = s.name.str();
}
void put_subject(const RulesetStep& s, Json& json)
{
    json["kind"] = "ruleset";
    json["name"] = s.tunnel.str();
}
void put_subject(const EgressStep& s, Json& json)
{
    json["kind"] = "egress";
    json["name"] = s.tunnel.str();
}
void put_subject(const FlowsStep& s, Json& json)
{
    json["kind"] = "flows";
    json["address"] = to_text(s.address);
    json["kept"] = s.kept ? Json{s.kept->offset(), s.kept->psid_length(), s.kept->psid()} : Json();
}
void put_subject(const RouteStep& s, Json& json)
{
    json["kind"] = "route";
    json["device"] = s.route.device.str();
    json["table"] = s.route.table;
    json["metric"] = s.route.metric;
    json["prepend"] = s.route.prepend;
}
void put_subject(const PolicyRuleStep& s, Json& json)
{
    json["kind"] = "rule";
    json["preference"] = s.rule.preference;
    json["iif"] = s.rule.iif ? Json(s.rule.iif->str()) : Json();
    json["source"] = s.rule.from ? Json(to_text(*s.rule.from)) : Json();
    json["table"] = s.rule.table;
}
void put_subject(const SysctlStep& s, Json& json)
{
    json["kind"] = "sysctl";
    json["key"] = s.key;
}
void put_subject(const ForwardingStep& s, Json& json)
{
    json["kind"] = "forwarding";
    json["before"] = s.before;
}

template <class StepKind>
Step with_sides(StepKind step, const Json& json)
{
    from_json_value(at(json, "from"), step.from);
    from_json_value(at(json, "to"), step.to);
    return step;
}

constexpr std::uint32_t any32 = ~std::uint32_t{0};

Step read_step(const Json& json)
{
    const auto kind = get<std::string>(json, "kind");
    if (kind == "address")
        return with_sides(AddressStep{device(json, "device"), address(get<std::string>(json, "address")), {}, {}}, json);
    if (kind == "tunnel")
        return with_sides(TunnelStep{device(json, "name"), {}, {}}, json);
    if (kind == "link-state")
        return with_sides(LinkStateStep{device(json, "name"), false, false}, json);
    if (kind == "ruleset")
        return with_sides(RulesetStep{device(json, "name"), {}, {}}, json);
    if (kind == "egress")
        return with_sides(EgressStep{device(json, "name"), false, false}, json);
    if (kind == "flows") {
        FlowsStep flows{checked(Ipv4Address::parse(get<std::string>(json, "address"))), {}};
        if (!at(json, "kept").is_null()) {
            const auto kept = get<std::vector<std::uint32_t>>(json, "kept");
            if (kept.size() != 3)
                throw BadField{"\"kept\" is no port set"};
            flows.kept = checked(PortSet::make(kept[0], kept[1], kept[2]));
        }
        return with_sides(flows, json);
    }
    if (kind == "route")
        return with_sides(RouteStep{{device(json, "device"), number(json, "table", any32), number(json, "metric", any32),
                                     get<bool>(json, "prepend")},
                                    false,
                                    false},
                          json);
    if (kind == "rule") {
        PolicyRule rule{number(json, "preference", any32), {}, {}, number(json, "table", any32)};
        if (!at(json, "iif").is_null())
            rule.iif = device(json, "iif");
        if (!at(json, "source").is_null())
            rule.from = checked(Ipv4Prefix::parse(get<std::string>(json, "source")));
        return with_sides(PolicyRuleStep{rule, false, false}, json);
    }
    if (kind == "sysctl")
        return with_sides(SysctlStep{get<std::string>(json, "key"), {}, {}}, json);
    if (kind == "forwarding")
        return with_sides(ForwardingStep{false, false, get<std::map<std::string, std::string>>(json, "before")}, json);
    throw BadField{fmt::format("unknown kind \"{}\"", kind)};
}

}  // namespace

std::string to_json(const Step& step)
{
    Json json = Json::object();
    std::visit(
        [&json](const auto& s) {
            put_subject(s, json);
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(s)>, RulesetStep>)
                json["from"] = mark_of(s.from);
            else
                json["from"] = to_json_value(s.from);
            json["to"] = to_json_value(s.to);
        },
        step);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Step> step_from_json(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return fail(failure("not a JSON object"));
    try {
        return read_step(json);
    } catch (const BadField& bad) {
        return fail(failure(bad.what));
    }
}

}  // namespace mape
