// One failure, told so that the reader can act on it.
#pragma once

#include <string>
#include <string_view>

namespace mape {

/// What kind of failure it is; decides the exit code and nothing else.
enum class ErrorKind {
    input,        ///< bad usage, configuration or data: exit 2
    failed,       ///< the box or the kernel said no, and the state is what it was: exit 1
    privilege,    ///< a capability or uid is missing: exit 5
    undo_failed,  ///< failed, and undoing failed too: exit 6
};

/// `message` is one sentence without a final stop: what was being done, with which value, what is allowed.
/// `hint` says what to do about it; empty where nothing can be said.
struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string message;
    int errnum = 0;              ///< errno of the system call or the kernel's reply; 0 where there was none
    std::string kernel_message;  ///< the kernel's own sentence (extended ack), as it was sent
    std::string hint;
};

/// Bad usage or data.
[[nodiscard]] Error input_error(std::string message, std::string hint = {});

/// A system call or a netlink request that the kernel refused with `errnum`.
/// EPERM and EACCES become ErrorKind::privilege.
[[nodiscard]] Error system_error(int errnum, std::string message, std::string hint = {});

/// A failure without an errno.
[[nodiscard]] Error failure(std::string message, std::string hint = {});

/// "message: No such device (kernel: ...)" on the first line, the hint on the next.
[[nodiscard]] std::string to_text(const Error& error);

/// Same error with `context` and ": " before its message.
[[nodiscard]] Error with_context(std::string_view context, Error error);

}  // namespace mape
