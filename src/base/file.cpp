#include "base/file.h"

#include "base/fd.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mape {

Result<std::string> read_file(const std::string& path, std::size_t limit, bool follow)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (follow ? 0 : O_NOFOLLOW | O_NONBLOCK)));
    if (!fd)
        return fail(system_error(errno, fmt::format("cannot read {}", path)));
    struct stat info {};
    const bool known = ::fstat(fd.get(), &info) == 0;
    if (!follow && !(known && S_ISREG(info.st_mode)))
        return fail(failure(fmt::format("cannot read {}: it is not a regular file", path)));
    // The size it says is a hint: files of /proc say 0, and others may grow.
    constexpr std::size_t least = 16384;
    const std::size_t hint = known && info.st_size > 0 ? static_cast<std::size_t>(info.st_size) + 1 : 0;
    std::vector<char> buffer(std::min(std::max(hint, least), limit + 1));
    std::string text;
    for (;;) {
        const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(system_error(errno, fmt::format("cannot read {}", path)));
        if (count == 0)
            return text;
        text.append(buffer.data(), static_cast<std::size_t>(count));
        if (text.size() > limit)
            return fail(failure(fmt::format("{} is larger than {} bytes", path, limit)));
    }
}

Result<void> write_all(int fd, const std::string& text, const std::string& path)
{
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(system_error(errno, fmt::format("cannot write {}", path)));
        done += static_cast<std::size_t>(count);
    }
    return {};
}

Result<void> sync_directory_of(const std::string& path)
{
    const auto slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0)
        return fail(system_error(errno, fmt::format("cannot sync the directory {}", directory)));
    return {};
}

Result<void> reserve(int fd, std::size_t size, const std::string& path)
{
    struct stat info {};
    if (::fstat(fd, &info) != 0)
        return fail(system_error(errno, fmt::format("cannot look at {}", path)));
    int failed = 0;
    do
        failed = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, static_cast<off_t>(size));
    while (failed != 0 && errno == EINTR);
    if (failed == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return {};
    return fail(system_error(errno, fmt::format("cannot reserve {} bytes for {}", size, path)));
}

Result<Replacement> Replacement::make(std::string path, std::size_t size)
{
    Replacement replacement(std::move(path), Fd());
    const std::string temporary = replacement.temporary();
    ::unlink(temporary.c_str());
    replacement.fd_ = Fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!replacement.fd_)
        return fail(system_error(errno, fmt::format("cannot create {}", temporary)));
    if (size > 0)
        if (auto reserved = reserve(replacement.fd_.get(), size, temporary); !reserved)
            return fail(std::move(reserved.error()));
    return replacement;
}

Replacement::Replacement(Replacement&& other) noexcept : path_(std::move(other.path_)), fd_(std::move(other.fd_)) {}

Replacement::~Replacement()
{
    if (fd_)
        ::unlink(temporary().c_str());
}

Result<void> Replacement::put(const std::string& text)
{
    if (auto written = write_all(fd_.get(), text, temporary()); !written)
        return written;
    // What was reserved beyond the end is given back.
    (void)!::ftruncate(fd_.get(), static_cast<off_t>(text.size()));
    if (::fsync(fd_.get()) != 0 || ::rename(temporary().c_str(), path_.c_str()) != 0)
        return fail(system_error(errno, fmt::format("cannot replace {}", path_)));
    fd_ = {};
    return sync_directory_of(path_);
}

Result<void> replace_file(const std::string& path, const std::string& text)
{
    auto replacement = Replacement::make(path, 0);
    if (!replacement)
        return fail(std::move(replacement.error()));
    return replacement->put(text);
}

}  // namespace mape
