// Small files: read whole, replaced whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace mape {

/// The content of a regular file or one below /proc or /sys, at most `limit` bytes. Symbolic links at the last component
/// and whatever is not a regular file are refused where `follow` is false. errno is kept in the error.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit, bool follow = true);

/// Writes all of `text` to the descriptor.
[[nodiscard]] Result<void> write_all(int fd, const std::string& text, const std::string& path);

/// Replaces `path` by a file of mode 0600 that holds `text`: written beside it, synced, renamed over it, directory synced.
/// After a crash the old content or the new is there.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& text);

/// Makes sure that `size` more bytes can be written at the end of the file without running out of space. A file system that
/// cannot promise that is taken at its word.
[[nodiscard]] Result<void> reserve(int fd, std::size_t size, const std::string& path);

/// A new content of a file, with its space promised before it is known.
class Replacement {
public:
    /// Makes `path`.new with `size` bytes reserved. It goes with this object unless it was put in place.
    [[nodiscard]] static Result<Replacement> make(std::string path, std::size_t size);
    Replacement(Replacement&& other) noexcept;
    Replacement& operator=(Replacement&&) = delete;
    ~Replacement();

    /// Writes `text`, syncs, renames over `path`, syncs the directory. Once.
    [[nodiscard]] Result<void> put(const std::string& text);

private:
    Replacement(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    [[nodiscard]] std::string temporary() const { return path_ + ".new"; }
    std::string path_;
    Fd fd_;
};

/// Makes a rename, creation or removal in the directory of `path` survive a power cut.
[[nodiscard]] Result<void> sync_directory_of(const std::string& path);

}  // namespace mape
