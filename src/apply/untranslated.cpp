#include "apply/untranslated.h"

#include <algorithm>

namespace mape {

std::vector<std::string> untranslated_protocols(const std::vector<nft::Protocol>& protocols, const Sysctl& sysctl)
{
    const auto wants = [&protocols](nft::Protocol protocol) {
        return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
    };
    const auto checksum = sysctl.read("net/netfilter/nf_conntrack_checksum");
    if (!checksum)
        return {};
    std::vector<std::string> sentences;
    if (wants(nft::Protocol::udplite) && *checksum != "0")
        sentences.emplace_back("UDP-Lite is dropped: this kernel translates it only with net.netfilter.nf_conntrack_checksum = 0");
    if (wants(nft::Protocol::dccp) && !sysctl.read("net/netfilter/nf_conntrack_dccp_loose"))
        sentences.emplace_back("DCCP is dropped: this kernel's conntrack does not know it");
    return sentences;
}

}  // namespace mape
