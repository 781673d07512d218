// What the state directory remembers of the ruleset that was loaded last.
//
// Read by every apply and status, so cheap to read: a header line with sizes, then text, batch and dump as they are.
#include "apply/observed.h"

#include "base/file.h"
#include "base/number.h"

#include <cstring>
#include <fmt/format.h>

namespace mape {

namespace {

constexpr std::size_t size_limit = 512UL << 20;
constexpr std::string_view magic = "mape-gen ruleset 1";

/// Takes `size` bytes off the front of `rest`; nullopt if it is shorter.
std::optional<std::string_view> take(std::string_view& rest, std::size_t size)
{
    if (size > rest.size())
        return std::nullopt;
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
}

std::optional<std::string_view> take_line(std::string_view& rest)
{
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
}

std::optional<std::string_view> take_sized(std::string_view& rest)
{
    const auto line = take_line(rest);
    const auto size = line ? parse_number(*line, 0, size_limit) : std::nullopt;
    return size ? take(rest, *size) : std::nullopt;
}

}  // namespace

std::optional<RulesetMemory> read_ruleset_memory(const std::string& path)
{
    // A memory that is not there or damaged is none: the ruleset is loaded again then.
    const auto file = read_file(path, size_limit, false);
    if (!file)
        return std::nullopt;
    std::string_view rest = *file;
    if (take_line(rest) != magic)
        return std::nullopt;
    const auto mark = take_sized(rest);
    const auto text = mark ? take_sized(rest) : std::nullopt;
    const auto batch = text ? take_sized(rest) : std::nullopt;
    const auto dump = batch ? take_sized(rest) : std::nullopt;
    if (!dump || !rest.empty())
        return std::nullopt;

    RulesetMemory memory{{std::string(*mark), std::string(*text), {}, {}}, {}};
    memory.content.batch.resize(batch->size());
    std::memcpy(memory.content.batch.data(), batch->data(), batch->size());
    for (std::string_view lines = *dump; auto line = take_line(lines);)
        memory.dump.emplace_back(*line);
    return memory;
}

Result<void> write_ruleset_memory(const std::string& path, const RulesetMemory& memory)
{
    std::string dump;
    for (const std::string& line : memory.dump)
        dump += line + "\n";
    const RulesetContent& content = memory.content;
    const std::string_view batch(reinterpret_cast<const char*>(content.batch.data()), content.batch.size());
    std::string file = fmt::format("{}\n", magic);
    for (const std::string_view part : {std::string_view(content.mark), std::string_view(content.text), batch,
                                        std::string_view(dump)}) {
        file += fmt::format("{}\n", part.size());
        file += part;
    }
    return replace_file(path, file);
}

}  // namespace mape
