// What the state directory remembers of the ruleset that was loaded last.
#include "apply/observed.h"

#include "base/file.h"

#include <nlohmann/json.hpp>

namespace mape {

namespace {

constexpr std::size_t size_limit = 512UL << 20;

}  // namespace

std::optional<RulesetMemory> read_ruleset_memory(const std::string& path)
{
    // A memory that is not there or damaged is none: the ruleset is loaded again then.
    const auto text = read_file(path, size_limit, false);
    if (!text)
        return std::nullopt;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json.contains("dump") || !json["dump"].is_array())
        return std::nullopt;
    auto step = step_from_json(json["step"].dump());
    const auto* ruleset = step ? std::get_if<RulesetStep>(&*step) : nullptr;
    if (!ruleset || !ruleset->to)
        return std::nullopt;
    RulesetMemory memory{*ruleset->to, {}};
    for (const auto& line : json["dump"]) {
        if (!line.is_string())
            return std::nullopt;
        memory.dump.push_back(line.get<std::string>());
    }
    return memory;
}

Result<void> write_ruleset_memory(const std::string& path, const InterfaceName& tunnel, const RulesetMemory& memory)
{
    nlohmann::json json;
    json["step"] = nlohmann::json::parse(to_json(RulesetStep{tunnel, {}, memory.content}));
    json["dump"] = memory.dump;
    return replace_file(path, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace mape
