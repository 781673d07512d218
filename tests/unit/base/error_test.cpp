#include "base/error.h"

#include "base/result.h"

#include <cerrno>
#include <doctest/doctest.h>

using namespace mape;

TEST_CASE("kinds of errors")
{
    CHECK(input_error("x").kind == ErrorKind::input);
    CHECK(failure("x").kind == ErrorKind::failed);
    CHECK(system_error(ENODEV, "x").kind == ErrorKind::failed);
    CHECK(system_error(EPERM, "x").kind == ErrorKind::privilege);
    CHECK(system_error(EACCES, "x").kind == ErrorKind::privilege);
    CHECK(system_error(ENODEV, "x").errnum == ENODEV);
    CHECK(input_error("x").errnum == 0);
}

TEST_CASE("the text of an error")
{
    CHECK(to_text(input_error("bad value")) == "bad value");
    CHECK(to_text(input_error("bad value", "try another")) == "bad value\n  try another");
    Error error = system_error(ENODEV, "link eth9", "plug it in");
    CHECK(to_text(error) == "link eth9: No such device\n  plug it in");
    error.kernel_message = "no such link";
    CHECK(to_text(error) == "link eth9: No such device (kernel: no such link)\n  plug it in");
    CHECK(to_text(with_context("mape0.conf:3", error)).starts_with("mape0.conf:3: link eth9: No such device"));
    CHECK(with_context("a", error).errnum == ENODEV);
    CHECK(with_context("a", error).hint == "plug it in");
}

TEST_CASE("a result holds a value or an error")
{
    const Result<int> good = 3;
    const Result<int> bad = fail(failure("no"));
    CHECK(good == 3);
    REQUIRE_FALSE(bad.has_value());
    CHECK(bad.error().message == "no");
}
