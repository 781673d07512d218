// Plans on the kernel that runs: the same assertions as on the one in memory (tests/unit/apply/run_plan_test.cpp).
//
// Needs root, iproute2, nft and ip6tnl (Debian's stock kernel in QEMU has all). Exit code 77 and a reason: could not run.
#define DOCTEST_CONFIG_IMPLEMENT
#include "nft_lab.h"

#include "../support/kernel_suite.h"

#include "apply/linux_kernel.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

using namespace mape;
using namespace mape::test;

namespace {

/// A namespace with a WAN, entered for good: the next one has a namespace of its own.
class RealLab {
public:
    RealLab()
    {
        REQUIRE(::unshare(CLONE_NEWNET) == 0);
        // No address comes by itself and no carrier changes later. The probe loads the driver, which adds a device of its own
        // to each namespace. A value that the sample plan sets differs from it at first, whatever this machine's default is.
        lab::output("echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter && ip link set lo up && "
                    "ip link add wan0 type dummy && ip link set wan0 addrgenmode none && ip link set wan0 up && "
                    "ip link add probe type ip6tnl mode ipip6 remote 2001:db8::1 && ip link del probe");
        auto opened = LinuxKernel::open(device("mape0"));
        REQUIRE(opened);
        kernel_ = std::move(*opened);
    }

    static const std::vector<int>& errors()
    {
        static const std::vector<int> some = {EPERM, ENOBUFS};
        return some;
    }
    Kernel& kernel() { return *kernel_; }
    std::vector<std::string> state() const
    {
        std::istringstream shown(lab::output(
            "ip -d addr; ip rule; ip -6 rule; ip route show table all; ip -6 route show table all; nft list ruleset; "
            "grep -r . /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf /proc/sys/net/ipv6/conf 2>/dev/null | sort"));
        std::vector<std::string> lines;
        for (std::string line; std::getline(shown, line);)
            lines.push_back(line);
        return lines;
    }

private:
    std::unique_ptr<LinuxKernel> kernel_;
};

}  // namespace

MAPE_KERNEL_SUITE(RealLab);

int main(int argc, char** argv)
{
    if (std::system("exec bash -c 'ip link add probe type ip6tnl mode ipip6 remote 2001:db8::1 && ip link del probe' >/dev/null 2>&1") != 0) {
        std::puts("SKIP: this kernel has no ip6tnl (module ip6_tunnel)");
        return lab::skipped;
    }
    return lab::run(argc, argv);
}
