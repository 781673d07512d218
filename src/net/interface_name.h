// Names of network devices.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mape {

/// A device name the kernel takes and nft's text can quote: 1 to 15 of A-Z a-z 0-9 . _ - : @ +, not "." or "..".
/// (net/core/dev.c dev_valid_name takes more; a '*' would be a wildcard in nft's text.)
class InterfaceName {
public:
    [[nodiscard]] static Result<InterfaceName> parse(std::string_view text);
    [[nodiscard]] const std::string& str() const { return text_; }
    auto operator<=>(const InterfaceName&) const = default;

private:
    explicit InterfaceName(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

}  // namespace mape
