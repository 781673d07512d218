// Protocols that this kernel's conntrack cannot translate, although the ruleset asks for it.
#pragma once

#include <string>
#include <vector>

#include "nft/ruleset.h"
#include "sysctl/sysctl.h"

namespace mape {

/// A sentence each: UDP-Lite while nf_conntrack_checksum is 1 (conntrack sums it with UDP's pseudo-header and calls it
/// invalid: measured on 6.1, 6.12 and 6.18), DCCP where the kernel has no tracker for it (6.17 and later). The guard drops and
/// counts their packets. Empty while nf_conntrack is not loaded: then nothing can be known.
[[nodiscard]] std::vector<std::string> untranslated_protocols(const std::vector<nft::Protocol>& protocols,
                                                              const Sysctl& sysctl);

}  // namespace mape
