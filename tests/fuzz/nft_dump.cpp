// nf_tables read back: any bytes as the messages of a table's dump, part by part, and as everything else that is read.
// Messages follow each other; the type says which part one belongs to, so that a whole recorded dump is one input.
#include "fuzz.h"

#include <algorithm>

#include <linux/netfilter/nf_tables.h>

#include "netlink/nft_dump_parse.h"
#include "netlink/nft_dump_raw.h"
#include "netlink/nft_dump_text.h"

using namespace mape;
using namespace mape::netlink;

namespace {

/// With which this file's seeds are recorded.
const nft::TableName table{nft::Family::ip, "mape_mape0"};

std::vector<const nlmsghdr*> messages_in(std::span<const std::byte> bytes)
{
    std::vector<const nlmsghdr*> messages;
    for (;;) {
        const auto next = next_message(bytes);
        if (!next || *next == nullptr)
            return messages;
        messages.push_back(*next);
    }
}

TableText::Part part_of(const nlmsghdr& message)
{
    switch (message.nlmsg_type & 0xff) {
    case NFT_MSG_NEWOBJ: return TableText::Part::objects;
    case NFT_MSG_NEWFLOWTABLE: return TableText::Part::flowtables;
    case NFT_MSG_NEWCHAIN: return TableText::Part::chains;
    case NFT_MSG_NEWSET: return TableText::Part::sets;
    case NFT_MSG_NEWRULE: return TableText::Part::rules;
    default: return TableText::Part::table;
    }
}

/// nullopt: an error, which was looked at.
template <class T>
std::optional<T> good(Result<T> result)
{
    if (result)
        return std::move(*result);
    fuzz::check_error(result.error());
    return std::nullopt;
}

bool good(const Result<void>& result)
{
    if (!result)
        fuzz::check_error(result.error());
    return result.has_value();
}

/// The dump, as lines_of() in nft_dump_raw.cpp gathers it; nullopt: an error. `interrupted`: the kernel starts each part over.
std::optional<std::vector<std::string>> dump(const std::vector<const nlmsghdr*>& messages, bool interrupted)
{
    TableText text(table);
    for (const TableText::Part part : TableText::parts) {
        HOLDS(!text.request(part).empty());
        for (int pass = interrupted ? 0 : 1; pass < 2; ++pass) {
            for (const nlmsghdr* message : messages)
                if (part_of(*message) == part && !good(text.add(part, *message)))
                    return std::nullopt;
            if (pass == 0)
                text.restart(part);
        }
        text.finish(part);
        if (!text.exists())
            return text.take();
    }
    // Each message of elements goes to one set: which, is the input's to say by its order.
    for (std::size_t set = 0; set < text.set_count(); ++set) {
        HOLDS(!TableText::elements_request(table, text.set_name(set)).empty());
        for (int pass = interrupted ? 0 : 1; pass < 2; ++pass) {
            std::size_t number = 0;
            for (const nlmsghdr* message : messages)
                if ((message->nlmsg_type & 0xff) == NFT_MSG_NEWSETELEM && number++ % text.set_count() == set
                    && !good(text.add_elements(set, *message)))
                    return std::nullopt;
            if (pass == 0)
                text.restart_elements();
        }
        text.finish_elements(set);
    }
    return text.take();
}

/// Lines are kept in a file and shown to a person.
void check_lines(const std::vector<std::string>& lines)
{
    for (const std::string& line : lines)
        HOLDS(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

void parse_alone(const nlmsghdr& message)
{
    (void)good(parse_generation(message));
    (void)good(parse_table(message));
    (void)good(parse_chain(message));
    (void)good(parse_counter(message));
    if (const auto rule = good(parse_nft_rule(message)))
        if (const auto expressions = good(raw_expressions(rule->expressions))) {
            OutgoingDevices found;
            look_at(*expressions, "mape0", found);
            OutgoingDevices none;
            look_at(*expressions, "", none);
            HOLDS(found.sets == none.sets);
        }
    if (const auto elements = good(parse_elements(message)))
        for (const auto& element : *elements)
            (void)names_device(element, "mape0");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto bytes = fuzz::exactly({data, size});
    const auto messages = messages_in(bytes);
    for (const nlmsghdr* message : messages)
        parse_alone(*message);
    const auto lines = dump(messages, false);
    HOLDS(lines == dump(messages, true));
    if (lines)
        check_lines(*lines);
    if (const auto kept = good(lines_of(table, bytes)))
        check_lines(*kept);
    return 0;
}
