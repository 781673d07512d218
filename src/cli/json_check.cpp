#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace mape::cli {

using nlohmann::ordered_json;

void set_check(Output& output, const std::vector<std::string>& files, const std::vector<ConfigError>& errors,
               const std::vector<std::string>& unchecked, const Line* line, unsigned mtu)
{
    ordered_json list = ordered_json::array();
    for (const ConfigError& error : errors)
        list.push_back({{"file", error.file.empty() ? ordered_json(nullptr) : ordered_json(error.file)},
                        {"line", error.line == 0 ? ordered_json(nullptr) : ordered_json(error.line)},
                        {"key", error.key.empty() ? ordered_json(nullptr) : ordered_json(error.key)},
                        {"message", error.error.message},
                        {"hint", error.error.hint.empty() ? ordered_json(nullptr) : ordered_json(error.error.hint)}});
    output.set_json({{"files", files},
                     {"valid", errors.empty()},
                     {"errors", list},
                     {"unchecked", unchecked},
                     {"line", line ? line_fields(*line, mtu, false) : ordered_json(nullptr)}});
}

}  // namespace mape::cli
