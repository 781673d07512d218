// What reading nf_tables over a socket has in common. Not for others than nft_dump.
#pragma once

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "netlink/nft_dump_parse.h"
#include "netlink/nft_dump_raw.h"
#include "netlink/socket.h"

namespace mape::netlink {

/// The operation, for errors.
inline constexpr const char* reading_ruleset = "cannot read the nf_tables ruleset";

/// Every table there is.
[[nodiscard]] Result<std::vector<TableInKernel>> all_tables(Socket& socket);

/// Reads with `read`, which is given the ruleset's generation, until nothing changed meanwhile: the kernel has no lock that
/// spans several dumps.
template <class Read>
[[nodiscard]] auto consistently(Socket& socket, Read read) -> decltype(read(std::uint32_t{}))
{
    constexpr int attempts = 5;
    for (int attempt = 1;; ++attempt) {
        const auto before = ruleset_generation(socket);
        if (!before)
            return fail(before.error());
        auto result = read(*before);
        const auto after = ruleset_generation(socket);
        if (!after)
            return fail(after.error());
        if (*before == *after)
            return result;
        if (attempt == attempts)
            return fail(failure(fmt::format("{}: it changed {} times while it was read", reading_ruleset, attempts)));
    }
}

}  // namespace mape::netlink
