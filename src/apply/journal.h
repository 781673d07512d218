// What has been changed and how to undo it, on disk before it is done.
//
// Text, one JSON object a line: a header, then records. Appended and synced before each change; a torn last line is
// dropped on load. Considered and rejected: one file a step (renames do not order across files), a binary log (a
// person must be able to read it at 2 a.m.), saving originals after the changes (a crash loses them).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apply/step.h"
#include "base/fd.h"
#include "base/result.h"

namespace mape {

/// What must be equal for a journal to speak of this box: state does not outlive a boot or leave its namespace.
struct JournalScope {
    std::string boot_id;  ///< /proc/sys/kernel/random/boot_id
    std::string netns;    ///< inode of /proc/self/ns/net
    std::string tunnel;
    bool operator==(const JournalScope&) const = default;
};
[[nodiscard]] Result<JournalScope> current_scope(const std::string& tunnel);

/// A journal's content. Steps are undo steps, in the order in which they were recorded: run them backwards.
struct JournalRecords {
    std::vector<Step> settled;  ///< of committed runs, joined by identity: what revert undoes
    std::vector<Step> open;     ///< of a run that did not commit: a crash; undo these first
    std::vector<std::string> notes;  ///< why a journal on disk was ignored, which of its lines were left out
};

class Journal {
public:
    /// Reads `path`; a missing file is an empty journal. A journal of another scope or format version is ignored with a
    /// note. A damaged line is left out with a note: what the others undo is as right as before, and what is lost carries our
    /// mark or stays as it is. Error: a file that cannot be read.
    [[nodiscard]] static Result<Journal> open(std::string path, JournalScope scope);

    [[nodiscard]] const JournalRecords& records() const { return records_; }

    /// Opens the file for appending, written anew with what is settled. The space of records of `size` bytes together is
    /// reserved, and a little for the end of the run: a full or read-only file system is refused here, before the first change.
    /// Syncs file and directory.
    [[nodiscard]] Result<void> begin(std::size_t size);

    /// Appends one undo step and syncs. After this the change may be made.
    [[nodiscard]] Result<void> record(const Step& undo);

    /// The run is complete: open steps become settled ones, joined with what was there. Appends a line, synced.
    [[nodiscard]] Result<void> commit();

    /// The open steps have been undone: forgets them, keeping what is settled.
    [[nodiscard]] Result<void> rolled_back();

    /// Undo steps of all runs, those of one that did not end included: they lead to what was before the first.
    [[nodiscard]] std::vector<Step> all() const;

    /// Everything has been undone: removes the file.
    [[nodiscard]] Result<void> remove();

private:
    Journal(std::string path, JournalScope scope) : path_(std::move(path)), scope_(std::move(scope)) {}
    [[nodiscard]] Result<void> rewrite();
    [[nodiscard]] Result<void> append(const std::string& line);
    std::string path_;
    JournalScope scope_;
    JournalRecords records_;
    Fd file_;
};

}  // namespace mape
