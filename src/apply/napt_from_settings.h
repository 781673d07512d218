// From what the user stated and the line it resolved to, to the parameters of the ruleset.
#pragma once

#include <optional>

#include "apply/settings.h"
#include "base/result.h"
#include "map/line.h"
#include "net/interface_name.h"
#include "nft/napt.h"

namespace mape {

/// `mtu` is the tunnel's. The border relay is the line's. Refused (input), each with the key's origin: more last-ranges
/// than the set has, a reserved or open port outside the set (names the nearest ranges), everything reserved,
/// protocols = all on a shared address.
[[nodiscard]] Result<NaptParameters> napt_from_settings(const Settings& settings, const Line& line,
                                                        const InterfaceName& tunnel, const std::optional<InterfaceName>& wan,
                                                        unsigned mtu, std::string version);

}  // namespace mape
