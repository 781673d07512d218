// Read by every apply and status, so cheap to read: a line with the size of each part, then the part as it is.
#include "apply/ruleset_memory.h"

#include "base/file.h"
#include "base/number.h"

#include <array>
#include <fmt/format.h>
#include <span>

namespace mape {

namespace {

constexpr std::size_t size_limit = 512UL << 20;
constexpr std::string_view magic = "mape-gen ruleset 3";

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

std::vector<std::byte> bytes_of(std::string_view text)
{
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::optional<std::string_view> take_sized(std::string_view& rest)
{
    const auto line = take_line(rest);
    const auto size = line ? parse_number(*line, 0, size_limit) : std::nullopt;
    return size ? take(rest, *size) : std::nullopt;
}

}  // namespace

std::optional<RulesetMemory> read_ruleset_memory(const std::string& path, const JournalScope& scope)
{
    // A memory that is not there or damaged is none: the ruleset is loaded again then.
    const auto file = read_file(path, size_limit, false);
    if (!file)
        return std::nullopt;
    std::string_view rest = *file;
    if (take_line(rest) != magic)
        return std::nullopt;
    std::array<std::string_view, 8> parts;
    for (std::string_view& part : parts) {
        const auto taken = take_sized(rest);
        if (!taken)
            return std::nullopt;
        part = *taken;
    }
    const auto& [boot, netns, tunnel, mark, batch, translation, generation, dump] = parts;
    const auto number = parse_number(generation, 0, UINT32_MAX);
    if (!rest.empty() || !number || JournalScope{std::string(boot), std::string(netns), std::string(tunnel)} != scope)
        return std::nullopt;
    return RulesetMemory{scope,
                         {std::string(mark), bytes_of(batch), {}},
                         std::string(translation),
                         static_cast<std::uint32_t>(*number),
                         bytes_of(dump)};
}

std::string to_text(const RulesetMemory& memory)
{
    const auto text_of = [](const std::vector<std::byte>& bytes) {
        return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const std::string generation = fmt::format("{}", memory.generation);
    std::string file;
    file.reserve(memory.content.batch->size() + memory.dump.size() + 1024);
    file = magic;
    file += '\n';
    for (const std::string_view part :
         {std::string_view(memory.scope.boot_id), std::string_view(memory.scope.netns), std::string_view(memory.scope.tunnel),
          std::string_view(memory.content.mark), text_of(*memory.content.batch),
          std::string_view(memory.translation), std::string_view(generation), text_of(memory.dump)}) {
        file += fmt::format("{}\n", part.size());
        file += part;
    }
    return file;
}

std::size_t size_to_expect(const RulesetContent& content)
{
    constexpr std::size_t spare = 64 * 1024;
    return 2 * content.batch->size() + spare;
}

std::string translation_text(const Ipv4Prefix& ipv4, const PortSet& ports)
{
    if (!ports.shared())
        return to_text(ipv4);
    return fmt::format("{} {}/{}/{}", to_text(ipv4.address), ports.offset(), ports.psid_length(), ports.psid());
}

}  // namespace mape
