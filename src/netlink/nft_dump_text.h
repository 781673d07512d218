// One table's dump as text lines, built from the kernel's messages alone: no socket here. Not for others than nft_dump.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "netlink/nft_messages.h"
#include "nft/ruleset.h"

namespace mape::netlink {

/// What dump_table() returns, as it grows. The kernel answers for each kind of object on its own: for each Part in the order
/// of `parts` add() all messages, then finish(); then the same for the elements of each set.
class TableText {
public:
    enum class Part { table, objects, flowtables, chains, sets, rules };
    static constexpr std::array parts{Part::table, Part::objects, Part::flowtables,
                                      Part::chains, Part::sets,   Part::rules};

    explicit TableText(nft::TableName table);

    /// What to ask the kernel.
    [[nodiscard]] Message request(Part part) const;
    /// One message of the answer; one about another table is passed over. Error: attributes that lie about their length.
    [[nodiscard]] Result<void> add(Part part, const nlmsghdr& message);
    /// Forgets what add() has taken since the last finish(): the kernel starts over.
    void restart(Part part);
    void finish(Part part);

    /// Once the table's own part is finished: whether there is such a table.
    [[nodiscard]] bool exists() const { return !lines_.empty(); }

    /// Once the rules are finished, for each set below set_count(): the same again.
    [[nodiscard]] std::size_t set_count() const { return sets_.size(); }
    [[nodiscard]] const std::string& set_name(std::size_t set) const { return sets_[set].name; }
    [[nodiscard]] static Message elements_request(const nft::TableName& table, const std::string& set);
    [[nodiscard]] Result<void> add_elements(std::size_t set, const nlmsghdr& message);
    void restart_elements() { found_.clear(); }
    void finish_elements(std::size_t set);

    [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

private:
    struct Found {
        std::string chain;  ///< of a rule
        std::string line;
    };
    struct Set {
        std::string name;
        std::string line;   ///< its attributes
        std::string title;  ///< of its elements' lines: the name, or the rule that uses an anonymous one
        bool anonymous;
    };
    [[nodiscard]] Set* find_set(const std::string& name);
    [[nodiscard]] Result<void> append_expressions(std::string& line, const std::string& title,
                                                  std::span<const std::byte> bytes);

    nft::TableName table_;
    std::uint8_t family_;
    std::vector<Found> found_;  ///< by add() since the last finish()
    std::map<std::string, unsigned> rule_numbers_;  ///< of the last rule, by chain
    std::vector<Set> sets_;
    std::vector<std::string> lines_;
};

}  // namespace mape::netlink
