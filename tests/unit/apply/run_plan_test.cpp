#include "../../support/fake_kernel.h"
#include "../../support/sample_plan.h"
#include "../../support/temporary_directory.h"

#include <doctest/doctest.h>

using namespace mape;
using namespace mape::test;

namespace {

struct Box {
    TemporaryDirectory directory;
    FakeKernel kernel;

    Journal journal()
    {
        auto opened = Journal::open(directory.path("journal"), {"boot", "netns", "mape0"});
        REQUIRE(opened);
        return std::move(*opened);
    }
};

}  // namespace

TEST_CASE("a plan is performed whole, in order, and its undo settles")
{
    Box box;
    Journal journal = box.journal();
    REQUIRE(run_plan(sample_plan(), box.kernel, journal));
    CHECK(box.kernel.performed.size() == sample_plan().size());
    CHECK(box.journal().records().settled.size() == sample_plan().size() - 1);  // flows that are forgotten stay so

    CHECK(undo(box.journal().records().settled, box.kernel).empty());
    CHECK(box.kernel.state.size() == 1);  // a sysctl is never absent
    CHECK(*std::prev(box.kernel.performed.end(), 2) == "remove the CE address 2400:4050:2ba1:ac00:99:f0ae:8600:2c00/128 from wan0");
}

TEST_CASE("an empty plan writes nothing, not even the journal")
{
    Box box;
    Journal journal = box.journal();
    REQUIRE(run_plan({}, box.kernel, journal));
    CHECK_FALSE(std::filesystem::exists(box.directory.path("journal")));
}

TEST_CASE("step N fails, for every N and several errors: the state is what it was, exit 1, no journal left")
{
    for (unsigned n = 1; n <= sample_plan().size(); ++n) {
        for (const int error : {EPERM, ENOENT, EEXIST, ENOBUFS, ENODEV, EOPNOTSUPP}) {
            Box box;
            box.kernel.fail_at = n;
            box.kernel.fail_with = error;
            Journal journal = box.journal();
            const auto done = run_plan(sample_plan(), box.kernel, journal);
            REQUIRE_FALSE(done);
            CHECK(done.error().errnum == error);
            CHECK(done.error().kind == (error == EPERM ? ErrorKind::privilege : ErrorKind::failed));
            CHECK(done.error().message == "cannot " + to_words(sample_plan()[n - 1]));
            // A sysctl that was reached is back at its old value, everything else is gone.
            for (const auto& [about, value] : box.kernel.state) {
                CHECK(about == "sysctl net/ipv4/conf/mape0/rp_filter");
                CHECK(value.find("\"to\":\"0\"") != std::string::npos);
            }
            CHECK_FALSE(std::filesystem::exists(box.directory.path("journal")));
        }
    }
}

TEST_CASE("undoing fails too: the error says what remains, and the journal keeps it for the next run")
{
    Box box;
    box.kernel.fail_at = 3;
    box.kernel.fail_for_good = true;
    Journal journal = box.journal();
    const auto done = run_plan(sample_plan(), box.kernel, journal);
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == ErrorKind::undo_failed);
    CHECK(done.error().hint.find("could not delete the tunnel mape0: cannot delete the tunnel mape0: Invalid argument")
          != std::string::npos);
    CHECK(done.error().hint.find("could not remove the CE address") != std::string::npos);
    CHECK(box.journal().records().open.size() == 3);
}

TEST_CASE("interrupted between any two steps: undone, and said so")
{
    for (unsigned n = 0; n < sample_plan().size(); ++n) {
        Box box;
        Journal journal = box.journal();
        unsigned asked = 0;
        const auto done = run_plan(sample_plan(), box.kernel, journal, [&asked, n] { return asked++ == n; });
        REQUIRE_FALSE(done);
        CHECK(done.error().message == "interrupted before it could " + to_words(sample_plan()[n]));
        CHECK(done.error().hint == "the box is as it was before");
        CHECK(box.kernel.state.size() <= 1);
        CHECK_FALSE(std::filesystem::exists(box.directory.path("journal")));
    }
}

TEST_CASE("killed after any step: the journal undoes exactly what was reached")
{
    for (std::size_t reached = 0; reached <= sample_plan().size(); ++reached) {
        Box box;
        {
            Journal journal = box.journal();
            REQUIRE(journal.begin(0));
            for (std::size_t i = 0; i < reached; ++i) {
                REQUIRE(journal.record(inverse(sample_plan()[i])));
                REQUIRE(box.kernel.perform(sample_plan()[i]));
            }
            // One more was announced, but not performed.
            if (reached < sample_plan().size())
                REQUIRE(journal.record(inverse(sample_plan()[reached])));
        }
        CHECK(undo(box.journal().records().open, box.kernel).empty());
        CHECK(box.kernel.state.size() <= 1);
    }
}
