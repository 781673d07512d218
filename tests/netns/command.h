// A command of the shell, for the tests that ask iproute2 and nft what the kernel has.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace lab {

/// Its output, both streams; its exit status goes to `status`, or must be 0.
inline std::string output(const std::string& command, int* status = nullptr)
{
    // bash, not sh: busybox as sh (in the virtual machine) takes its own ip before the one on the path.
    ::setenv("MAPE_COMMAND", command.c_str(), 1);
    FILE* pipe = ::popen("exec bash -c \"$MAPE_COMMAND\" 2>&1", "r");
    REQUIRE(pipe);
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
        text += static_cast<char>(c);
    const int result = ::pclose(pipe);
    if (status != nullptr)
        *status = result;
    else
        REQUIRE_MESSAGE(result == 0, command, ": ", text);
    return text;
}

}  // namespace lab
