// A run of transport ports or ICMP query identifiers.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mape {

/// first <= last, both included.
struct PortRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;

    /// "443" or "4928-4943".
    [[nodiscard]] static Result<PortRange> parse(std::string_view text);
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(last) - first + 1U; }
    [[nodiscard]] bool contains(std::uint16_t port) const { return first <= port && port <= last; }
    auto operator<=>(const PortRange&) const = default;
};

/// "443" or "4928-4943".
[[nodiscard]] std::string to_text(PortRange range);

}  // namespace mape
