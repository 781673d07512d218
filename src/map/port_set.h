// The ports of one customer edge: RFC 7597 section 5.1 and appendix B.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "net/port_range.h"

namespace mape {

/// Bits of a port, most significant first: A (a bits, the PSID offset), PSID (k bits), j (m bits); a + k + m = 16.
/// For a > 0 the blocks with A = 0 are not part of the set; for a = 0 the set is one block, nothing excluded.
/// k = 0 means that the address is not shared: all 65536 ports, whatever a is.
class PortSet {
public:
    /// offset 0..15, psid_length 0..16, offset + psid_length <= 16, psid < 2^psid_length; anything else is refused.
    [[nodiscard]] static Result<PortSet> make(std::uint32_t offset, std::uint32_t psid_length, std::uint32_t psid);

    [[nodiscard]] unsigned offset() const { return offset_; }
    [[nodiscard]] unsigned psid_length() const { return psid_length_; }
    [[nodiscard]] unsigned psid() const { return psid_; }
    [[nodiscard]] bool shared() const { return psid_length_ > 0; }

    [[nodiscard]] bool contains(std::uint16_t port) const;
    /// Ascending, disjoint; {0,65535} when not shared.
    [[nodiscard]] std::vector<PortRange> ranges() const;
    [[nodiscard]] std::uint32_t range_count() const;
    [[nodiscard]] std::uint32_t port_count() const;
    /// 2^k customer edges share one IPv4 address.
    [[nodiscard]] std::uint32_t sharing_ratio() const { return 1U << psid_length_; }

    /// Membership as one mask compare: (port & mask()) == value() and port >= minimum().
    [[nodiscard]] std::uint16_t mask() const;
    [[nodiscard]] std::uint16_t value() const;
    [[nodiscard]] std::uint16_t minimum() const;

    bool operator==(const PortSet&) const = default;

private:
    PortSet(unsigned offset, unsigned psid_length, unsigned psid)
        : offset_(offset), psid_length_(psid_length), psid_(psid)
    {}
    unsigned offset_;
    unsigned psid_length_;
    unsigned psid_;
};

/// The PSID that owns `port` under offset a and PSID length k. When a > 0 and k > 0 a port below 2^(16-a) belongs to
/// nobody: an input error. Not shared (k = 0): 0, for every port. Preconditions as PortSet::make.
[[nodiscard]] Result<std::uint32_t> psid_of_port(std::uint16_t port, unsigned offset, unsigned psid_length);

/// The ranges of `set` next below and next above `port` (one of them where there is no other, or the one that holds it).
[[nodiscard]] std::vector<PortRange> nearest_ranges(const PortSet& set, std::uint16_t port);

}  // namespace mape
