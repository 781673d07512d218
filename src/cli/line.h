// From an invocation to a resolved line, as calc, ruleset and apply need it.
#pragma once

#include "base/result.h"
#include "cli/invocation.h"
#include "cli/output.h"
#include "map/line.h"
#include "netlink/rtnl_read.h"

namespace mape::cli {

/// Reads the end-user prefix from the kernel where none is stated and one is needed (settings.line.prefix is filled in),
/// then resolves the line. The line's warnings go to `output`.
[[nodiscard]] Result<Line> resolve_invocation(Invocation& invocation, Output& output);
/// The same for who has read the network already.
[[nodiscard]] Result<Line> resolve_invocation(Invocation& invocation, const netlink::NetworkState& network, Output& output);

/// The tunnel's MTU without looking at a device: [tunnel] mtu, else the table's, else 1460.
[[nodiscard]] unsigned mtu_without_device(const Settings& settings, const Line& line);

}  // namespace mape::cli
