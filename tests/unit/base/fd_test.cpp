#include "base/fd.h"

#include <cerrno>
#include <doctest/doctest.h>
#include <fcntl.h>

using mape::Fd;

namespace {

bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

}  // namespace

TEST_CASE("a descriptor is closed once, by its last owner")
{
    CHECK_FALSE(Fd());
    int raw = -1;
    int other = -1;
    {
        Fd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
        raw = first.get();
        REQUIRE(is_open(raw));
        Fd second(std::move(first));
        CHECK(second.get() == raw);
        CHECK(is_open(raw));
        Fd third(open("/dev/null", O_RDONLY | O_CLOEXEC));
        other = third.get();
        third = std::move(second);
        CHECK(third.get() == raw);
        CHECK(is_open(raw));
    }
    CHECK_FALSE(is_open(raw));
    CHECK_FALSE(is_open(other));
}
