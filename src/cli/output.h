// What the program says: data to stdout, messages to stderr, or one JSON document instead of the data.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cli/invocation.h"

namespace mape::cli {

/// Every command gets one. In --json mode print() does nothing: a command hands its fields to set_json() and run() prints
/// the document at the end, with `schema`, `changed`, `warnings` and `error` around them, also when the command failed.
class Output {
public:
    Output();
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Called by run() as soon as the flags are known.
    void configure(const Flags& flags);

    [[nodiscard]] bool json() const { return json_; }
    [[nodiscard]] bool verbose() const { return verbose_; }

    /// Text for a person, as it is; no newline is added. In --json mode it is dropped.
    void print(std::string_view text);
    /// The same in every mode: documents of `calc -`, help.
    void write(std::string_view text);
    /// Writes out what print() and write() have gathered. An error (EPIPE, ENOSPC, closed descriptor) is reported once, by finish().
    void flush();
    /// True once a write to stdout failed: a long loop can stop.
    [[nodiscard]] bool broken() const { return errnum_ != 0; }

    /// "mape-gen: warning: SENTENCE" on stderr; in --json mode into `warnings` instead. Never silenced by -q.
    void warn(std::string_view sentence);
    /// "mape-gen: SENTENCE" on stderr, unless -q or --json.
    void note(std::string_view sentence);
    /// As note(), with -v only.
    void detail(std::string_view sentence);
    /// "mape-gen: MESSAGE" and the hint on stderr, in every mode.
    void error(const Error& error);

    /// The command's own fields of the --json document. On a failure without a call, the fields that the command's row
    /// names are null.
    void set_json(nlohmann::ordered_json fields);
    /// `changed` of the document: this run changed something on the box.
    void set_changed(bool changed) { changed_ = changed; }
    [[nodiscard]] bool changed() const { return changed_; }

    /// The command prints JSON documents itself (`calc -`): run() adds none, unless it fails as a whole.
    void documents_of_its_own() { own_documents_ = true; }
    [[nodiscard]] bool prints_documents() const { return own_documents_; }

    /// Prints the document (in --json mode): `fields` is the row's list of field names. nullptr: no error.
    void print_json(std::string_view fields, const Error* error);

    /// Flushes stdout; fails when anything could not be written.
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// Moves the warnings out, for a document of their own (`calc -`).
    [[nodiscard]] std::vector<std::string> take_warnings();

private:
    bool json_ = false;
    bool verbose_ = false;
    bool quiet_ = false;
    bool changed_ = false;
    bool own_documents_ = false;
    int errnum_ = 0;
    std::string buffer_;
    std::vector<std::string> warnings_;
    std::unique_ptr<nlohmann::ordered_json> fields_;
};

/// Escape sequences that make `text` bold on a terminal; `text` as it is where `stream` is none or NO_COLOR is set.
[[nodiscard]] std::string emphasis(std::string_view text, std::FILE* stream);

}  // namespace mape::cli
