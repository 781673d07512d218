// May this process change the network at all? Asked before the first change, so that the answer is a sentence and not an
// EPERM half way.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace mape::netlink {

/// CAP_NET_ADMIN is effective, and in the user namespace that owns this network namespace, as far as that can be known:
/// the kernel names the owner only where it is this process's user namespace or one below (ioctl_ns(2) NS_GET_USERNS), and
/// only there the capability counts. Error: ErrorKind::privilege, saying what is missing. Where /proc is not mounted the
/// second half is left to the kernel.
[[nodiscard]] Result<void> require_net_admin();

/// Effective uid 0, for `what`: files of /sys and /proc/irq belong to root and no capability but CAP_DAC_OVERRIDE replaces it.
/// (/proc/sys/net takes CAP_NET_ADMIN: net/sysctl_net.c net_ctl_permissions.)
[[nodiscard]] Result<void> require_root_uid(std::string_view what);

/// The decision of require_net_admin() without the asking, for tests. `owner_errno`: what NS_GET_USERNS said, 0 if it worked.
[[nodiscard]] Result<void> judge_net_admin(std::uint64_t effective_capabilities, int owner_errno);

}  // namespace mape::netlink
