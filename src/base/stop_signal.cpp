#include "base/stop_signal.h"

#include <array>

namespace mape {

namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t stop_came = 0;

}  // namespace

StopSignal::StopSignal()
{
    struct sigaction action {};
    action.sa_handler = [](int) { stop_came = 1; };
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < signals.size(); ++i)
        ::sigaction(signals[i], &action, &former_[i]);
}

StopSignal::~StopSignal()
{
    for (std::size_t i = 0; i < signals.size(); ++i)
        ::sigaction(signals[i], &former_[i], nullptr);
}

bool StopSignal::came()
{
    return stop_came != 0;
}

}  // namespace mape
