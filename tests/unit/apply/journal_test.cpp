#include "../../support/sample_plan.h"
#include "../../support/temporary_directory.h"
#include "base/file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

using namespace mape;
using namespace mape::test;

namespace {

const JournalScope scope{"boot-1", "4026531840", "mape0"};

Journal opened(const std::string& path, const JournalScope& with = scope)
{
    auto journal = Journal::open(path, with);
    REQUIRE(journal);
    return std::move(*journal);
}

std::vector<std::string> lines(const std::vector<Step>& steps)
{
    std::vector<std::string> text;
    for (const Step& step : steps)
        text.push_back(to_json(step));
    return text;
}

}  // namespace

TEST_CASE("a missing journal is an empty one")
{
    const TemporaryDirectory directory;
    const Journal journal = opened(directory.path("journal"));
    CHECK(journal.records().settled.empty());
    CHECK(journal.records().open.empty());
    CHECK(journal.records().notes.empty());
}

TEST_CASE("what was recorded is there after a crash, and the file is private")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    {
        Journal journal = opened(path);
        REQUIRE(journal.begin(0));
        for (const Step& step : sample_plan())
            REQUIRE(journal.record(inverse(step)));
    }
    const Journal journal = opened(path);
    CHECK(journal.records().open.size() == sample_plan().size());
    CHECK(to_json(journal.records().open[1]) == to_json(inverse(sample_plan()[1])));
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
}

TEST_CASE("a journal cut at every length loads, and holds a beginning of what was recorded")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    std::vector<Step> undo;
    {
        Journal journal = opened(path);
        REQUIRE(journal.begin(0));
        for (const Step& step : sample_plan()) {
            undo.push_back(inverse(step));
            REQUIRE(journal.record(undo.back()));
        }
    }
    const auto whole = read_file(path, 1 << 20);
    REQUIRE(whole);
    std::size_t most = 0;
    for (std::size_t length = 0; length <= whole->size(); ++length) {
        const std::string cut = directory.path("cut");
        REQUIRE(replace_file(cut, whole->substr(0, length)));
        const auto journal = Journal::open(cut, scope);
        REQUIRE(journal);
        const auto& open = journal->records().open;
        CHECK(open.size() >= most);
        most = open.size();
        for (std::size_t i = 0; i < open.size(); ++i)
            CHECK(identity(open[i]) == identity(undo[i]));
    }
    CHECK(most == undo.size());
}

TEST_CASE("a damaged line that is not the last is left out with a note; what the others undo stays")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    Journal journal = opened(path);
    REQUIRE(journal.begin(0));
    REQUIRE(journal.record(inverse(sample_plan()[3])));
    const auto text = read_file(path, 1 << 20);
    REQUIRE(replace_file(path, *text + "{\"undo\":{}}\n" + text->substr(text->find('\n') + 1)));
    const JournalRecords records = opened(path).records();
    CHECK(records.notes == std::vector<std::string>{path + ":3: left out, no \"kind\""});
    CHECK(records.open.size() == 2);
}

TEST_CASE("a journal of another boot, namespace, tunnel or version is ignored with a note")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    {
        Journal journal = opened(path);
        REQUIRE(journal.begin(0));
        REQUIRE(journal.record(inverse(sample_plan()[0])));
    }
    const auto note = [&path](JournalScope other) { return opened(path, other).records().notes.at(0); };
    CHECK(note({"boot-2", scope.netns, "mape0"}) == "ignored the journal " + path + ": it is of an earlier boot");
    CHECK(note({"boot-1", "1", "mape0"}) == "ignored the journal " + path + ": it is of another network namespace");
    CHECK(note({"boot-1", scope.netns, "mape1"}) == "ignored the journal " + path + ": it is of another tunnel");
    CHECK(opened(path, {"boot-2", scope.netns, "mape0"}).records().open.empty());

    auto text = *read_file(path, 1 << 20);
    text.replace(text.find("\"journal\":2"), 11, "\"journal\":9");
    REQUIRE(replace_file(path, text));
    CHECK(note(scope) == "ignored the journal " + path + ": it was written by another version");
    REQUIRE(replace_file(path, "garbage\n"));
    CHECK(note(scope) == "ignored the journal " + path + ": it is damaged");
    // Right keys, wrong types.
    REQUIRE(replace_file(path, R"({"boot":"boot-1","journal":"1","netns":"4026531840","tunnel":"mape0"})" "\n"));
    CHECK(note(scope) == "ignored the journal " + path + ": it was written by another version");
    REQUIRE(replace_file(path, R"({"boot":1,"journal":2,"netns":"4026531840","tunnel":"mape0"})" "\n"));
    CHECK(note(scope) == "ignored the journal " + path + ": it is of an earlier boot");
}

TEST_CASE("a record nested without end is left out, not the end of the stack")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    Journal journal = opened(path);
    REQUIRE(journal.begin(0));
    const auto header = read_file(path, 1 << 20);
    REQUIRE(header);
    constexpr std::size_t depth = 500000;
    REQUIRE(replace_file(path, *header + "{\"undo\":" + std::string(depth, '[') + std::string(depth, ']') + "}\n"));
    CHECK(opened(path).records().open.empty());
}

TEST_CASE("commit settles: two runs undo to what was before the first, in the order of ranks")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    const Tunnel first = sample_tunnel();
    Tunnel second = first;
    second.mtu = 1280;
    Journal journal = opened(path);
    REQUIRE(journal.begin(0));
    for (const Step& step : sample_plan())
        REQUIRE(journal.record(inverse(step)));
    REQUIRE(journal.commit());
    REQUIRE(journal.begin(0));
    REQUIRE(journal.record(inverse(TunnelStep{first.name, first, second})));
    REQUIRE(journal.record(inverse(AddressStep{device("wan0"), sample_ce().address, sample_ce(), {}})));
    REQUIRE(journal.commit());

    const Journal again = opened(path);
    CHECK(again.records().open.empty());
    const auto& settled = again.records().settled;
    CHECK(lines(settled) == lines(journal.records().settled));
    CHECK(settled.size() == sample_plan().size() - 2);  // the CE address came and went, flows do not come back
    CHECK(std::get<TunnelStep>(settled[1]).from == second);
    CHECK_FALSE(std::get<TunnelStep>(settled[1]).to);
}

TEST_CASE("what was undone is open no longer, and what had been settled before stays")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    Journal journal = opened(path);
    REQUIRE(journal.begin(0));
    REQUIRE(journal.record(inverse(sample_plan()[0])));
    REQUIRE(journal.commit());
    REQUIRE(journal.begin(0));
    REQUIRE(journal.record(inverse(sample_plan()[1])));
    REQUIRE(journal.rolled_back());
    CHECK(opened(path).records().open.empty());
    CHECK(lines(opened(path).records().settled) == lines({inverse(sample_plan()[0])}));
}

TEST_CASE("space for the whole run is reserved before it, and given back after it")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    Journal journal = opened(path);
    constexpr std::size_t size = 1 << 20;
    REQUIRE(journal.begin(size));
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK(static_cast<std::size_t>(info.st_blocks) * 512 >= size);
    REQUIRE(journal.record(inverse(sample_plan()[0])));
    REQUIRE(journal.commit());
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK(static_cast<std::size_t>(info.st_blocks) * 512 < size);
}

TEST_CASE("remove and roll back leave no file behind")
{
    const TemporaryDirectory directory;
    const std::string path = directory.path("journal");
    Journal journal = opened(path);
    REQUIRE(journal.begin(0));
    REQUIRE(journal.record(inverse(sample_plan()[0])));
    REQUIRE(journal.rolled_back());
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a directory where nothing can be written is refused by begin(), before any change")
{
    const auto journal = Journal::open("/proc/mape-gen-journal", scope);
    REQUIRE(journal);
    Journal copy = std::move(*Journal::open("/proc/mape-gen-journal", scope));
    const auto begun = copy.begin(0);
    REQUIRE_FALSE(begun);
    CHECK(begun.error().message == "cannot create /proc/mape-gen-journal.new");
}

TEST_CASE("a symbolic link in the journal's place is not followed")
{
    const TemporaryDirectory directory;
    REQUIRE(replace_file(directory.path("elsewhere"), "x\n"));
    std::filesystem::create_symlink("elsewhere", directory.path("journal"));
    CHECK_FALSE(Journal::open(directory.path("journal"), scope));
}
