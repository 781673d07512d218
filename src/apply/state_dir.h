// The state directory of one tunnel, and its lock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace mape {

/// STATE/TUNNEL (0700), held under one exclusive flock for as long as the object lives. It is never removed: a process
/// that waits for the lock of a removed file would not exclude one that locks the new file.
class StateDir {
public:
    /// Creates STATE and STATE/TUNNEL where they are missing; a symbolic link or a file in their place, or a STATE/TUNNEL
    /// that is not the caller's own, is refused. Waits up to `lock_timeout` seconds for the lock; then fails with the process
    /// that holds it. `waiting` is told once, with the holder, when it has to wait; `interrupted` is asked after each signal.
    [[nodiscard]] static Result<StateDir> open(const std::string& state, const std::string& tunnel,
                                               std::uint32_t lock_timeout,
                                               const std::function<void(const std::string&)>& waiting = {},
                                               const std::function<bool()>& interrupted = {});

    [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }

    /// Removes a file of ours; one that is not there is fine.
    void remove(const std::string& name) const;

private:
    StateDir(std::string directory, Fd lock) : directory_(std::move(directory)), lock_(std::move(lock)) {}
    std::string directory_;
    Fd lock_;
};

}  // namespace mape
