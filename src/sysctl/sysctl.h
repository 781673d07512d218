// Values below /proc/sys (or /sys: the rules are the same), under a root that tests can move.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mape {

/// Keys are paths below the root with slashes, "net/ipv4/conf/eth0.5/forwarding", so a device name with dots needs no quoting.
/// A key that is not normalised (empty, leading, trailing or double slash, a component "." or "..", a NUL) is an input error.
class Sysctl {
public:
    explicit Sysctl(std::string root = "/proc/sys") : root_(std::move(root)) {}

    /// Without the newline at its end. ENOENT (no such key: no such device, or a kernel without the feature) keeps its errno.
    [[nodiscard]] Result<std::string> read(std::string_view key) const;

    /// One write of `value` and a newline. The error names key and value. Files are never created.
    [[nodiscard]] Result<void> write(std::string_view key, std::string_view value) const;

    /// All keys but itself that a change of net/ipv4/ip_forward resets, with their present values (net/ipv4/devinet.c
    /// inet_forward_change): net/ipv4/conf/all/accept_redirects becomes the opposite of it, conf/default/forwarding and
    /// forwarding of every device become equal to it. conf/all/forwarding is ip_forward under another name and left out.
    /// Devices that vanish meanwhile are left out too. Turning it on also turns large receive offload (LRO) of every device
    /// off, which is no sysctl and not listed.
    [[nodiscard]] Result<std::map<std::string, std::string>> ipv4_forwarding_side_effects() const;

private:
    [[nodiscard]] Result<std::string> path(std::string_view key) const;
    std::string root_;
};

}  // namespace mape
