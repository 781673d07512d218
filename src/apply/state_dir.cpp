#include "apply/state_dir.h"

#include "base/file.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mape {

namespace {

Result<void> make_directory(const std::string& path, mode_t mode)
{
    if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
        return fail(system_error(errno, fmt::format("cannot create the state directory {}", path),
                                 fmt::format("this is uid {}; /run takes uid 0: run it as root, or name another with --state-dir",
                                             ::geteuid())));
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0)
        return fail(system_error(errno, fmt::format("cannot look at the state directory {}", path)));
    if (!S_ISDIR(info.st_mode))
        return fail(failure(fmt::format("{} is {}, not a directory", path, S_ISLNK(info.st_mode) ? "a symbolic link" : "a file"),
                            "remove it, or name another directory with --state-dir"));
    return {};
}

Result<void> make_own_directory(const std::string& path)
{
    if (auto made = make_directory(path, 0700); !made)
        return made;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || info.st_uid != ::geteuid())
        return fail(failure(fmt::format("the state directory {} belongs to uid {}, not to us", path, info.st_uid)));
    if ((info.st_mode & 0077) != 0 && ::chmod(path.c_str(), 0700) != 0)
        return fail(system_error(errno, fmt::format("cannot make {} private (0700)", path)));
    return {};
}

std::string holder(const std::string& lock_path)
{
    const auto pid = read_file(lock_path, 64, false);
    return pid && !pid->empty() ? fmt::format("process {}", *pid) : std::string("another process");
}

// flock has no timeout: a timer's signal ends the wait. No sleeping, no polling.
class Alarm {
public:
    explicit Alarm(std::uint32_t seconds)
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        ::sigaction(SIGRTMIN, &action, &former_);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGRTMIN;
        if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
            return;
        created_ = true;
        // Repeats, for the case that it, or a signal that asks to stop, comes between the check and flock.
        const itimerspec when{{1, 0}, {1, 0}};
        ::clock_gettime(CLOCK_MONOTONIC, &end_);
        end_.tv_sec += static_cast<time_t>(seconds);
        ::timer_settime(timer_, 0, &when, nullptr);
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    ~Alarm()
    {
        if (created_)
            ::timer_delete(timer_);
        ::sigaction(SIGRTMIN, &former_, nullptr);
    }
    [[nodiscard]] bool over() const
    {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return !created_ || now.tv_sec > end_.tv_sec || (now.tv_sec == end_.tv_sec && now.tv_nsec >= end_.tv_nsec);
    }

private:
    timer_t timer_{};
    bool created_ = false;
    struct sigaction former_ {};
    timespec end_{};
};

}  // namespace

Result<StateDir> StateDir::open(const std::string& state, const std::string& tunnel, std::uint32_t lock_timeout,
                                const std::function<void(const std::string&)>& waiting,
                                const std::function<bool()>& interrupted)
{
    const std::string directory = state + "/" + tunnel;
    if (auto made = make_directory(state, 0755); !made)
        return fail(std::move(made.error()));
    if (auto made = make_own_directory(directory); !made)
        return fail(std::move(made.error()));

    const std::string lock_path = directory + "/lock";
    Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock)
        return fail(system_error(errno, fmt::format("cannot open {}", lock_path),
                                 "the state directory must be one that can be written: name another with --state-dir"));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        const std::string by = holder(lock_path);
        if (lock_timeout > 0 && waiting)
            waiting(fmt::format("waiting up to {} s for {}, which holds the lock of {}", lock_timeout, by, tunnel));
        bool locked = false;
        if (lock_timeout > 0) {
            const Alarm alarm(lock_timeout);
            const auto stop = [&] { return interrupted && interrupted(); };
            while (!stop() && !(locked = ::flock(lock.get(), LOCK_EX) == 0) && errno == EINTR && !alarm.over()) {
            }
            if (!locked && stop())
                return fail(failure(fmt::format("interrupted while waiting for {}, which holds the lock of {}", by, tunnel)));
        }
        if (!locked)
            return fail(failure(fmt::format("{} holds the lock of {} ({})", by, tunnel, lock_path),
                                fmt::format("another mape-gen is at work; waited {} s (--lock-timeout)", lock_timeout)));
    }
    // Read-only or full file systems fail here, before anything was changed.
    const std::string pid = fmt::format("{}", ::getpid());
    if (::ftruncate(lock.get(), 0) != 0)
        return fail(system_error(errno, fmt::format("cannot write {}", lock_path)));
    if (auto written = write_all(lock.get(), pid, lock_path); !written)
        return fail(std::move(written.error()));
    return StateDir(directory, std::move(lock));
}

void StateDir::remove(const std::string& name) const
{
    ::unlink(path(name).c_str());
}

}  // namespace mape
