// MSS clamp.
#include "nft/napt_parts.h"

namespace mape::nft {

void add_mss_clamp(Table& table, const Napt& napt)
{
    // A constant: `rt mtu` looks up the route of each SYN, and the tunnel's MTU is known. IPv4 and TCP header: 40 bytes.
    const MaxSegmentSize clamp{static_cast<std::uint16_t>(napt.parameters.tunnel_mtu - 40)};
    table.chains.push_back({"clamp",
                            {},
                            {rule(napt.to_tunnel(Op::eq), clamp), rule(napt.from_tunnel(Op::eq), clamp)},
                            "TCP SYN only"});
}

}  // namespace mape::nft
