#include "nft/batch.h"

#include <functional>
#include <new>
#include <string>
#include <unordered_map>

#include <fmt/format.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "nft/batch_messages.h"
#include "nft/batch_rule.h"
#include "nft/batch_sets.h"
#include "nft/text.h"

namespace mape::nft {

namespace {

constexpr std::uint16_t create = NLM_F_CREATE;
constexpr std::uint16_t append = NLM_F_CREATE | NLM_F_APPEND;

/// As much of a rule as an error message can bear.
constexpr std::size_t longest_rule_text = 160;

void checked(int result)
{
    if (result < 0)
        throw std::bad_alloc();
}

std::uint32_t number_of(Hook hook)
{
    switch (hook) {
    case Hook::prerouting: return NF_INET_PRE_ROUTING;
    case Hook::input: return NF_INET_LOCAL_IN;
    case Hook::forward: return NF_INET_FORWARD;
    case Hook::output: return NF_INET_LOCAL_OUT;
    case Hook::postrouting: return NF_INET_POST_ROUTING;
    case Hook::ingress: return NF_NETDEV_INGRESS;
    case Hook::egress: return NF_NETDEV_EGRESS;
    }
    return 0;
}

const char* name_of(Base::Type type)
{
    switch (type) {
    case Base::Type::filter: return "filter";
    case Base::Type::nat: return "nat";
    }
    return "";
}

TableHandle table_object(const std::string& name)
{
    TableHandle made = owned<TableHandle>(nftnl_table_alloc());
    checked(nftnl_table_set_str(made.get(), NFTNL_TABLE_NAME, name.c_str()));
    return made;
}

/// Adding a table that exists changes nothing; then it is there to be deleted.
void add_delete(Messages& messages, const TableName& table)
{
    const TableHandle object = table_object(table.name);
    messages.add(NFT_MSG_DELTABLE, table.family, 0, [&] { return "delete the old table " + to_text(table); },
                 [&](nlmsghdr* message) { nftnl_table_nlmsg_build_payload(message, object.get()); });
}

void add_table(Messages& messages, const TableName& table, const std::string& comment, const char* what)
{
    const TableHandle object = table_object(table.name);
    nftnl_table_set_u32(object.get(), NFTNL_TABLE_FLAGS, 0);
    if (!comment.empty()) {
        const UserData data = comment_data(NFTNL_UDATA_TABLE_COMMENT, comment);
        checked(nftnl_table_set_data(object.get(), NFTNL_TABLE_USERDATA, data.data(), data.size()));
    }
    messages.add(NFT_MSG_NEWTABLE, table.family, 0, [&] { return what + to_text(table); },
                 [&](nlmsghdr* message) { nftnl_table_nlmsg_build_payload(message, object.get()); });
}

/// The contents of one table.
class TableMessages {
public:
    TableMessages(Messages& messages, const Table& table, std::uint32_t& last_set_id)
        : messages_(messages), table_(table), of_table_(" of table " + to_text(table.name)), last_set_id_(last_set_id)
    {
    }

    /// In nft's order: what a rule refers to comes first.
    void add()
    {
        for (const Chain& chain : table_.chains)
            add_chain(chain);
        for (const Counter& counter : table_.counters)
            add_counter(counter);
        for (const VerdictMap& map : table_.maps) {
            maps_.emplace(map.name, MapReference{last_set_id_ + 1, map.interval()});
            add_set(verdict_map(map), [&] { return "map " + map.name + of_table_; });
        }
        // Chains that others go to come first in the model and last here: where a rule or a map is bound the kernel walks all
        // it leads to (nf_tables_api.c, nf_tables_bind_set), and what is still empty is walked at once.
        for (auto chain = table_.chains.rbegin(); chain != table_.chains.rend(); ++chain) {
            unsigned number = 1;
            for (const Rule& rule : chain->rules)
                add_rule(*chain, rule, number++);
        }
    }

private:
    void add_chain(const Chain& chain)
    {
        ChainHandle object = owned<ChainHandle>(nftnl_chain_alloc());
        nftnl_chain* raw = object.get();
        checked(nftnl_chain_set_str(raw, NFTNL_CHAIN_TABLE, table_.name.name.c_str()));
        checked(nftnl_chain_set_str(raw, NFTNL_CHAIN_NAME, chain.name.c_str()));
        if (chain.base) {
            checked(nftnl_chain_set_str(raw, NFTNL_CHAIN_TYPE, name_of(chain.base->type)));
            nftnl_chain_set_u32(raw, NFTNL_CHAIN_HOOKNUM, number_of(chain.base->hook));
            nftnl_chain_set_s32(raw, NFTNL_CHAIN_PRIO, chain.base->priority);
            nftnl_chain_set_u32(raw, NFTNL_CHAIN_POLICY, NF_ACCEPT);
            if (chain.base->device)
                checked(nftnl_chain_set_str(raw, NFTNL_CHAIN_DEV, chain.base->device->str().c_str()));
        }
        if (!chain.comment.empty()) {
            const UserData data = comment_data(NFTNL_UDATA_CHAIN_COMMENT, chain.comment);
            checked(nftnl_chain_set_data(raw, NFTNL_CHAIN_USERDATA, data.data(), data.size()));
        }
        messages_.add(NFT_MSG_NEWCHAIN, table_.name.family, create, [&] { return "add chain " + chain.name + of_table_; },
                      [raw](nlmsghdr* message) { nftnl_chain_nlmsg_build_payload(message, raw); });
    }

    void add_counter(const Counter& counter)
    {
        ObjectHandle object = owned<ObjectHandle>(nftnl_obj_alloc());
        nftnl_obj* raw = object.get();
        nftnl_obj_set_str(raw, NFTNL_OBJ_TABLE, table_.name.name.c_str());
        nftnl_obj_set_str(raw, NFTNL_OBJ_NAME, counter.name.c_str());
        nftnl_obj_set_u32(raw, NFTNL_OBJ_TYPE, NFT_OBJECT_COUNTER);
        nftnl_obj_set_u64(raw, NFTNL_OBJ_CTR_PKTS, 0);
        nftnl_obj_set_u64(raw, NFTNL_OBJ_CTR_BYTES, 0);
        if (!counter.comment.empty()) {
            const UserData data = comment_data(NFTNL_UDATA_OBJ_COMMENT, counter.comment);
            nftnl_obj_set_data(raw, NFTNL_OBJ_USERDATA, data.data(), data.size());
        }
        messages_.add(NFT_MSG_NEWOBJ, table_.name.family, create, [&] { return "add counter " + counter.name + of_table_; },
                      [raw](nlmsghdr* message) { nftnl_obj_nlmsg_build_payload(message, raw); });
    }

    template <class What>
    std::uint32_t add_set(const SetContent& set, const What& what)
    {
        nftnl_set* raw = set.declaration.get();
        checked(nftnl_set_set_str(raw, NFTNL_SET_TABLE, table_.name.name.c_str()));
        nftnl_set_set_u32(raw, NFTNL_SET_ID, ++last_set_id_);
        messages_.add(NFT_MSG_NEWSET, table_.name.family, create, [&] { return "add " + what(); },
                      [raw](nlmsghdr* message) { nftnl_set_nlmsg_build_payload(message, raw); });
        messages_.add_elements(table_.name.family, set, [&] { return "add elements of " + what(); });
        return last_set_id_;
    }

    void add_rule(const Chain& chain, const Rule& rule, unsigned number)
    {
        const auto what = [&] {
            return fmt::format("rule {} {}{}: {}", chain.name, number, of_table_, to_text(rule, longest_rule_text));
        };
        const RuleContext context{
            [&](const SetContent& set) { return add_set(set, [&] { return "the set of " + what(); }); },
            [&](const std::string& name) { return maps_.at(name); },
        };
        RuleHandle object = expressions_of(rule, context);
        nftnl_rule* raw = object.get();
        checked(nftnl_rule_set_str(raw, NFTNL_RULE_TABLE, table_.name.name.c_str()));
        checked(nftnl_rule_set_str(raw, NFTNL_RULE_CHAIN, chain.name.c_str()));
        messages_.add(NFT_MSG_NEWRULE, table_.name.family, append, [&] { return "add " + what(); },
                      [raw](nlmsghdr* message) { nftnl_rule_nlmsg_build_payload(message, raw); });
    }

    Messages& messages_;
    const Table& table_;
    std::string of_table_;
    std::uint32_t& last_set_id_;
    std::unordered_map<std::string, MapReference> maps_;
};

}  // namespace

namespace {

Batch replacing(const Ruleset& ruleset, Messages::WithLabels with_labels)
{
    Messages messages(with_labels);
    std::uint32_t last_set_id = 0;
    for (const Table& table : ruleset.tables) {
        add_table(messages, table.name, {}, "find or make table ");
        add_delete(messages, table.name);
        add_table(messages, table.name, table.comment, "add table ");
        TableMessages(messages, table, last_set_id).add();
    }
    return messages.finish();
}

}  // namespace

Batch replace_batch(const Ruleset& ruleset)
{
    return replacing(ruleset, Messages::WithLabels::yes);
}

std::vector<std::byte> replace_batch_bytes(const Ruleset& ruleset)
{
    return std::move(replacing(ruleset, Messages::WithLabels::no).bytes);
}

Batch delete_batch(const std::vector<TableName>& tables)
{
    Messages messages(Messages::WithLabels::yes);
    for (const TableName& table : tables) {
        add_table(messages, table, {}, "find or make table ");
        add_delete(messages, table);
    }
    return messages.finish();
}

}  // namespace mape::nft
