#include "map/port_set.h"

#include <algorithm>
#include <fmt/format.h>

namespace mape {

namespace {

unsigned trailing_bits(unsigned offset, unsigned psid_length)
{
    return 16 - offset - psid_length;
}

std::uint32_t first_usable_port(unsigned offset)
{
    return offset == 0 ? 0 : 1U << (16 - offset);
}

}  // namespace

Result<PortSet> PortSet::make(std::uint32_t offset, std::uint32_t psid_length, std::uint32_t psid)
{
    if (offset > 15)
        return fail(input_error(fmt::format("PSID offset {} is out of range: 0 to 15", offset)));
    if (psid_length > 16)
        return fail(input_error(fmt::format("PSID length {} is out of range: 0 to 16", psid_length)));
    if (offset + psid_length > 16)
        return fail(input_error(fmt::format("PSID offset {} and PSID length {} need {} bits of a port, which has 16", offset,
                                            psid_length, offset + psid_length)));
    if (psid >> psid_length != 0)
        return fail(input_error(
            fmt::format("PSID {} does not fit in {} bits (0 to {})", psid, psid_length, (1U << psid_length) - 1)));
    return PortSet(offset, psid_length, psid);
}

bool PortSet::contains(std::uint16_t port) const
{
    return (port & mask()) == value() && port >= minimum();
}

std::vector<PortRange> PortSet::ranges() const
{
    if (!shared())
        return {{0, 65535}};
    const unsigned m = trailing_bits(offset_, psid_length_);
    const std::uint32_t spacing = 1U << (16 - offset_);
    const std::uint32_t count = range_count();
    std::vector<PortRange> ranges;
    ranges.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t first = first_usable_port(offset_) + i * spacing + (psid_ << m);
        ranges.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(first + (1U << m) - 1)});
    }
    return ranges;
}

std::uint32_t PortSet::range_count() const
{
    return !shared() || offset_ == 0 ? 1 : (1U << offset_) - 1;
}

std::uint32_t PortSet::port_count() const
{
    return shared() ? range_count() << trailing_bits(offset_, psid_length_) : 65536;
}

std::uint16_t PortSet::mask() const
{
    const std::uint32_t ones = (1U << psid_length_) - 1;
    return static_cast<std::uint16_t>(ones << trailing_bits(offset_, psid_length_));
}

std::uint16_t PortSet::value() const
{
    return static_cast<std::uint16_t>(psid_ << trailing_bits(offset_, psid_length_));
}

std::uint16_t PortSet::minimum() const
{
    return static_cast<std::uint16_t>(shared() ? first_usable_port(offset_) : 0);
}

Result<std::uint32_t> psid_of_port(std::uint16_t port, unsigned offset, unsigned psid_length)
{
    if (psid_length > 0 && port < first_usable_port(offset))
        return fail(input_error(fmt::format("port {} belongs to no PSID: with PSID offset {} the ports below {} are not used",
                                            port, offset, first_usable_port(offset))));
    return port >> trailing_bits(offset, psid_length) & ((1U << psid_length) - 1);
}

std::vector<PortRange> nearest_ranges(const PortSet& set, std::uint16_t port)
{
    const std::vector<PortRange> ranges = set.ranges();
    const auto above = std::find_if(ranges.begin(), ranges.end(), [port](PortRange r) { return r.last >= port; });
    if (above != ranges.end() && above->contains(port))
        return {*above};
    std::vector<PortRange> nearest;
    if (above != ranges.begin())
        nearest.push_back(*(above - 1));
    if (above != ranges.end())
        nearest.push_back(*above);
    return nearest;
}

}  // namespace mape
