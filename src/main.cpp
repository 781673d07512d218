// argv in, exit code out; the only catch.
#include "cli/run.h"

#include <cstdio>
#include <exception>
#include <new>

int main(int argc, char** argv)
{
    try {
        return mape::cli::run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("mape-gen: out of memory\n", stderr);
    } catch (const std::exception& unexpected) {
        std::fprintf(stderr, "mape-gen: %s\n", unexpected.what());
    }
    return 1;
}
