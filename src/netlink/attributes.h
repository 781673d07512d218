// Netlink attributes read with every length checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/address.h"

namespace mape::netlink {

/// The attributes of one message or nest. Unknown ones are simply never asked for; of equal ones the last counts, as in the
/// kernel's nla_parse. A short or lying one is remembered instead of returned, so that a reader takes its values one after
/// the other and asks once, at the end, for check().
class Attributes {
public:
    /// `bytes` must outlive this. `where` names the message in errors: "link".
    Attributes(std::span<const std::byte> bytes, std::string where);

    [[nodiscard]] bool has(unsigned type) const { return find(type) != nullptr; }
    /// nullopt: not there, or too short (then check() fails). Host order.
    [[nodiscard]] std::optional<std::uint8_t> u8(unsigned type) const;
    [[nodiscard]] std::optional<std::uint16_t> u16(unsigned type) const;
    [[nodiscard]] std::optional<std::uint32_t> u32(unsigned type) const;
    /// Network order on the wire, host order here.
    [[nodiscard]] std::optional<std::uint16_t> be16(unsigned type) const;
    [[nodiscard]] std::optional<std::uint32_t> be32(unsigned type) const;
    [[nodiscard]] std::optional<Ipv4Address> ipv4(unsigned type) const;
    [[nodiscard]] std::optional<Ipv6Address> ipv6(unsigned type) const;
    /// Up to the first NUL; a text that lacks it is taken whole.
    [[nodiscard]] std::optional<std::string> text(unsigned type) const;
    /// At least `size` bytes; all of them.
    [[nodiscard]] std::optional<std::span<const std::byte>> bytes(unsigned type, std::size_t size = 0) const;
    /// The attributes inside; empty if it is not there. Its errors are this one's too.
    [[nodiscard]] Attributes nested(unsigned type) const;

    /// The first thing that was wrong.
    [[nodiscard]] Result<void> check() const;

private:
    struct Entry {
        unsigned type;
        std::span<const std::byte> payload;
    };
    Attributes(std::span<const std::byte> bytes, std::string where, std::shared_ptr<std::optional<Error>> error);
    [[nodiscard]] const Entry* find(unsigned type) const;
    void note(std::string message) const;
    template <class T>
    [[nodiscard]] std::optional<T> number(unsigned type) const;

    std::string where_;
    std::vector<Entry> entries_;
    std::shared_ptr<std::optional<Error>> error_;
};

}  // namespace mape::netlink
