#include "sysctl/sysctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "base/fd.h"

namespace mape {

namespace {

// The longest values of /proc/sys (lists of ports, of congestion controls) stay below this.
constexpr std::size_t longest_value = 64 * 1024;

bool is_normalised(std::string_view key)
{
    if (key.empty() || key.find('\0') != std::string_view::npos)
        return false;
    for (std::size_t start = 0; start <= key.size();) {
        const std::size_t end = std::min(key.find('/', start), key.size());
        const std::string_view component = key.substr(start, end - start);
        if (component.empty() || component == "." || component == "..")
            return false;
        start = end + 1;
    }
    return true;
}

Fd open_retrying(const std::string& path, int flags)
{
    for (;;) {
        Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
        if (fd || errno != EINTR)
            return fd;
    }
}

}  // namespace

Result<std::string> Sysctl::path(std::string_view key) const
{
    if (!is_normalised(key))
        return fail(input_error(fmt::format("\"{}\" is not a sysctl key: names with single slashes between them, "
                                            "as in net/ipv4/ip_forward",
                                            key)));
    return fmt::format("{}/{}", root_, key);
}

Result<std::string> Sysctl::read(std::string_view key) const
{
    const auto file = path(key);
    if (!file)
        return fail(file.error());
    const auto failed = [key] { return fail(system_error(errno, fmt::format("cannot read sysctl {}", key))); };
    const Fd fd = open_retrying(*file, O_RDONLY);
    if (!fd)
        return failed();
    std::string value;
    for (;;) {
        char part[4096];
        const ssize_t size = ::read(fd.get(), part, sizeof part);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return failed();
        if (size == 0)
            break;
        value.append(part, static_cast<std::size_t>(size));
        if (value.size() > longest_value)
            return fail(failure(fmt::format("cannot read sysctl {}: longer than {} bytes", key, longest_value)));
    }
    if (value.ends_with('\n'))
        value.pop_back();
    return value;
}

Result<void> Sysctl::write(std::string_view key, std::string_view value) const
{
    const auto file = path(key);
    if (!file)
        return fail(file.error());
    const auto failed = [key, value](int errnum) {
        return fail(system_error(errnum, fmt::format("cannot write sysctl {} = {}", key, value)));
    };
    const Fd fd = open_retrying(*file, O_WRONLY | O_TRUNC);
    if (!fd)
        return failed(errno);
    const std::string line = fmt::format("{}\n", value);
    for (;;) {
        // One call: the kernel takes each write for a whole value.
        const ssize_t size = ::write(fd.get(), line.data(), line.size());
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return failed(errno);
        if (static_cast<std::size_t>(size) != line.size())
            return failed(EIO);
        return {};
    }
}

Result<std::map<std::string, std::string>> Sysctl::ipv4_forwarding_side_effects() const
{
    std::map<std::string, std::string> values;
    const auto take = [&](const std::string& key) -> Result<void> {
        auto value = read(key);
        if (!value)
            return fail(value.error());
        values.emplace(key, std::move(*value));
        return {};
    };
    const std::string redirects = "net/ipv4/conf/all/accept_redirects";
    if (auto taken = take(redirects); !taken)
        return fail(taken.error());
    const std::string directory = fmt::format("{}/net/ipv4/conf", root_);
    std::error_code code;
    for (std::filesystem::directory_iterator it(directory, code), end; !code && it != end; it.increment(code)) {
        const std::string device = it->path().filename().string();
        if (device == "all")
            continue;
        if (auto taken = take(fmt::format("net/ipv4/conf/{}/forwarding", device)); !taken && taken.error().errnum != ENOENT)
            return fail(taken.error());
    }
    if (code)
        return fail(system_error(code.value(), fmt::format("cannot list {}", directory)));
    return values;
}

}  // namespace mape
