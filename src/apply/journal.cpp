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

constexpr int format_version = 1;
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
    if (header.value("journal", 0) != format_version)
        return "it was written by another version";
    if (header.value("boot", "") != scope.boot_id)
        return "it is of an earlier boot";
    if (header.value("netns", "") != scope.netns)
        return "it is of another network namespace";
    if (header.value("tunnel", "") != scope.tunnel)
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
    std::erase_if(settled, [](const Step& step) { return is_nothing(step); });
    std::stable_sort(settled.begin(), settled.end(),
                     [](const Step& a, const Step& b) { return rank(a) < rank(b); });
    return settled;
}

Result<void> read_record(const std::string& line, JournalRecords& records)
{
    const Json json = Json::parse(line, nullptr, false);
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
            journal.records_.note = fmt::format("{}: dropped a torn last line", journal.path_);
            break;
        }
        const std::string line = text->substr(at, end - at);
        at = end + 1;
        if (line_number == 1) {
            const Json header = Json::parse(line, nullptr, false);
            const auto because = header.is_object() ? foreign_because(header, journal.scope_) : "it is damaged";
            if (!because.empty()) {
                journal.records_.note = fmt::format("ignored the journal {}: {}", journal.path_, because);
                return journal;
            }
            continue;
        }
        auto read = read_record(line, journal.records_);
        if (!read)
            return fail(failure(fmt::format("{}:{}: {}", journal.path_, line_number, read.error().message),
                                "remove the file to go on without it: revert then removes what carries our mark"));
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

Result<void> Journal::begin()
{
    if (auto written = rewrite(); !written)
        return written;
    file_ = Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (!file_)
        return fail(system_error(errno, fmt::format("cannot open {}", path_)));
    return {};
}

Result<void> Journal::record(const Step& undo)
{
    // Before the append: if that fails half way the step is not performed, and undoing it is harmless.
    records_.open.push_back(undo);
    return append(step_line("undo", undo));
}

Result<void> Journal::commit()
{
    JournalRecords before = records_;
    records_.settled = settle(std::move(records_.settled), records_.open);
    records_.open.clear();
    auto written = rewrite();
    if (!written)
        records_ = std::move(before);
    return written;
}

Result<void> Journal::rolled_back()
{
    records_.open.clear();
    if (records_.settled.empty())
        return remove();
    return rewrite();
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
