// Sets and maps with the user data nft puts into them: not for others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <libnftnl/udata.h>

#include "nft/batch_messages.h"
#include "nft/ruleset.h"

namespace mape::nft {

/// User data: what nft writes beside an object to be able to list it again (libnftnl/udata.h).
class UserData {
public:
    UserData();
    UserData& put(std::uint8_t type, std::uint32_t value);
    UserData& put(std::uint8_t type, const std::string& value);
    /// typeof of a key: `kind` and `data` are nft's own numbers of expressions and their fields.
    UserData& put_typeof_meta(std::uint8_t type, std::uint32_t key);
    UserData& put_typeof_payload(std::uint8_t type, std::uint32_t protocol, std::uint32_t field);
    UserData& put_typeof_verdict(std::uint8_t type);

    [[nodiscard]] const void* data() const { return nftnl_udata_buf_data(buffer_.get()); }
    [[nodiscard]] std::uint32_t size() const { return nftnl_udata_buf_len(buffer_.get()); }

private:
    Handle<nftnl_udata_buf, nftnl_udata_buf_free> buffer_;
};

/// User data with a comment in it; `type` is the NFTNL_UDATA_*_COMMENT of the kind of object.
[[nodiscard]] UserData comment_data(std::uint8_t type, const std::string& comment);

// Each makes a set whose declaration lacks table and id.
[[nodiscard]] SetContent protocol_set(const std::vector<Protocol>& protocols);
[[nodiscard]] SetContent icmp_type_set(const std::vector<IcmpType>& types);
[[nodiscard]] SetContent service_set(const ServiceMatch& match);
[[nodiscard]] SetContent source_nat_map(const SourceNatMap& nat);
[[nodiscard]] SetContent verdict_map(const VerdictMap& map);

/// Keys are ranges.
[[nodiscard]] bool interval(const SourceNatMap& nat);
/// All ports of all elements are single ones: the data is address and port, not two of each.
[[nodiscard]] bool single_ports(const SourceNatMap& nat);

}  // namespace mape::nft
