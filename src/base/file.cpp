#include "base/file.h"

#include "base/fd.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mape {

Result<std::string> read_file(const std::string& path, std::size_t limit, bool follow)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (follow ? 0 : O_NOFOLLOW)));
    if (!fd)
        return fail(system_error(errno, fmt::format("cannot read {}", path)));
    std::string text;
    char buffer[16384];
    for (;;) {
        const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(system_error(errno, fmt::format("cannot read {}", path)));
        if (count == 0)
            return text;
        text.append(buffer, static_cast<std::size_t>(count));
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

Result<void> replace_file(const std::string& path, const std::string& text)
{
    const std::string temporary = path + ".new";
    ::unlink(temporary.c_str());
    const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd)
        return fail(system_error(errno, fmt::format("cannot create {}", temporary)));
    if (auto written = write_all(fd.get(), text, temporary); !written) {
        ::unlink(temporary.c_str());
        return written;
    }
    if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return fail(system_error(error, fmt::format("cannot replace {}", path)));
    }
    return sync_directory_of(path);
}

}  // namespace mape
