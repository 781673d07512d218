// The configuration file: INI, read line by line so that an error knows its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apply/settings.h"
#include "base/result.h"
#include "cli/options.h"

namespace mape::cli {

/// One `key = value`, from a file or argv; the value is not interpreted yet.
struct Assignment {
    const OptionRow* row;
    std::string value;
    std::string origin;   ///< "mape0.conf:7", "--mtu": for Settings::origins
    std::string context;  ///< "/etc/mape-gen/mape0.conf:7: [tunnel] mtu = 70000", "--mtu 70000": starts an error's sentence
    std::string file;     ///< empty: argv
    unsigned line = 0;
};

/// An error with where it is, for `check --json`; `error.message` names file, line and key already.
struct ConfigError {
    Error error;
    std::string file;
    unsigned line = 0;  ///< 0: the file as a whole
    std::string key;    ///< empty: no single key
};

struct ConfigText {
    std::vector<Assignment> assignments;
    std::vector<ConfigError> errors;
};

/// Sections, keys, lines; every error of the text, not only the first. `file` is the name for messages. CRLF and a
/// UTF-8 byte order mark are fine; '#' starts a comment anywhere, ';' at the start of a line. A key that is not repeatable and stands
/// twice is an error that names both lines; an unknown key or one in the wrong section says which was meant.
[[nodiscard]] ConfigText parse_config(std::string_view text, const std::string& file);

/// The content of a file of at most 1 MiB; a directory, a binary file, one that cannot be read: each its own sentence.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

/// Paths of the files in `directory` that end so, sorted by name, hidden ones left out; none where there is no such directory.
[[nodiscard]] Result<std::vector<std::string>> list_files(const std::string& directory, std::string_view ending);

/// $MAPE_GEN_CONFIG_DIR, else /etc/mape-gen.
[[nodiscard]] std::string config_dir();
/// DIR/NAME.conf
[[nodiscard]] std::string default_config_file(const std::string& name);
/// The default file of NAME, if it is there, and then NAME.conf.d/*.conf, sorted by name.
[[nodiscard]] Result<std::vector<std::string>> default_config_files(const std::string& name);

/// Reads `files` in order; of a key that is not repeatable a later file wins, repeatable ones add up.
[[nodiscard]] Result<ConfigText> read_config(const std::vector<std::string>& files);

/// File first, then options; a key that `options` hold is taken from there alone. Each setter's error is added to
/// `errors`; so are those of check_settings(), where nothing else is wrong.
[[nodiscard]] Settings make_settings(const ConfigText& config, const std::vector<Assignment>& options,
                                     std::vector<ConfigError>& errors);

/// One Error out of several: the first, and in its hint the others (of options) or how many there are and what lists them.
[[nodiscard]] Error first_of(const std::vector<ConfigError>& errors);

}  // namespace mape::cli
