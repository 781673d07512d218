#include "netlink/privilege.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/nsfs.h>

#include "base/fd.h"

namespace mape::netlink {

namespace {

Error missing(std::string message, std::string hint)
{
    Error error = failure(std::move(message), std::move(hint));
    error.kind = ErrorKind::privilege;
    return error;
}

}  // namespace

Result<void> judge_net_admin(std::uint64_t effective_capabilities, int owner_errno)
{
    if ((effective_capabilities & (std::uint64_t{1} << CAP_NET_ADMIN)) == 0)
        return fail(missing("capability CAP_NET_ADMIN is missing",
                            "run it as root, or give the unit AmbientCapabilities=CAP_NET_ADMIN"));
    if (owner_errno == EPERM)
        return fail(missing("capability CAP_NET_ADMIN counts only in this process's user namespace, and its network namespace "
                            "belongs to another",
                            "run it outside of the container, or give the container a network namespace of its own"));
    return {};
}

Result<void> require_net_admin()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) < 0)
        return fail(system_error(errno, "cannot read this process's capabilities"));
    const std::uint64_t effective = data[0].effective | (std::uint64_t{data[1].effective} << 32);
    int owner_errno = 0;
    if (const Fd network(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)); network) {
        const Fd owner(::ioctl(network.get(), NS_GET_USERNS));
        owner_errno = owner ? 0 : errno;
    }
    return judge_net_admin(effective, owner_errno);
}

Result<void> require_root_uid(std::string_view what)
{
    if (::geteuid() == 0)
        return {};
    return fail(missing(fmt::format("{} needs uid 0, and this is uid {}", what, ::geteuid()), "run it as root"));
}

}  // namespace mape::netlink
