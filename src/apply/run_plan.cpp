#include "apply/run_plan.h"

#include <exception>
#include <fmt/format.h>

namespace mape {

std::vector<Leftover> undo(const std::vector<Step>& steps, Kernel& kernel)
{
    std::vector<Leftover> leftovers;
    // Not std::views::reverse: clang before version 16 cannot read libstdc++'s.
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        auto done = kernel.perform(*step);
        if (!done)
            leftovers.push_back({*step, std::move(done.error())});
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

/// Bytes of the journal that the undo steps of `plan` take, rather too many.
std::size_t size_to_expect(const Plan& plan)
{
    constexpr std::size_t a_step = 1024;
    constexpr std::size_t values_of_all_devices = 64 * 1024;
    std::size_t size = 0;
    for (const Step& step : plan) {
        size += a_step;
        if (const auto* ruleset = std::get_if<RulesetStep>(&step); ruleset && ruleset->from)
            size += 2 * ruleset->from->batch->size();
        if (std::holds_alternative<ForwardingStep>(step))
            size += values_of_all_devices;
    }
    return size;
}

/// The error of a run whose steps are being taken back: what is left decides its kind.
Error rolled_back(Error error, Kernel& kernel, Journal& journal)
{
    const auto leftovers = undo(journal.records().open, kernel);
    if (leftovers.empty()) {
        auto forgotten = journal.rolled_back();
        if (forgotten) {
            error.hint += fmt::format("{}the box is as it was before", error.hint.empty() ? "" : "; ");
            return error;
        }
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

Result<void> run_steps(const Plan& plan, Kernel& kernel, Journal& journal, const std::function<bool()>& interrupted,
                       const std::function<void(const Step&)>& progress, const std::function<Result<void>()>& verify)
{
    for (const Step& step : plan) {
        if (interrupted && interrupted())
            return fail(failure(fmt::format("interrupted before it could {}", to_words(step))));
        if (progress)
            progress(step);
        if (auto done = run_step(step, kernel, journal); !done)
            return done;
    }
    if (verify)
        if (auto good = verify(); !good)
            return good;
    return journal.commit();
}

}  // namespace

Result<void> run_plan(const Plan& plan, Kernel& kernel, Journal& journal, const std::function<bool()>& interrupted,
                      const std::function<void(const Step&)>& progress, const std::function<Result<void>()>& verify)
{
    if (plan.empty())
        return {};
    if (auto begun = journal.begin(size_to_expect(plan)); !begun)
        return begun;
    // An exception (out of memory) must not pass by what has been done so far.
    Result<void> done;
    try {
        done = run_steps(plan, kernel, journal, interrupted, progress, verify);
    } catch (const std::exception& unexpected) {
        done = fail(failure(unexpected.what()));
    }
    return done.map_error([&](Error error) { return rolled_back(std::move(error), kernel, journal); });
}

}  // namespace mape
