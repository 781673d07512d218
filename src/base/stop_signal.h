// SIGINT, SIGTERM and SIGHUP as a question that can be asked between two steps.
#pragma once

#include <csignal>

namespace mape {

/// While an object lives these signals are noted and no longer end the process; system calls they interrupt are resumed.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    [[nodiscard]] static bool came();

private:
    struct sigaction former_[3];
};

}  // namespace mape
