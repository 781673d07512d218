// The command line taken apart, nothing interpreted yet.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mape::cli {

/// `value` is empty for an option without one; `name` is the long name.
struct ArgvOption {
    std::string name;
    std::string value;
};

struct Argv {
    std::vector<std::string> words;     ///< the command and its arguments, in order; "-" is a word
    std::vector<ArgvOption> options;
};

/// `--key value` and `--key=value`; abbreviations are not guessed; all behind "--" are words. An unknown option is an error that names the one
/// meant. Whether an option fits the command is for run() to say.
[[nodiscard]] Result<Argv> parse_argv(int argc, const char* const* argv);

}  // namespace mape::cli
