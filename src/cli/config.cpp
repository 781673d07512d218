#include "cli/config.h"

#include "cli/suggest.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <sys/stat.h>

#include "base/fd.h"

namespace mape::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t largest_file = 1024 * 1024;

std::string base_name(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string join(std::span<const std::string_view> list, std::string_view before, std::string_view after)
{
    std::string text;
    for (const std::string_view item : list)
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", before, item, after);
    return text;
}

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A value in a message: without control characters, and not all of a long one.
std::string printable(std::string_view text)
{
    std::string shown;
    for (const char c : text.substr(0, 80))
        shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return text.size() > 80 ? shown + "..." : shown;
}

// One pass over one file; keeps what the next line needs to know.
class Parser {
public:
    explicit Parser(const std::string& file) : file_(file) {}

    void line(std::string_view text, unsigned number)
    {
        number_ = number;
        key_.clear();
        text = trim(text);
        if (text.empty() || text.front() == '#' || text.front() == ';')
            return;
        const std::string_view bare = trim(text.substr(0, text.find('#')));
        if (bare.front() == '[') {
            header(bare);
            return;
        }
        // Boost's reader of one line: comment, blanks and '=' are its to judge. It gets the section with each line, which
        // keeps the line number ours.
        std::istringstream stream(std::string(text) + "\n");
        try {
            for (const po::option& option : po::parse_config_file(stream, po::options_description(), true).options)
                key(option.string_key, option.value.empty() ? std::string{} : option.value.front());
        } catch (const po::error&) {
            error(fmt::format("\"{}\" is neither a [section] nor a key = value", printable(text)), "");
        }
    }

    ConfigText take() { return std::move(result_); }

private:
    void header(std::string_view text)
    {
        section_.clear();
        state_ = State::unknown;
        const auto end = text.find(']');
        if (end == std::string_view::npos || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                                                    1) != end) {
            error(fmt::format("\"{}\" is not a section such as [map]", printable(text)), "");
            return;
        }
        const std::string_view name = text.substr(1, end - 1);
        if (end + 1 != text.size()) {
            error(fmt::format("\"{}\": a section stands on a line of its own", printable(text)), "");
            return;
        }
        const auto known = option_sections();
        if (std::find(known.begin(), known.end(), name) != known.end()) {
            section_ = name;
            state_ = State::known;
            return;
        }
        const auto near = nearest_word(name, known);
        error(fmt::format("[{}] is not a section; there are {}", name, join(known, "[", "]")),
              near ? fmt::format("did you mean [{}]?", *near) : "");
    }

    void key(const std::string& name, std::string value)
    {
        const std::string_view bare = trim(value);
        key_ = name;
        if (name.empty()) {
            error(fmt::format("\"= {}\": the key is missing before the =", printable(bare)), "");
            return;
        }
        const OptionRow* row = find_option(name);
        if (!row) {
            // A foreign or misspelt name: the section says little about what was meant, all keys are looked at.
            error(fmt::format("{} is not a key", printable(name)), suggestion(name, option_names(), ""));
            return;
        }
        if (state_ == State::unknown)
            return;  // the section was the error
        if (state_ == State::none) {
            error(fmt::format("{} stands before any section", name), fmt::format("it belongs into [{}]", row->section));
            return;
        }
        if (section_ != row->section) {
            error(fmt::format("{} does not belong into [{}]", name, section_), fmt::format("it belongs into [{}]", row->section));
            return;
        }
        if (!row->repeatable) {
            const auto [before, first] = lines_.try_emplace(row->name, number_);
            if (!first) {
                error(fmt::format("{} stands twice; it is in line {} too", name, before->second), "keep one of them");
                return;
            }
        }
        result_.assignments.push_back({row, std::string(bare), fmt::format("{}:{}", base_name(file_), number_),
                                       fmt::format("{}:{}: [{}] {} ={}{}", file_, number_, row->section, row->name,
                                                   bare.empty() ? "" : " ", printable(bare)),
                                       file_, number_});
    }

    void error(const std::string& sentence, const std::string& hint)
    {
        result_.errors.push_back({input_error(fmt::format("{}:{}: {}", file_, number_, sentence), hint), file_, number_, key_});
    }

    const std::string& file_;
    unsigned number_ = 0;
    enum class State { none, unknown, known } state_ = State::none;  // of the section the line stands in
    std::string section_;
    std::string key_;
    std::map<std::string_view, unsigned> lines_;
    ConfigText result_;
};

Error unreadable(const std::string& path, int errnum)
{
    Error error = system_error(errnum, fmt::format("cannot read {}", path));
    // What the user named and does not exist, or is no file, is bad input; permission stays a matter of privilege.
    if (error.kind == ErrorKind::failed)
        error.kind = ErrorKind::input;
    return error;
}

}  // namespace

ConfigText parse_config(std::string_view text, const std::string& file)
{
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    Parser parser(file);
    unsigned number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        parser.line(line, ++number);
    }
    return parser.take();
}

Result<std::string> read_text_file(const std::string& path)
{
    // O_NONBLOCK: a FIFO named by mistake must not hang the boot.
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd)
        return fail(unreadable(path, errno));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0)
        return fail(unreadable(path, errno));
    if (S_ISDIR(info.st_mode))
        return fail(input_error(fmt::format("{} is a directory, not a file", path)));
    std::string text;
    char buffer[16384];
    for (;;) {
        const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(unreadable(path, errno));
        if (got == 0)
            break;
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > largest_file)
            return fail(input_error(fmt::format("{} is larger than 1 MiB: that is no configuration file", path)));
    }
    const auto control = std::find_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
    });
    if (control != text.end()) {
        const bool wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
        const std::string byte = *control == '\0' ? "NUL byte"
                                                  : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(*control));
        return fail(input_error(fmt::format("{}:{}: a {}: this is not a text file", path,
                                            1 + std::count(text.begin(), control, '\n'), byte),
                                wide ? "it looks like UTF-16: save it as UTF-8" : ""));
    }
    return text;
}

std::string config_dir()
{
    const char* dir = std::getenv("MAPE_GEN_CONFIG_DIR");
    return dir && *dir ? dir : "/etc/mape-gen";
}

std::string default_config_file(const std::string& name)
{
    return fmt::format("{}/{}.conf", config_dir(), name);
}

Result<std::vector<std::string>> list_files(const std::string& directory, std::string_view ending)
{
    std::vector<std::string> files;
    DIR* dir = ::opendir(directory.c_str());
    if (!dir) {
        if (errno == ENOENT)
            return files;
        return fail(unreadable(directory, errno));
    }
    while (const dirent* entry = ::readdir(dir)) {
        const std::string_view name = entry->d_name;
        if (name.ends_with(ending) && !name.starts_with('.'))
            files.push_back(fmt::format("{}/{}", directory, name));
    }
    ::closedir(dir);
    std::sort(files.begin(), files.end());
    return files;
}

Result<std::vector<std::string>> default_config_files(const std::string& name)
{
    const std::string main = default_config_file(name);
    auto dropins = list_files(main + ".d", ".conf");
    if (!dropins)
        return dropins;
    struct stat info {};
    if (::stat(main.c_str(), &info) == 0 || errno != ENOENT)
        dropins->insert(dropins->begin(), main);
    return dropins;
}

Result<ConfigText> read_config(const std::vector<std::string>& files)
{
    ConfigText all;
    for (const std::string& file : files) {
        const auto text = read_text_file(file);
        if (!text)
            return fail(text.error());
        ConfigText one = parse_config(*text, file);
        for (const Assignment& later : one.assignments)
            if (!later.row->repeatable)
                std::erase_if(all.assignments, [&](const Assignment& earlier) { return earlier.row == later.row; });
        std::move(one.assignments.begin(), one.assignments.end(), std::back_inserter(all.assignments));
        std::move(one.errors.begin(), one.errors.end(), std::back_inserter(all.errors));
    }
    return all;
}

Settings make_settings(const ConfigText& config, const std::vector<Assignment>& options, std::vector<ConfigError>& errors)
{
    Settings settings;
    const auto set = [&](const Assignment& assignment) {
        if (auto done = set_option(*assignment.row, settings, assignment.value); !done) {
            errors.push_back({with_context(assignment.context, done.error()), assignment.file, assignment.line,
                              std::string(assignment.row->name)});
            return;
        }
        settings.origins[std::string(assignment.row->name)] = assignment.origin;
    };
    for (const Assignment& assignment : config.assignments) {
        const bool overruled = std::any_of(options.begin(), options.end(),
                                           [&](const Assignment& option) { return option.row == assignment.row; });
        if (!overruled)
            set(assignment);
    }
    for (const Assignment& option : options)
        set(option);
    if (errors.empty() && config.errors.empty())
        for (Error& error : check_settings(settings))
            errors.push_back({std::move(error), {}, 0, {}});
    return settings;
}

Error first_of(const std::vector<ConfigError>& errors)
{
    Error error = errors.front().error;
    const auto add = [&](const std::string& line) { error.hint += (error.hint.empty() ? "" : "\n  ") + line; };
    if (errors.front().file.empty()) {
        for (std::size_t i = 1; i < errors.size(); ++i)
            add("and " + errors[i].error.message);
    } else if (errors.size() > 1) {
        add(fmt::format("{} more {} wrong: mape-gen check {} lists all", errors.size() - 1,
                        errors.size() == 2 ? "thing is" : "things are", errors.front().file));
    }
    return error;
}

}  // namespace mape::cli
