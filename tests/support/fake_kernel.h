// A kernel in memory: what a step makes, and a failure wherever a test wants one.
#pragma once

#include "apply/kernel.h"

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mape::test {

class FakeKernel : public Kernel {
public:
    /// The side a step leaves behind, by identity; identities that were never touched are absent.
    std::map<std::string, std::string> state;
    /// Steps performed, in words.
    std::vector<std::string> performed;
    /// The 1-based call of perform() that fails, and with what; counted over the whole life.
    std::optional<unsigned> fail_at;
    int fail_with = EINVAL;
    /// If set, every perform() from fail_at on fails: undoing too.
    bool fail_for_good = false;

    Result<Step> inverse(const Step& step) override { return mape::inverse(step); }

    Result<void> perform(const Step& step) override
    {
        ++calls_;
        if (fail_at && (calls_ == *fail_at || (fail_for_good && calls_ > *fail_at)))
            return fail(system_error(fail_with, "cannot " + to_words(step)));
        performed.push_back(to_words(step));
        if (std::holds_alternative<FlowsStep>(step))
            return {};
        // The step without its past: equal for two steps that lead to the same.
        const bool present = std::visit(
            [](const auto& s) {
                if constexpr (requires { s.to.has_value(); })
                    return s.to.has_value();
                else if constexpr (std::is_same_v<decltype(s.to), bool>)
                    return s.to;
                else
                    return true;
            },
            step);
        if (!present) {
            state.erase(identity(step));
            return {};
        }
        Step after = step;
        std::visit([](auto& s) { s.from = s.to; }, after);
        state[identity(step)] = to_json(after);
        return {};
    }

    std::vector<std::string> take_notes() override { return {}; }

private:
    unsigned calls_ = 0;
};

}  // namespace mape::test
