// argv to exit code.
#pragma once

namespace mape::cli {

/// Parses, prepares what the command's row asks for, calls it, prints errors and the --json document.
/// Exit codes: design.md section 2 (0 done, 1 failed, 2 bad input, 3 drift or findings, 5 privilege, 6 undo failed).
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace mape::cli
