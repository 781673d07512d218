#include "map/interface_identifier.h"

namespace mape {

std::uint64_t interface_identifier(IidFormat format, Ipv4Address ipv4, std::uint16_t psid)
{
    const std::uint64_t address_and_psid = std::uint64_t{ipv4.value} << 16 | psid;
    return format == IidFormat::draft03 ? address_and_psid << 8 : address_and_psid;
}

std::string_view to_text(IidFormat format)
{
    return format == IidFormat::draft03 ? "draft03" : "rfc7597";
}

std::optional<IidFormat> parse_iid_format(std::string_view text)
{
    for (const IidFormat format : {IidFormat::rfc7597, IidFormat::draft03})
        if (text == to_text(format))
            return format;
    return std::nullopt;
}

}  // namespace mape
