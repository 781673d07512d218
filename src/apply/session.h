// One run of apply, revert or status on this box: lock, journal, kernel, and what to do first after a crash.
#pragma once

#include <chrono>
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
#include "base/file.h"

namespace mape {

struct SessionOptions {
    std::string state_dir;
    std::uint32_t lock_timeout = 10;                     ///< seconds
    std::function<void(const std::string&)> note;        ///< progress and remarks, for a person
    std::function<bool()> interrupted;                   ///< SIGINT or SIGTERM came
};

/// What one apply or revert did.
struct Applied {
    std::size_t steps = 0;
    unsigned writes = 0;  ///< netlink messages that changed something, and values written
    std::vector<Step> performed;
    /// How long IPv4, which was up before, did not get through; nullopt: it was not up before.
    std::optional<std::chrono::microseconds> outage;
};

/// Holds the lock of a tunnel.
class Session {
public:
    /// Waits for the lock; SIGINT and SIGTERM end the wait. Changes nothing but the state directory.
    [[nodiscard]] static Result<Session> open(const InterfaceName& tunnel, SessionOptions options);

    /// Undoes the open steps of a run that did not end. True: there were some.
    [[nodiscard]] Result<bool> clean_up();

    /// Makes the box as wanted: cleans up, compares with `network`, plans, performs, or undoes.
    [[nodiscard]] Result<Applied> apply(const Wanted& wanted, netlink::NetworkState network,
                                        std::vector<std::string>& warnings);

    /// Undoes what apply did, also a run of it that did not end: what the journal tells, then whatever else carries our mark.
    /// Goes on after a failure, and says at the end what remains.
    [[nodiscard]] Result<Applied> revert();

private:
    Session(InterfaceName tunnel, SessionOptions options, JournalScope scope, StateDir state, Journal journal,
            std::unique_ptr<LinuxKernel> kernel)
        : tunnel_(std::move(tunnel)), options_(std::move(options)), scope_(std::move(scope)), state_(std::move(state)),
          journal_(std::move(journal)), kernel_(std::move(kernel))
    {
    }
    Result<void> perform(const Plan& plan, const Wanted& wanted, unsigned wan_index, Applied& applied);
    Result<void> remember_ruleset(const RulesetContent& content, const std::string& translation, Replacement& memory);
    void tell_notes();

    InterfaceName tunnel_;
    SessionOptions options_;
    JournalScope scope_;
    StateDir state_;
    Journal journal_;
    std::unique_ptr<LinuxKernel> kernel_;
};

/// Links, addresses, routes and rules of this network namespace, over a socket of its own.
[[nodiscard]] Result<netlink::NetworkState> read_network();

/// The comparison alone, without lock or change: what apply would do now. `state_dir` is read where that is allowed.
struct Comparison {
    PlanResult plan;
    Observed observed;
    bool nothing_of_ours = false;  ///< nothing applied at all
    std::string note;              ///< why the ruleset could not be looked at; else empty
};
[[nodiscard]] Result<Comparison> compare(const Wanted& wanted, netlink::NetworkState network, const std::string& state_dir);

/// What revert would do now, in its order; without lock or change.
[[nodiscard]] Result<Plan> revert_plan(const InterfaceName& tunnel, const std::string& state_dir);

}  // namespace mape
