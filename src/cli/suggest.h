// The word that was meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mape::cli {

/// The nearest of `known` by edit distance (insert, delete, change, swap of neighbours), or nothing when none is near
/// enough to be a slip: 1 for words of up to 4 letters, 2 up to 8, else 3. The first of equals wins.
[[nodiscard]] std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> known);

/// What another tool calls one of our keys.
struct ForeignName {
    std::string_view name;
    std::string_view ours;      ///< empty: there is no key for it, `sentence` says why
    std::string_view sentence;  ///< more than the name, where there is more to say; no final stop
};

/// Keys of OpenWrt's map package, odhcp6c, netplan, mape-tool, mapeced and the like.
[[nodiscard]] std::span<const ForeignName> foreign_names();

/// "OpenWrt's peeraddr is br here", "did you mean psid-offset?" or nothing.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known,
                                     std::string_view decoration = {});

}  // namespace mape::cli
