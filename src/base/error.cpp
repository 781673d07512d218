#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace mape {

Error input_error(std::string message, std::string hint)
{
    return {ErrorKind::input, std::move(message), 0, {}, std::move(hint)};
}

Error system_error(int errnum, std::string message, std::string hint)
{
    const bool denied = errnum == EPERM || errnum == EACCES;
    return {denied ? ErrorKind::privilege : ErrorKind::failed, std::move(message), errnum, {}, std::move(hint)};
}

Error failure(std::string message, std::string hint)
{
    return {ErrorKind::failed, std::move(message), 0, {}, std::move(hint)};
}

std::string to_text(const Error& error)
{
    std::string text = error.message;
    if (error.errnum != 0)
        text += fmt::format(": {}", std::strerror(error.errnum));
    if (!error.kernel_message.empty())
        text += fmt::format(" (kernel: {})", error.kernel_message);
    if (!error.hint.empty())
        text += "\n  " + error.hint;
    return text;
}

Error with_context(std::string_view context, Error error)
{
    error.message = fmt::format("{}: {}", context, error.message);
    return error;
}

}  // namespace mape
