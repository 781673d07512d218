// Pieces of the --json documents. nlohmann/json.hpp is included by json_*.cpp only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/config.h"
#include "cli/output.h"
#include "map/line.h"

namespace mape::cli {

/// `schema` of every document; fields are only added, so it stays 1.
inline constexpr int json_schema = 1;

/// {"schema":1, FIELDS..., "changed":..., "warnings":[...], "error":null or {kind,message,errno,kernel_message,hint}}.
/// `fields` may be null (a failure before the command had any): then each of `names` is null.
[[nodiscard]] nlohmann::ordered_json envelope(const nlohmann::ordered_json* fields, std::string_view names, bool changed,
                                              const std::vector<std::string>& warnings, const Error* error);

/// As one line, for NDJSON, and with a line a field; both end in a newline. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string to_line(const nlohmann::ordered_json& document);
[[nodiscard]] std::string to_document(const nlohmann::ordered_json& document);

/// The fields of `calc --json` (design.md section 2), without the envelope. `explain` fills `explain`, else it is null.
[[nodiscard]] nlohmann::ordered_json line_fields(const Line& line, unsigned mtu, bool explain);

/// Those fields as the command's document.
void set_line(Output& output, const Line& line, unsigned mtu, bool explain);
/// One line of `calc -`: a whole document, of a result or of a failure.
[[nodiscard]] std::string ndjson_line(const Line& line, unsigned mtu, bool explain);
[[nodiscard]] std::string ndjson_error(std::string_view names, const Error& error);

/// `isp list` fills `isps`, the others `rows`; the other one is null.
struct IspSummary {
    std::string name;
    std::size_t rows;
    std::vector<std::string> confidences;  ///< each once
    std::vector<std::string> files;        ///< each once
};
void set_isps(Output& output, const std::vector<IspSummary>& isps);
void set_rows(Output& output, const std::vector<const RuleRow*>& rows);

void set_ruleset(Output& output, const std::string& tunnel, const std::string& table, const std::string& ruleset);

/// `line` is null where the prefix is not stated or the configuration is wrong.
void set_check(Output& output, const std::vector<std::string>& files, const std::vector<ConfigError>& errors,
               const std::vector<std::string>& unchecked, const Line* line, unsigned mtu);

}  // namespace mape::cli
