// SIGINT, SIGTERM and SIGHUP as a question that can be asked between two steps.
#pragma once

namespace mape {

/// From now on these signals are noted and do not end the process; a system call that waits ends with EINTR, so that whoever
/// waits can ask. To the end of the process: what was done must still be told.
void note_stop_signals();

/// One of them came.
[[nodiscard]] bool stop_signal_came();

}  // namespace mape
