// The one virtual interface of the program: what performs steps.
#pragma once

#include <string>
#include <vector>

#include "apply/step.h"
#include "base/result.h"

namespace mape {

class Kernel {
public:
    virtual ~Kernel() = default;

    /// `step` with its `from` side as the kernel has it at this moment, swapped: what undoes it after it was performed.
    /// Changes nothing. Called right before perform().
    [[nodiscard]] virtual Result<Step> inverse(const Step& step) = 0;

    /// Makes `to` of what is there. Already so: success. What is there and not ours is never changed, but an error.
    /// A value that somebody changed since `from` was read stays as it is; that is told in notes(), not an error.
    [[nodiscard]] virtual Result<void> perform(const Step& step) = 0;

    /// Told since the last call: values left alone and why.
    [[nodiscard]] virtual std::vector<std::string> take_notes() = 0;
};

}  // namespace mape
