#include "cli/output.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace mape::cli {

namespace {

// Whoever reads the messages may be gone; that is no reason to stop half way, and nowhere is left to say so.
void say(const std::string& line)
{
    std::fputs(line.c_str(), stderr);
}

}  // namespace

void Output::configure(const Flags& flags)
{
    json_ = flags.json;
    verbose_ = flags.verbose;
    quiet_ = flags.quiet;
}

void Output::print(std::string_view text)
{
    if (!json_)
        write(text);
}

void Output::write(std::string_view text)
{
    constexpr std::size_t enough = 64 * 1024;
    buffer_ += text;
    if (buffer_.size() >= enough)
        flush();
}

void Output::flush()
{
    std::string_view rest = buffer_;
    while (!rest.empty() && errnum_ == 0) {
        const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            errnum_ = errno;
    }
    buffer_.clear();
}

void Output::warn(std::string_view sentence)
{
    warnings_.emplace_back(sentence);
    if (json_)
        return;
    // What was printed before stays before it when both go to one terminal or file.
    flush();
    say(fmt::format("mape-gen: {}: {}\n", emphasis("warning", stderr), sentence));
}

void Output::note(std::string_view sentence)
{
    if (json_ || quiet_)
        return;
    flush();
    say(fmt::format("mape-gen: {}\n", sentence));
}

void Output::detail(std::string_view sentence)
{
    if (verbose_)
        note(sentence);
}

void Output::error(const Error& error)
{
    flush();
    say(fmt::format("{}: {}\n", emphasis("mape-gen", stderr), to_text(error)));
}

Result<void> Output::finish()
{
    flush();
    if (errnum_ != 0)
        return fail(Error{ErrorKind::failed, "cannot write to standard output", errnum_, {}, {}});
    return {};
}

std::vector<std::string> Output::take_warnings()
{
    return std::exchange(warnings_, {});
}

std::string emphasis(std::string_view text, std::FILE* stream)
{
    const char* no_color = std::getenv("NO_COLOR");
    if ((no_color && *no_color) || ::isatty(::fileno(stream)) == 0)
        return std::string(text);
    return fmt::format("\x1b[1m{}\x1b[0m", text);
}

}  // namespace mape::cli
