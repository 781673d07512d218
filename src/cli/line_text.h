// A line as text for a person.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "map/line.h"

namespace mape::cli {

/// Names and values in two columns, two blanks between them.
[[nodiscard]] std::string aligned(const std::vector<std::pair<std::string, std::string>>& rows);

/// "1728-1743, 2752-2767 ... 65216-65231, one every 1024", or all of them (`every`).
[[nodiscard]] std::string ranges_text(const PortSet& ports, bool every);

/// The result of `calc`: what the line is, in the order a person asks for it.
[[nodiscard]] std::string line_text(const Line& line, unsigned mtu, bool every_range);

/// `calc --explain`: value and origin of each term.
[[nodiscard]] std::string explained_text(const Line& line);

/// "ocn, believed-complete: SOURCE", "configuration".
[[nodiscard]] std::string rule_source_text(const Line& line);

}  // namespace mape::cli
