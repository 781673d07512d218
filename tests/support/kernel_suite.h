// What holds for a plan on any kernel: the assertions that the one in memory and the real one share.
//
// MAPE_KERNEL_SUITE(Lab) makes the cases, for a
//
//     struct Lab {
//         static const std::vector<int>& errors();  // what step N fails with
//         Kernel& kernel();                         // in a state of its own, the same for every Lab
//         std::vector<std::string> state();         // all of that state that a step may touch, in an order that is always the same
//     };
#pragma once

#include <doctest/doctest.h>

#include "failing_kernel.h"
#include "sample_plan.h"
#include "temporary_directory.h"

#include "../unit/nft/samples.h"
#include "apply/journal.h"
#include "nft/batch.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

namespace mape::test {

/// Steps of all kinds, the way into the tunnel shut first and open again at the end, as a change in place does; with a ruleset
/// that a kernel takes.
inline Plan suite_plan()
{
    Plan plan = sample_plan();
    for (Step& step : plan) {
        if (auto* forwarding = std::get_if<ForwardingStep>(&step))
            forwarding->before.clear();  // the kernel's to say
        if (auto* ruleset = std::get_if<RulesetStep>(&step)) {
            const auto seeds = napt_ruleset(samples::seeds());
            REQUIRE(seeds);
            ruleset->to->batch = nft::replace_batch(*seeds).bytes;
        }
    }
    plan.insert(plan.begin(), EgressStep{device("mape0"), true, false});
    return plan;
}

/// Identities that a whole run leaves to be undone: flows that are forgotten stay so, the way in is as it was.
constexpr std::size_t suite_settled = 9;

struct SuiteJournal {
    TemporaryDirectory directory;

    [[nodiscard]] Journal open() const
    {
        auto opened = Journal::open(directory.path("journal"), {"boot", "netns", "mape0"});
        REQUIRE(opened);
        return std::move(*opened);
    }
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(directory.path("journal")); }
};

/// Lines of one state that are not in the other, for a message that fits on a screen.
inline std::string difference(std::vector<std::string> before, std::vector<std::string> after)
{
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    std::vector<std::string> gone;
    std::vector<std::string> added;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(gone));
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
    std::string text;
    for (const std::string& line : gone)
        text += "\n- " + line;
    for (const std::string& line : added)
        text += "\n+ " + line;
    return text;
}

/// A lab and what it was at first.
template <class Lab>
struct Watched {
    Lab lab;
    std::vector<std::string> before = lab.state();

    void check_unchanged() { CHECK(difference(before, lab.state()) == ""); }
};

TEST_CASE_TEMPLATE_DEFINE("a plan is performed whole, a second time changes nothing, and its undo leads back", Lab,
                          kernel_suite_whole)
{
    const SuiteJournal on_disk;
    Watched<Lab> box;
    Journal journal = on_disk.open();
    const auto done = run_plan(suite_plan(), box.lab.kernel(), journal);
    REQUIRE_MESSAGE(done, (done ? std::string() : to_text(done.error())));
    const auto made = box.lab.state();
    CHECK(difference(box.before, made) != "");
    CHECK(on_disk.open().records().settled.size() == suite_settled);
    CHECK(on_disk.open().records().open.empty());

    for (const Step& step : suite_plan()) {
        CAPTURE(to_words(step));
        CHECK(box.lab.kernel().perform(step));
    }
    CHECK(difference(made, box.lab.state()) == "");

    CHECK(undo(on_disk.open().records().settled, box.lab.kernel()).empty());
    box.check_unchanged();
    // What is undone already is no error.
    CHECK(undo(on_disk.open().records().settled, box.lab.kernel()).empty());
    box.check_unchanged();
}

TEST_CASE_TEMPLATE_DEFINE("step N fails, for every N, not performed or performed: the state is what it was, no journal is left", Lab,
                          kernel_suite_fault)
{
    const Plan plan = suite_plan();
    Watched<Lab> box;
    for (unsigned n = 1; n <= plan.size(); ++n)
        for (const int errnum : Lab::errors())
            for (const bool performed : {false, true}) {
                CAPTURE(to_words(plan[n - 1]));
                CAPTURE(errnum);
                CAPTURE(performed);
                const SuiteJournal on_disk;
                FailingKernel kernel(box.lab.kernel(), {.at = n, .errnum = errnum, .done = performed});
                Journal journal = on_disk.open();
                const auto done = run_plan(plan, kernel, journal);
                REQUIRE_FALSE(done);
                CHECK(done.error().errnum == errnum);
                CHECK(done.error().kind == (errnum == EPERM ? ErrorKind::privilege : ErrorKind::failed));
                CHECK(done.error().message == "cannot " + to_words(plan[n - 1]));
                CHECK(done.error().hint == "the box is as it was before");
                CHECK_FALSE(on_disk.is_there());
                box.check_unchanged();
            }
}

TEST_CASE_TEMPLATE_DEFINE("undoing fails too: the error says what remains, and the next run's undo leads back", Lab,
                          kernel_suite_undo_fails)
{
    const Plan plan = suite_plan();
    Watched<Lab> box;
    for (unsigned n = 1; n <= plan.size(); ++n) {
        CAPTURE(to_words(plan[n - 1]));
        const SuiteJournal on_disk;
        FailingKernel kernel(box.lab.kernel(), {.at = n, .done = true, .for_good = true});
        Journal journal = on_disk.open();
        const auto done = run_plan(plan, kernel, journal);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == ErrorKind::undo_failed);
        CHECK(done.error().message == "cannot " + to_words(plan[n - 1]));
        for (unsigned i = 0; i < n; ++i)
            if (const Step back = inverse(plan[i]); !is_nothing(back)) {
                CAPTURE(done.error().hint);
                CHECK(done.error().hint.find("could not " + to_words(back)) != std::string::npos);
            }
        CHECK(on_disk.open().records().open.size() == n);

        CHECK(undo(on_disk.open().records().open, box.lab.kernel()).empty());
        box.check_unchanged();
    }
}

TEST_CASE_TEMPLATE_DEFINE("interrupted between any two steps: undone, and said so", Lab, kernel_suite_interrupted)
{
    const Plan plan = suite_plan();
    Watched<Lab> box;
    for (unsigned n = 0; n < plan.size(); ++n) {
        CAPTURE(to_words(plan[n]));
        const SuiteJournal on_disk;
        Journal journal = on_disk.open();
        unsigned asked = 0;
        const auto done = run_plan(plan, box.lab.kernel(), journal, [&asked, n] { return asked++ == n; });
        REQUIRE_FALSE(done);
        CHECK(done.error().message == "interrupted before it could " + to_words(plan[n]));
        CHECK(done.error().hint == "the box is as it was before");
        CHECK_FALSE(on_disk.is_there());
        box.check_unchanged();
    }
}

TEST_CASE_TEMPLATE_DEFINE("killed after any step: the journal undoes what was reached, and one that was only announced", Lab,
                          kernel_suite_killed)
{
    const Plan plan = suite_plan();
    Watched<Lab> box;
    for (std::size_t reached = 0; reached <= plan.size(); ++reached) {
        CAPTURE(reached);
        const SuiteJournal on_disk;
        {
            Journal journal = on_disk.open();
            REQUIRE(journal.begin(0));
            for (std::size_t i = 0; i <= reached && i < plan.size(); ++i) {
                const auto back = box.lab.kernel().inverse(plan[i]);
                REQUIRE(back);
                REQUIRE(journal.record(*back));
                if (i < reached)
                    REQUIRE(box.lab.kernel().perform(plan[i]));
            }
        }
        CHECK(undo(on_disk.open().records().open, box.lab.kernel()).empty());
        box.check_unchanged();
    }
}

}  // namespace mape::test

/// All of them, for one Lab.
#define MAPE_KERNEL_SUITE(Lab)                                \
    TEST_CASE_TEMPLATE_INVOKE(kernel_suite_whole, Lab);       \
    TEST_CASE_TEMPLATE_INVOKE(kernel_suite_fault, Lab);       \
    TEST_CASE_TEMPLATE_INVOKE(kernel_suite_undo_fails, Lab);  \
    TEST_CASE_TEMPLATE_INVOKE(kernel_suite_interrupted, Lab); \
    TEST_CASE_TEMPLATE_INVOKE(kernel_suite_killed, Lab)
