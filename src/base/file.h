// Small files: read whole, replaced whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace mape {

/// The content of a regular file or one below /proc or /sys, at most `limit` bytes. Symbolic links at the last component
/// are refused where `follow` is false. errno is kept in the error.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit, bool follow = true);

/// Writes all of `text` to the descriptor.
[[nodiscard]] Result<void> write_all(int fd, const std::string& text, const std::string& path);

/// Replaces `path` by a file of mode 0600 that holds `text`: written beside it, synced, renamed over it, directory synced.
/// After a crash the old content or the new is there.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& text);

/// Makes a rename, creation or removal in the directory of `path` survive a power cut.
[[nodiscard]] Result<void> sync_directory_of(const std::string& path);

}  // namespace mape
