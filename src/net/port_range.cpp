#include "net/port_range.h"

#include "base/number.h"

#include <fmt/format.h>

namespace mape {

Result<PortRange> PortRange::parse(std::string_view text)
{
    const auto dash = text.find('-');
    const auto first = parse_number(text.substr(0, dash), 0, 65535);
    const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1), 0, 65535);
    if (!first || !last || *first > *last)
        return fail(input_error(fmt::format("\"{}\" is not a port or a port range such as 4928-4943 (0 to 65535)", text)));
    return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

std::string to_text(PortRange range)
{
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
}

}  // namespace mape
