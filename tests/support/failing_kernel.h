// Another kernel, in memory or real, with a failure wherever a test wants one.
#pragma once

#include "apply/kernel.h"

#include <cerrno>
#include <optional>

namespace mape::test {

/// Which perform() fails, and how.
struct Failure {
    unsigned at = 0;  ///< 1-based, counted from the first step this kernel was asked to perform; 0: none
    int errnum = EINVAL;
    bool done = false;      ///< performed all the same: an acknowledgement that was lost looks like that
    bool for_good = false;  ///< every later one fails too and performs nothing, those of an undo included
};

class FailingKernel final : public Kernel {
public:
    FailingKernel(Kernel& kernel, Failure failure) : kernel_(kernel), failure_(failure) {}

    Result<Step> inverse(const Step& step) override { return kernel_.inverse(step); }

    Result<void> perform(const Step& step) override
    {
        ++calls_;
        const bool this_one = calls_ == failure_.at;
        const bool later = failure_.at != 0 && calls_ > failure_.at;
        if (!this_one && !(later && failure_.for_good))
            return kernel_.perform(step);
        if (this_one && failure_.done)
            if (auto done = kernel_.perform(step); !done)
                return done;
        return fail(system_error(failure_.errnum, "cannot " + to_words(step)));
    }

    std::vector<std::string> take_notes() override { return kernel_.take_notes(); }

private:
    Kernel& kernel_;
    Failure failure_;
    unsigned calls_ = 0;
};

}  // namespace mape::test
