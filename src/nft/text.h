// A ruleset as text for `nft -f`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nft/ruleset.h"

namespace mape::nft {

/// Text that `nft -f` (1.0.6 or later) loads as one transaction: each table is replaced as a whole, nothing else is
/// touched. Same ruleset, same text. Comments are nft's own: the kernel keeps them and `nft list` shows them.
[[nodiscard]] std::string to_text(const Ruleset& ruleset);

/// One rule as a line of that text, without comment or line end: "iifname != \"mape0\" accept"; what is longer than `longest`
/// ends there with "...".
[[nodiscard]] std::string to_text(const Rule& rule, std::size_t longest = std::string::npos);

/// "ip mape_mape0", as after the word table.
[[nodiscard]] std::string to_text(const TableName& table);

/// Text that deletes the tables, whether they exist or not.
[[nodiscard]] std::string delete_text(const std::vector<TableName>& tables);

/// "mape-gen VERSION HASH": what every table of `ruleset` carries as its comment. HASH, 16 hexadecimal digits, is of the
/// text of the ruleset with its tables' comments left out: as 64-bit FNV-1a, over words of 8 bytes for the sake of speed.
[[nodiscard]] std::string mark(const Ruleset& ruleset, std::string_view version);

/// A table's comment says that this program made it.
[[nodiscard]] bool is_mark(std::string_view comment);

}  // namespace mape::nft
