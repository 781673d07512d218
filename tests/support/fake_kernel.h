// A kernel in memory: what each step makes, by identity.
#pragma once

#include "apply/kernel.h"

#include <map>
#include <string>
#include <type_traits>

namespace mape::test {

class FakeKernel final : public Kernel {
public:
    /// The side a step leaves behind, as JSON, by identity; what is not there is absent.
    std::map<std::string, std::string> state;

    Result<Step> inverse(const Step& step) override { return mape::inverse(step); }

    Result<void> perform(const Step& step) override
    {
        if (std::holds_alternative<FlowsStep>(step))
            return {};
        if (!leaves_something(step)) {
            state.erase(identity(step));
            return {};
        }
        // Without its past: equal for two steps that lead to the same.
        Step after = step;
        std::visit([](auto& s) { s.from = s.to; }, after);
        state[identity(step)] = to_json(after);
        return {};
    }

    std::vector<std::string> take_notes() override { return {}; }

private:
    static bool leaves_something(const Step& step)
    {
        // The way into the tunnel is open where nothing shuts it.
        if (const auto* egress = std::get_if<EgressStep>(&step))
            return !egress->to;
        return std::visit(
            [](const auto& s) {
                if constexpr (requires { s.to.has_value(); })
                    return s.to.has_value();
                else if constexpr (std::is_same_v<decltype(s.to), bool>)
                    return s.to;
                else
                    return true;
            },
            step);
    }
};

}  // namespace mape::test
