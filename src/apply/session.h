// One run of apply, revert or status on this box: lock, journal, kernel, and what to do first after a crash.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apply/journal.h"
#include "apply/linux_kernel.h"
#include "apply/observed.h"
#include "apply/plan.h"
#include "apply/state_dir.h"
#include "apply/wanted.h"

namespace mape {

struct SessionOptions {
    std::string state_dir;
    std::uint32_t lock_timeout = 10;                     ///< seconds
    std::function<void(const std::string&)> note;        ///< progress and remarks, for a person
    std::function<bool()> interrupted;                   ///< SIGINT or SIGTERM came
};

/// What one apply did.
struct Applied {
    std::size_t steps = 0;
    unsigned writes = 0;
    std::vector<Step> performed;
};

/// Holds the lock of a tunnel. Opening cleans up after a run that did not end: its open steps are undone.
class Session {
public:
    [[nodiscard]] static Result<Session> open(const InterfaceName& tunnel, SessionOptions options);

    /// Makes the box as wanted: observes, plans, performs, or undoes. Warnings go to options.note.
    [[nodiscard]] Result<Applied> apply(const Wanted& wanted, std::vector<std::string>& warnings);

    /// Undoes what apply did: what the journal tells, then whatever else carries our mark. `done` gets each step in words.
    [[nodiscard]] Result<Applied> revert();

private:
    Session(InterfaceName tunnel, SessionOptions options, StateDir state, Journal journal,
            std::unique_ptr<LinuxKernel> kernel)
        : tunnel_(std::move(tunnel)), options_(std::move(options)), state_(std::move(state)),
          journal_(std::move(journal)), kernel_(std::move(kernel))
    {
    }
    Result<void> clean_up();
    Result<void> remember_ruleset(const Wanted& wanted);
    void tell_notes();

    InterfaceName tunnel_;
    SessionOptions options_;
    StateDir state_;
    Journal journal_;
    std::unique_ptr<LinuxKernel> kernel_;
};

/// The comparison alone, without lock or change: what apply would do now. `state_dir` is read where that is allowed.
struct Comparison {
    PlanResult plan;
    Observed observed;
    bool nothing_of_ours = false;  ///< nothing applied at all
    std::string note;              ///< why the ruleset could not be looked at; else empty
};
[[nodiscard]] Result<Comparison> compare(const Wanted& wanted, const std::string& state_dir);

/// What revert would do now, in its order; without lock or change.
[[nodiscard]] Result<Plan> revert_plan(const InterfaceName& tunnel, const std::string& state_dir);

}  // namespace mape
