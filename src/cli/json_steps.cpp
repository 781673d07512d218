#include "cli/tunnel_text.h"

#include <nlohmann/json.hpp>

namespace mape::cli {

nlohmann::ordered_json steps_json(const std::vector<Step>& steps)
{
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const Step& step : steps) {
        // The journal's form, less what only the kernel reads.
        auto object = nlohmann::ordered_json::parse(to_json(step));
        for (const char* side : {"from", "to"})
            if (object[side].is_object())
                object[side].erase("batch");
        nlohmann::ordered_json row;
        row["words"] = to_words(step);
        row["commands"] = to_shell(step);
        row["step"] = std::move(object);
        array.push_back(std::move(row));
    }
    return array;
}

}  // namespace mape::cli
