#include "net/interface_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape {

Result<InterfaceName> InterfaceName::parse(std::string_view text)
{
    const auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
               || std::string_view("._-:@+").find(c) != std::string_view::npos;
    };
    if (text.empty() || text.size() > 15 || text == "." || text == ".." || !std::all_of(text.begin(), text.end(), allowed))
        return fail(input_error(
            fmt::format("\"{}\" is not a device name: 1 to 15 letters, digits or any of . _ - : @ +", text)));
    return InterfaceName(std::string(text));
}

}  // namespace mape
