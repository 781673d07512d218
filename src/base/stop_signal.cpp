#include "base/stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace mape {

namespace {

volatile std::sig_atomic_t stop_came = 0;

}  // namespace

void note_stop_signals()
{
    struct sigaction action {};
    action.sa_handler = [](int) { stop_came = 1; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction former {};
        // What nohup or a shell's background has turned off stays so.
        if (::sigaction(signal, nullptr, &former) == 0 && former.sa_handler != SIG_IGN)
            ::sigaction(signal, &action, nullptr);
    }
}

bool stop_signal_came()
{
    return stop_came != 0;
}

}  // namespace mape
