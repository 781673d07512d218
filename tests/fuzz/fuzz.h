// What the fuzz targets share. Each has one LLVMFuzzerTestOneInput; what it holds true is in HOLDS(), which aborts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/error.h"

#define HOLDS(condition)                                                                            \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);     \
            std::abort();                                                                           \
        }                                                                                           \
    } while (false)

namespace fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

/// A copy in a buffer of just that size, aligned as a datagram is: AddressSanitizer sees a byte too many.
inline std::vector<std::byte> exactly(std::span<const std::uint8_t> bytes)
{
    std::vector<std::byte> copy(bytes.size());
    if (!bytes.empty())
        std::memcpy(copy.data(), bytes.data(), bytes.size());
    return copy;
}

/// An error says something, in every form it is shown in.
inline void check_error(const mape::Error& error)
{
    HOLDS(!error.message.empty());
    HOLDS(to_text(error).starts_with(error.message));
    HOLDS(error.errnum >= 0 && error.errnum <= 4095);
}

/// The input taken off bit by bit; zeros when it is used up.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
    [[nodiscard]] bool empty() const { return rest_.empty(); }
    [[nodiscard]] std::uint8_t u8()
    {
        if (rest_.empty())
            return 0;
        const std::uint8_t value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }
    [[nodiscard]] std::uint16_t u16()
    {
        const unsigned low = u8();
        return static_cast<std::uint16_t>(low | unsigned{u8()} << 8);
    }
    /// At most `size` bytes.
    [[nodiscard]] std::span<const std::uint8_t> bytes(std::size_t size)
    {
        const auto taken = rest_.subspan(0, std::min(size, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    [[nodiscard]] std::span<const std::uint8_t> rest() { return bytes(rest_.size()); }

private:
    std::span<const std::uint8_t> rest_;
};

/// A directory in memory that is gone when the target ends well; for what reads files only.
class Directory {
public:
    Directory()
    {
        if (::mkdtemp(path_.data()) == nullptr) {
            std::perror("mkdtemp in /dev/shm");
            std::abort();
        }
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory()
    {
        for (const std::string& file : files_)
            ::unlink(file.c_str());
        ::rmdir(path_.c_str());
    }
    /// A file in it that may or may not be there.
    [[nodiscard]] std::string path(const std::string& name)
    {
        files_.push_back(path_ + "/" + name);
        return files_.back();
    }

private:
    std::string path_ = "/dev/shm/mape-fuzz-XXXXXX";
    std::vector<std::string> files_;
};

inline void write_file(const std::string& path, std::string_view text)
{
    std::FILE* file = std::fopen(path.c_str(), "w");
    HOLDS(file != nullptr);
    HOLDS(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    HOLDS(std::fclose(file) == 0);
}

}  // namespace fuzz
