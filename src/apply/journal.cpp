#include "apply/journal.h"

#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace mape {

namespace {

using Json = nlohmann::json;

constexpr int format_version = 2;
// Room for the lines that end a run.
constexpr std::size_t end_of_run = 4096;
constexpr const char* committed_line = "{\"committed\":true}";
constexpr const char* undone_line = "{\"undone\":true}";
constexpr std::size_t size_limit = 256UL << 20;

std::string header_line(const JournalScope& scope)
{
    return Json{{"journal", format_version}, {"boot", scope.boot_id}, {"netns", scope.netns}, {"tunnel", scope.tunnel}}.dump();
}

std::string step_line(const char* key, const Step& step)
{
    return fmt::format("{{\"{}\":{}}}", key, to_json(step));
}

/// Why a header does not speak of this box; empty if it does.
std::string foreign_because(const Json& header, const JournalScope& scope)
{
    // As JSON: value() with a default of another type throws where the type in the file is another one.
    const auto differs = [&header](const char* key, const Json& wanted) { return header.value(key, Json()) != wanted; };
    if (differs("journal", format_version))
        return "it was written by another version";
    if (differs("boot", scope.boot_id))
        return "it is of an earlier boot";
    if (differs("netns", scope.netns))
        return "it is of another network namespace";
    if (differs("tunnel", scope.tunnel))
        return "it is of another tunnel";
    return {};
}

/// Undo steps of a run that is over, joined with those of the runs before it.
std::vector<Step> settle(std::vector<Step> settled, const std::vector<Step>& run)
{
    for (const Step& undo : run) {
        const std::string about = identity(undo);
        const auto same = std::find_if(settled.begin(), settled.end(),
                                       [&about](const Step& step) { return identity(step) == about; });
        if (same == settled.end())
            settled.push_back(undo);
        else
            *same = join_undo(*same, undo);
    }
    for (Step& step : settled)
        if (auto* ruleset = std::get_if<RulesetStep>(&step); ruleset && ruleset->to && is_unknown(*ruleset->to))
            // Good enough for undoing a run at once; later on there is nothing to go back to.
            ruleset->to.reset();
    std::erase_if(settled, [](const Step& step) { return is_nothing(step); });
    std::stable_sort(settled.begin(), settled.end(),
                     [](const Step& a, const Step& b) { return rank(a) < rank(b); });
    return settled;
}

Result<void> read_record(const std::string& line, JournalRecords& records)
{
    if (line == committed_line) {
        records.settled = settle(std::move(records.settled), records.open);
        records.open.clear();
        return {};
    }
    if (line == undone_line) {
        records.open.clear();
        return {};
    }
    // A record, its step, a side of it and what that holds: nothing is deeper, and dump() calls itself for each level.
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= 8; };
    const Json json = Json::parse(line, shallow, false);
    if (!json.is_object() || json.size() != 1)
        return fail(failure("not a record"));
    const std::string& key = json.begin().key();
    auto step = step_from_json(json.begin().value().dump());
    if (!step)
        return fail(std::move(step.error()));
    if (key == "settled")
        records.settled.push_back(std::move(*step));
    else if (key == "undo")
        records.open.push_back(std::move(*step));
    else
        return fail(failure(fmt::format("unknown record \"{}\"", key)));
    return {};
}

}  // namespace

Result<JournalScope> current_scope(const std::string& tunnel)
{
    auto boot_id = read_file("/proc/sys/kernel/random/boot_id", 128);
    if (!boot_id)
        return fail(std::move(boot_id.error()));
    while (!boot_id->empty() && boot_id->back() == '\n')
        boot_id->pop_back();
    struct stat netns {};
    if (::stat("/proc/self/ns/net", &netns) != 0)
        return fail(system_error(errno, "cannot tell the network namespace (/proc/self/ns/net)"));
    return JournalScope{std::move(*boot_id), fmt::format("{}", netns.st_ino), tunnel};
}

Result<Journal> Journal::open(std::string path, JournalScope scope)
{
    Journal journal(std::move(path), std::move(scope));
    auto text = read_file(journal.path_, size_limit, false);
    if (!text && text.error().errnum == ENOENT)
        return journal;
    if (!text)
        return fail(std::move(text.error()));

    std::size_t line_number = 0;
    for (std::size_t at = 0; at < text->size();) {
        const std::size_t end = text->find('\n', at);
        ++line_number;
        if (end == std::string::npos) {
            // Written when the power went: its change was not made yet.
            journal.records_.notes.push_back(fmt::format("{}: dropped a torn last line", journal.path_));
            break;
        }
        const std::string line = text->substr(at, end - at);
        at = end + 1;
        if (line_number == 1) {
            const Json header = Json::parse(line, nullptr, false);
            const auto because = header.is_object() ? foreign_because(header, journal.scope_) : "it is damaged";
            if (!because.empty()) {
                journal.records_.notes.push_back(fmt::format("ignored the journal {}: {}", journal.path_, because));
                return journal;
            }
            continue;
        }
        auto read = read_record(line, journal.records_);
        if (!read)
            journal.records_.notes.push_back(
                fmt::format("{}:{}: left out, {}", journal.path_, line_number, read.error().message));
    }
    return journal;
}

Result<void> Journal::append(const std::string& line)
{
    if (auto written = write_all(file_.get(), line + "\n", path_); !written)
        return written;
    if (::fdatasync(file_.get()) != 0)
        return fail(system_error(errno, fmt::format("cannot sync {}", path_)));
    return {};
}

Result<void> Journal::rewrite()
{
    std::string text = header_line(scope_) + "\n";
    for (const Step& step : records_.settled)
        text += step_line("settled", step) + "\n";
    for (const Step& step : records_.open)
        text += step_line("undo", step) + "\n";
    return replace_file(path_, text);
}

Result<void> Journal::begin(std::size_t size)
{
    if (auto written = rewrite(); !written)
        return written;
    file_ = Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (!file_)
        return fail(system_error(errno, fmt::format("cannot open {}", path_)));
    auto reserved = reserve(file_.get(), size + end_of_run, path_);
    if (!reserved) {
        file_ = {};
        // As it was: with nothing settled there was no file.
        if (records_.settled.empty() && records_.open.empty())
            ::unlink(path_.c_str());
    }
    return reserved;
}

Result<void> Journal::record(const Step& undo)
{
    // Before the append: if that fails half way the step is not performed, and undoing it is harmless.
    records_.open.push_back(undo);
    return append(step_line("undo", undo));
}

Result<void> Journal::commit()
{
    if (auto written = append(committed_line); !written)
        return written;
    records_.settled = settle(std::move(records_.settled), records_.open);
    records_.open.clear();
    // What was reserved beyond the end is given back.
    struct stat info {};
    if (::fstat(file_.get(), &info) == 0)
        (void)!::ftruncate(file_.get(), info.st_size);
    file_ = {};
    return {};
}

Result<void> Journal::rolled_back()
{
    records_.open.clear();
    if (records_.settled.empty())
        return remove();
    // Within the space that was reserved: a full disk must not stand in the way. After a crash the file is not open yet.
    return file_ ? append(undone_line) : rewrite();
}

std::vector<Step> Journal::all() const
{
    return settle(records_.settled, records_.open);
}

Result<void> Journal::remove()
{
    records_ = {};
    file_ = {};
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT)
        return fail(system_error(errno, fmt::format("cannot remove {}", path_)));
    return sync_directory_of(path_);
}

}  // namespace mape
