#include "netlink/privilege.h"

#include <unistd.h>

#include <cerrno>
#include <doctest/doctest.h>
#include <linux/capability.h>

using namespace mape;
using namespace mape::netlink;

TEST_CASE("the capability has to be there and to count")
{
    constexpr std::uint64_t net_admin = std::uint64_t{1} << CAP_NET_ADMIN;
    CHECK(judge_net_admin(net_admin, 0));
    CHECK(judge_net_admin(~std::uint64_t{0}, 0));
    CHECK(judge_net_admin(net_admin, ENOENT));  // no /proc: the kernel will say

    const auto lacking = judge_net_admin(~net_admin, 0);
    REQUIRE_FALSE(lacking);
    CHECK(lacking.error().kind == ErrorKind::privilege);
    CHECK(lacking.error().message == "capability CAP_NET_ADMIN is missing");

    const auto foreign = judge_net_admin(net_admin, EPERM);
    REQUIRE_FALSE(foreign);
    CHECK(foreign.error().kind == ErrorKind::privilege);
}

TEST_CASE("uid 0 is asked for by the thing that needs it")
{
    const auto answer = require_root_uid("writing /sys/class/net/eth0/queues");
    CHECK(answer.has_value() == (::geteuid() == 0));
    if (!answer)
        CHECK(answer.error().kind == ErrorKind::privilege);
}
