#include "apply/settings.h"

#include <fmt/format.h>

namespace mape {

std::string stated_key(const Settings& settings, std::string_view key)
{
    const auto origin = settings.origins.find(key);
    if (origin == settings.origins.end())
        return std::string(key);
    return origin->second.starts_with("--") ? origin->second : fmt::format("{}: {}", origin->second, key);
}

}  // namespace mape
