#include "apply/run_plan.h"

#include <fmt/format.h>
#include <ranges>

namespace mape {

std::vector<Leftover> undo(const std::vector<Step>& steps, Kernel& kernel)
{
    std::vector<Leftover> leftovers;
    for (const Step& step : steps | std::views::reverse) {
        auto done = kernel.perform(step);
        if (!done)
            leftovers.push_back({step, std::move(done.error())});
    }
    return leftovers;
}

std::string to_text(const std::vector<Leftover>& leftovers)
{
    std::string text;
    for (const Leftover& leftover : leftovers)
        text += fmt::format("{}could not {}: {}", text.empty() ? "" : "\n  ", to_words(leftover.step),
                            to_text(leftover.error));
    return text;
}

namespace {

/// The error of a run whose steps are being taken back: what is left decides its kind.
Error rolled_back(Error error, Kernel& kernel, Journal& journal)
{
    const auto leftovers = undo(journal.records().open, kernel);
    if (leftovers.empty()) {
        auto forgotten = journal.rolled_back();
        if (forgotten)
            return error;
        error.hint = to_text(forgotten.error());
    } else {
        error.hint = to_text(leftovers);
    }
    error.kind = ErrorKind::undo_failed;
    return error;
}

Result<void> run_step(const Step& step, Kernel& kernel, Journal& journal)
{
    auto undo_step = kernel.inverse(step);
    if (!undo_step)
        return fail(std::move(undo_step.error()));
    auto recorded = journal.record(*undo_step);
    if (!recorded)
        return recorded;
    return kernel.perform(step);
}

}  // namespace

Result<void> run_plan(const Plan& plan, Kernel& kernel, Journal& journal, const std::function<bool()>& interrupted,
                      const std::function<void(const Step&)>& progress)
{
    if (plan.empty())
        return {};
    if (auto begun = journal.begin(); !begun)
        return begun;

    for (const Step& step : plan) {
        if (interrupted && interrupted())
            return fail(rolled_back(failure("interrupted; undone"), kernel, journal));
        if (progress)
            progress(step);
        if (auto done = run_step(step, kernel, journal); !done)
            return fail(rolled_back(std::move(done.error()), kernel, journal));
    }
    if (auto committed = journal.commit(); !committed)
        return fail(rolled_back(std::move(committed.error()), kernel, journal));
    return {};
}

}  // namespace mape
