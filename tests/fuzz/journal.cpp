// What apply and revert find on disk: a journal, line by line, and one step's JSON.
#include "fuzz.h"

#include <fmt/format.h>

#include "apply/journal.h"
#include "apply/step.h"

using namespace mape;

namespace {

const JournalScope scope{"boot-1", "4026531840", "mape0"};
constexpr const char* header = R"({"boot":"boot-1","journal":1,"netns":"4026531840","tunnel":"mape0"})";

std::string joined(const std::vector<Step>& steps)
{
    std::string text;
    for (const Step& step : steps)
        text += to_json(step) + "\n";
    return text;
}

void check_step(const Step& step)
{
    const std::string json = to_json(step);
    HOLDS(json.find('\n') == std::string::npos);
    const auto again = step_from_json(json);
    HOLDS(again);
    HOLDS(to_json(*again) == json);
    HOLDS(identity(*again) == identity(step));
    HOLDS(identity(inverse(step)) == identity(step));
    HOLDS(!to_words(step).empty());
    HOLDS(!to_shell(step).empty());
    HOLDS(rank(step) >= 0);
    // There and back is nothing.
    HOLDS(is_nothing(join_undo(step, inverse(step))));
}

Journal opened(const std::string& path)
{
    auto journal = Journal::open(path, scope);
    HOLDS(journal);  // damaged lines are left out, with a note
    for (const std::string& note : journal->records().notes)
        HOLDS(note.find(path) != std::string::npos);
    return std::move(*journal);
}

/// What is on disk is what `journal` holds in memory.
void check_kept(const std::string& path, const Journal& journal)
{
    const Journal again = opened(path);
    HOLDS(again.records().notes.empty());
    HOLDS(joined(again.records().settled) == joined(journal.records().settled));
    HOLDS(joined(again.records().open) == joined(journal.records().open));
}

/// Whatever was in the file, the journal can be gone on with, and says the same when it is read again.
void check_file(const std::string& path, std::string_view content)
{
    fuzz::write_file(path, content);
    Journal journal = opened(path);
    const std::vector<Step> open = journal.records().open;
    for (const auto* steps : {&journal.records().settled, &open})
        for (const Step& step : *steps)
            check_step(step);

    HOLDS(journal.begin(content.size()));
    for (const Step& step : open)
        HOLDS(journal.record(step));
    check_kept(path, journal);
    HOLDS(journal.commit());
    HOLDS(journal.records().open.empty());
    check_kept(path, journal);
    HOLDS(journal.rolled_back());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::Directory directory;
    static const std::string path = directory.path("network");
    const std::string_view text = fuzz::as_text(data, size);

    if (const auto step = step_from_json(std::string(text)))
        check_step(*step);
    else
        fuzz::check_error(step.error());

    check_file(path, text);
    check_file(path, fmt::format("{}\n{}", header, text));
    // A line alone, without its end and with it, as settled and as open.
    for (const char* key : {"undo", "settled"})
        check_file(path, fmt::format("{}\n{{\"{}\":{}}}\n", header, key, text));
    return 0;
}
