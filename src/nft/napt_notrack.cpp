// LAN to router and back without conntrack.
#include "nft/napt_parts.h"

namespace mape::nft {

void add_lan_notrack(Table& table, const Napt& napt)
{
    if (napt.parameters.lan_notrack.empty())
        return;
    using Side = AddressMatch::Side;
    Chain in{"notrack_in", Base{Base::Type::filter, Hook::prerouting, priority::raw}, {},
             "every packet that comes in: 2 expressions a LAN, so that LAN to router pays no conntrack"};
    Chain out{"notrack_out", Base{Base::Type::filter, Hook::output, priority::raw}, {},
              "every packet of this host: 2 expressions a LAN"};
    for (const LanNotrack& pair : napt.parameters.lan_notrack) {
        const Ipv4Prefix router{pair.router, 32};
        in.rules.push_back(rule(AddressMatch{Side::destination, Op::eq, router},
                                AddressMatch{Side::source, Op::eq, pair.lan}, Notrack{}));
        out.rules.push_back(rule(AddressMatch{Side::source, Op::eq, router},
                                 AddressMatch{Side::destination, Op::eq, pair.lan}, Notrack{}));
    }
    table.chains.push_back(std::move(in));
    table.chains.push_back(std::move(out));
}

}  // namespace mape::nft
