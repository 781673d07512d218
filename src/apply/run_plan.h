// Performs a plan so that it is done whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apply/journal.h"
#include "apply/kernel.h"
#include "apply/step.h"
#include "base/result.h"

namespace mape {

using Plan = std::vector<Step>;

/// What could not be undone, in words, with the error of each.
struct Leftover {
    Step step;
    Error error;
};

/// Performs `plan`: for each step journals its undo, then performs it. On an error, or when `interrupted` says so
/// between two steps, runs the undo steps of this run backwards and returns the error; its kind is undo_failed, and its
/// hint says what remains, where undoing failed too. An empty plan writes nothing, not even the journal.
/// `progress` is told each step before it is performed. `verify` is asked before the run is taken for done; an error of it is
/// one like that of a step.
[[nodiscard]] Result<void> run_plan(const Plan& plan, Kernel& kernel, Journal& journal,
                                    const std::function<bool()>& interrupted = {},
                                    const std::function<void(const Step&)>& progress = {},
                                    const std::function<Result<void>()>& verify = {});

/// Runs undo steps backwards, going on after a failure. Returns what remains.
[[nodiscard]] std::vector<Leftover> undo(const std::vector<Step>& steps, Kernel& kernel);

/// One sentence for leftovers.
[[nodiscard]] std::string to_text(const std::vector<Leftover>& leftovers);

}  // namespace mape
