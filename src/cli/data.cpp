#include "cli/data.h"

#include "cli/config.h"

#include <cstdlib>
#include <fmt/format.h>

namespace mape::cli {

namespace {

Result<void> add_tables(RuleTables& tables, const std::string& directory, bool users)
{
    const auto files = list_files(directory, ".tsv");
    if (!files)
        return fail(files.error());
    for (const std::string& path : *files) {
        const auto text = read_text_file(path);
        if (!text)
            return fail(text.error());
        // A user's file is named with its path: ocn.tsv may be there twice.
        const std::string name = users ? path : path.substr(directory.size() + 1);
        auto rows = parse_rule_table(*text, name);
        if (!rows)
            return fail(rows.error());
        tables.add(std::move(*rows), name, users);
    }
    return {};
}

}  // namespace

std::string data_dir(const Flags& flags)
{
    if (flags.data_dir)
        return *flags.data_dir;
    const char* dir = std::getenv("MAPE_GEN_DATA");
    return dir && *dir ? dir : MAPE_DATA_DIR;
}

Result<RuleTables> load_rule_tables(const Flags& flags)
{
    RuleTables tables;
    const std::string shipped = data_dir(flags) + "/isp";
    const std::string own = config_dir() + "/isp";
    if (auto done = add_tables(tables, shipped, false); !done)
        return fail(done.error());
    if (auto done = add_tables(tables, own, true); !done)
        return fail(done.error());
    if (tables.rows().empty() && flags.data_dir)
        return fail(input_error(fmt::format("no rule table (*.tsv) in {}", shipped), "--data-dir names the directory above isp/"));
    return tables;
}

}  // namespace mape::cli
