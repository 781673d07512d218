// Rule tables of providers: profiles/isp/*.tsv and the user's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "map/map_rule.h"
#include "net/address.h"

namespace mape {

enum class Confidence { complete, believed_complete, partial, unverified, user };
[[nodiscard]] std::string_view to_text(Confidence confidence);

/// One line of a table.
struct RuleRow {
    std::string isp;
    MapRule rule;
    std::optional<Ipv6Address> br;
    std::optional<unsigned> mtu;  ///< of the tunnel
    Confidence confidence;
    std::string source;           ///< where the row comes from, as its file says
    std::string file;             ///< name of the table's file
    unsigned line;
};

/// A table as text, parsed. Columns, separated by tabs, by the names in the first line that is not a comment: isp rule_ipv6
/// rule_ipv4 ea_length psid_offset br iid tunnel_mtu confidence source; br, tunnel_mtu, confidence (user) and source may be
/// empty or missing; '#' starts a comment line. An error names `file_name` and the line. CRLF is accepted.
[[nodiscard]] Result<std::vector<RuleRow>> parse_rule_table(std::string_view text, std::string_view file_name);

/// All rows, with the rows of user tables winning over shipped rows of the same rule IPv6 prefix.
class RuleTables {
public:
    /// Adds the rows of one table; `users` ones win. `file_name` is remembered for searched_files().
    void add(std::vector<RuleRow> rows, std::string file_name, bool users);

    [[nodiscard]] const std::vector<RuleRow>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::string>& searched_files() const { return files_; }

    /// Longest rule IPv6 prefix that holds `prefix` (and is long enough: n + o <= its length); in `isp` only, if given.
    [[nodiscard]] const RuleRow* find(const Ipv6Prefix& prefix, std::string_view isp = {}) const;
    /// Longest rule IPv4 prefix that holds `address`.
    [[nodiscard]] const RuleRow* find(Ipv4Address address, std::string_view isp = {}) const;
    /// Known border relays, each once.
    [[nodiscard]] std::vector<Ipv6Address> border_relays() const;

private:
    std::vector<RuleRow> rows_;
    std::vector<bool> users_;
    std::vector<std::string> files_;
};

}  // namespace mape
