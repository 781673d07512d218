#include "map/port_set.h"

#include "values.h"

#include <array>

using namespace mape;
using namespace mape::test;

TEST_CASE("the 262,124 port sets: for each offset and length those of all PSIDs are disjoint and complete")
{
    // next[p]: the port behind the range that starts at p; owner[p]: its PSID. 0: no range starts here.
    static std::array<std::uint32_t, 65536> next;
    static std::array<std::uint32_t, 65536> owner;
    std::uint32_t sets = 0;
    for (unsigned a = 0; a <= 15; ++a) {
        for (unsigned k = 0; a + k <= 16; ++k) {
            CAPTURE(a);
            CAPTURE(k);
            next.fill(0);
            const unsigned m = 16 - a - k;
            std::uint32_t ranges = 0;
            std::uint32_t wrong = 0;
            for (std::uint32_t psid = 0; psid < 1U << k; ++psid) {
                ++sets;
                const PortSet set = *PortSet::make(a, k, psid);
                const std::vector<PortRange> all = set.ranges();
                std::uint32_t count = 0;
                std::uint32_t behind = 0;
                ranges += static_cast<std::uint32_t>(all.size());
                for (const PortRange range : all) {
                    wrong += range.first < behind;
                    behind = range.last + 1U;
                    count += behind - range.first;
                    wrong += next[range.first] != 0;
                    next[range.first] = behind;
                    owner[range.first] = psid;
                    // Membership of a range's edges and of their neighbours, which are another PSID's or nobody's; a part of the
                    // PSIDs is enough here, another test has every port.
                    if (psid % 13 != 0)
                        continue;
                    wrong += !set.contains(range.first) || !set.contains(range.last);
                    wrong += k > 0 && range.first > 0 && set.contains(static_cast<std::uint16_t>(range.first - 1));
                    wrong += k > 0 && range.last < 65535 && set.contains(static_cast<std::uint16_t>(range.last + 1));
                }
                wrong += all.size() != set.range_count() || count != set.port_count();
            }
            // One walk from range to range, without gap or overlap, meets every range.
            std::uint32_t port = a > 0 && k > 0 ? 1U << (16 - a) : 0;
            std::uint32_t met = 0;
            while (port < 65536 && next[port] > port) {
                const auto first = static_cast<std::uint16_t>(port);
                const auto last = static_cast<std::uint16_t>(next[port] - 1);
                wrong += (first >> m & ((1U << k) - 1)) != owner[first] || (last >> m & ((1U << k) - 1)) != owner[first];
                if (owner[first] % 13 == 0)
                    wrong += psid_of_port(first, a, k) != owner[first] || psid_of_port(last, a, k) != owner[first];
                ++met;
                port = next[port];
            }
            CHECK(port == 65536);
            CHECK(met == ranges);
            CHECK(wrong == 0);
        }
    }
    // The sum over a of (2^(17-a) - 1): 2^0 + ... + 2^(16-a) PSIDs for each a.
    std::uint32_t expected = 0;
    for (unsigned a = 0; a <= 15; ++a)
        expected += (1U << (17 - a)) - 1;
    CHECK(expected == 262124);
    CHECK(sets == expected);
}

TEST_CASE("membership agrees with the ranges for every port of sets of each kind")
{
    const struct {
        unsigned a, k, psid;
    } kinds[] = {{0, 0, 0},  {6, 0, 0},  {0, 1, 1},  {0, 3, 2},    {0, 16, 65535}, {1, 15, 0}, {1, 1, 1},
                 {4, 8, 52}, {6, 6, 44}, {6, 8, 52}, {12, 4, 15}, {15, 0, 0},     {15, 1, 0}, {15, 1, 1}};
    for (const auto& kind : kinds) {
        CAPTURE(kind.a);
        CAPTURE(kind.k);
        const PortSet set = value(PortSet::make(kind.a, kind.k, kind.psid));
        std::vector<bool> in_ranges(65536);
        for (const PortRange range : set.ranges())
            std::fill(in_ranges.begin() + range.first, in_ranges.begin() + range.last + 1, true);
        unsigned wrong = 0;
        for (std::uint32_t port = 0; port < 65536; ++port) {
            const auto p = static_cast<std::uint16_t>(port);
            const unsigned block = kind.a == 0 ? 1 : port >> (16 - kind.a);
            const bool by_bits = kind.k == 0
                                 || ((port >> (16 - kind.a - kind.k) & ((1U << kind.k) - 1)) == kind.psid && block != 0);
            const bool by_mask = (p & set.mask()) == set.value() && p >= set.minimum();
            wrong += in_ranges[port] != by_bits || in_ranges[port] != by_mask || in_ranges[port] != set.contains(p);
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("RFC 7597 appendix B.2")
{
    const PortSet scattered = value(PortSet::make(6, 8, 0));
    const auto ranges = scattered.ranges();
    REQUIRE(ranges.size() == 63);
    CHECK(ranges[0] == ports("1024-1027"));
    CHECK(ranges[1] == ports("2048-2051"));
    CHECK(ranges[61] == ports("63488-63491"));
    CHECK(ranges[62] == ports("64512-64515"));

    const PortSet block = value(PortSet::make(0, 6, 0));
    CHECK(block.ranges() == std::vector{ports("0-1023")});
    CHECK(value(PortSet::make(0, 6, 63)).ranges() == std::vector{ports("64512-65535")});
}

TEST_CASE("shapes of real services")
{
    struct Shape {
        unsigned a, k, psid;
        std::uint32_t range_count, port_count, sharing;
        const char *first, *last;
    };
    const Shape shapes[] = {
        {4, 8, 0x34, 15, 240, 256, "4928-4943", "62272-62287"},
        {6, 6, 44, 63, 1008, 64, "1728-1743", "65216-65231"},
        {6, 8, 0x34, 63, 252, 256, "1232-1235", "64720-64723"},
        {0, 3, 2, 1, 8192, 8, "16384-24575", "16384-24575"},
        {0, 2, 3, 1, 16384, 4, "49152-65535", "49152-65535"},
        {15, 1, 1, 32767, 32767, 2, "3", "65535"},
        {0, 16, 4660, 1, 1, 65536, "4660", "4660"},
        {6, 0, 0, 1, 65536, 1, "0-65535", "0-65535"},
    };
    for (const Shape& shape : shapes) {
        CAPTURE(shape.a);
        CAPTURE(shape.k);
        const PortSet set = value(PortSet::make(shape.a, shape.k, shape.psid));
        CHECK(set.offset() == shape.a);
        CHECK(set.psid_length() == shape.k);
        CHECK(set.psid() == shape.psid);
        CHECK(set.shared() == (shape.k > 0));
        CHECK(set.range_count() == shape.range_count);
        CHECK(set.port_count() == shape.port_count);
        CHECK(set.sharing_ratio() == shape.sharing);
        CHECK(set.ranges().size() == shape.range_count);
        CHECK(set.ranges().front() == ports(shape.first));
        CHECK(set.ranges().back() == ports(shape.last));
    }
}

TEST_CASE("port sets that are refused")
{
    CHECK(error(PortSet::make(16, 0, 0)) == "PSID offset 16 is out of range: 0 to 15");
    CHECK(error(PortSet::make(0, 17, 0)) == "PSID length 17 is out of range: 0 to 16");
    CHECK(error(PortSet::make(14, 4, 0)) == "PSID offset 14 and PSID length 4 need 18 bits of a port, which has 16");
    CHECK(error(PortSet::make(4, 8, 300)) == "PSID 300 does not fit in 8 bits (0 to 255)");
    CHECK(error(PortSet::make(4, 0, 1)) == "PSID 1 does not fit in 0 bits (0 to 0)");
    CHECK(error(PortSet::make(0, 16, 65536)) == "PSID 65536 does not fit in 16 bits (0 to 65535)");
    CHECK(error(PortSet::make(4294967295, 4294967295, 4294967295)) == "PSID offset 4294967295 is out of range: 0 to 15");
    CHECK(error(PortSet::make(6, 4294967290, 0)) == "PSID length 4294967290 is out of range: 0 to 16");
}

TEST_CASE("the PSID of a port")
{
    CHECK(value(psid_of_port(1232, 6, 8)) == 0x34);
    CHECK(value(psid_of_port(9024, 4, 8)) == 52);
    CHECK(value(psid_of_port(9023, 4, 8)) == 51);
    CHECK(value(psid_of_port(0, 0, 6)) == 0);
    CHECK(value(psid_of_port(65535, 0, 16)) == 65535);
    CHECK(value(psid_of_port(80, 6, 0)) == 0);
    CHECK(error(psid_of_port(1023, 6, 8)) == "port 1023 belongs to no PSID: with PSID offset 6 the ports below 1024 are not used");
    CHECK(value(psid_of_port(1024, 6, 8)) == 0);
    CHECK(error(psid_of_port(0, 15, 1)).starts_with("port 0 belongs to no PSID"));
}

TEST_CASE("the ranges nearest to a port")
{
    const PortSet set = value(PortSet::make(4, 8, 52));
    CHECK(nearest_ranges(set, 8080) == std::vector{ports("4928-4943"), ports("9024-9039")});
    CHECK(nearest_ranges(set, 9030) == std::vector{ports("9024-9039")});
    CHECK(nearest_ranges(set, 9024) == std::vector{ports("9024-9039")});
    CHECK(nearest_ranges(set, 9039) == std::vector{ports("9024-9039")});
    CHECK(nearest_ranges(set, 9040) == std::vector{ports("9024-9039"), ports("13120-13135")});
    CHECK(nearest_ranges(set, 80) == std::vector{ports("4928-4943")});
    CHECK(nearest_ranges(set, 65535) == std::vector{ports("62272-62287")});
    CHECK(nearest_ranges(value(PortSet::make(4, 8, 192)), 51820)
          == std::vector{ports("48128-48143"), ports("52224-52239")});
    CHECK(nearest_ranges(value(PortSet::make(6, 0, 0)), 80) == std::vector{ports("0-65535")});
}
