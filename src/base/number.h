// Numbers out of text, all of it or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mape {

/// Decimal, or hexadecimal after 0x; no sign, no blanks, nothing behind it. nullopt if it is not that or not in [min, max].
[[nodiscard]] std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t min, std::uint32_t max);

}  // namespace mape
