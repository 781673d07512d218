// The low 64 bits of a MAP address.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/address.h"

namespace mape {

enum class IidFormat {
    rfc7597,  ///< RFC 7597 section 6: 16 zero bits, IPv4 address, PSID (16 bits, right-aligned)
    draft03,  ///< draft-ietf-softwire-map-03: 8 zero bits, IPv4 address, PSID (16 bits, right-aligned), 8 zero bits
};

[[nodiscard]] std::uint64_t interface_identifier(IidFormat format, Ipv4Address ipv4, std::uint16_t psid);

/// "rfc7597" and "draft03", as in config, tables and JSON.
[[nodiscard]] std::string_view to_text(IidFormat format);
[[nodiscard]] std::optional<IidFormat> parse_iid_format(std::string_view text);

}  // namespace mape
