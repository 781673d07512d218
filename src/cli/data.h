// The shipped data and the user's own tables, from disk.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/invocation.h"
#include "map/rule_table.h"

namespace mape::cli {

/// --data-dir, else $MAPE_GEN_DATA, else the directory compiled in. It holds isp/ and schema/.
[[nodiscard]] std::string data_dir(const Flags& flags);

/// DATA/isp/*.tsv and then the user's config_dir()/isp/*.tsv, which win. No table at all is an error that names both directories.
[[nodiscard]] Result<RuleTables> load_rule_tables(const Flags& flags);

}  // namespace mape::cli
