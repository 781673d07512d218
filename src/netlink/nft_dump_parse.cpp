#include "netlink/nft_dump_parse.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "netlink/attributes.h"

namespace mape::netlink {

namespace {

constexpr std::span<const std::byte> no_bytes;

std::uint8_t family_or_none(const nlmsghdr& message)
{
    return family_in(message).value_or(NFPROTO_UNSPEC);
}

template <class T>
Result<T> checked(T object, const Attributes& attributes)
{
    if (auto good = attributes.check(); !good)
        return fail(std::move(good.error()));
    return object;
}

std::uint64_t be64(const Attributes& attributes, unsigned type)
{
    std::uint64_t value = 0;
    if (const auto bytes = attributes.bytes(type, sizeof value))
        std::memcpy(&value, bytes->data(), sizeof value);
    return be64toh(value);
}

/// Value of an nf_tables data attribute (NFTA_DATA_VALUE in `nested`).
std::span<const std::byte> data_value(std::span<const std::byte> nested)
{
    const auto attributes = raw_attributes(nested);
    if (attributes)
        for (const RawAttribute& attribute : *attributes)
            if (attribute.type == NFTA_DATA_VALUE)
                return attribute.payload;
    return {};
}

/// A device name as nft compares it: 16 bytes, or fewer for "mape*".
bool names(std::span<const std::byte> value, const std::string& device)
{
    constexpr std::size_t size = 16;  // IFNAMSIZ
    std::array<char, size> whole{};
    std::memcpy(whole.data(), device.data(), std::min(device.size(), size - 1));
    return !value.empty() && value.size() <= size && std::memcmp(value.data(), whole.data(), value.size()) == 0;
}

std::optional<std::uint32_t> number(const RawExpression& expression, unsigned type)
{
    for (const RawAttribute& attribute : expression.data)
        if (attribute.type == type && attribute.payload.size() == sizeof(std::uint32_t)) {
            std::uint32_t value;
            std::memcpy(&value, attribute.payload.data(), sizeof value);
            return ntohl(value);
        }
    return std::nullopt;
}

}  // namespace

Result<std::uint32_t> parse_generation(const nlmsghdr& message)
{
    const Attributes attributes(attributes_in(message), "nf_tables generation");
    return checked(attributes.be32(NFTA_GEN_ID).value_or(0), attributes);
}

Result<TableInKernel> parse_table(const nlmsghdr& message)
{
    constexpr std::uint8_t comment_type = 0;
    const Attributes attributes(attributes_in(message), "nf_tables table");
    const auto user_data = attributes.bytes(NFTA_TABLE_USERDATA);
    return checked(TableInKernel{family_or_none(message), attributes.text(NFTA_TABLE_NAME).value_or(""),
                                 user_data ? comment_in(*user_data, comment_type) : ""},
                   attributes);
}

Result<ChainInKernel> parse_chain(const nlmsghdr& message)
{
    const Attributes attributes(attributes_in(message), "nf_tables chain");
    const Attributes hook = attributes.nested(NFTA_CHAIN_HOOK);
    return checked(ChainInKernel{family_or_none(message), attributes.text(NFTA_CHAIN_TABLE).value_or(""),
                                 attributes.text(NFTA_CHAIN_NAME).value_or(""),
                                 attributes.text(NFTA_CHAIN_TYPE).value_or(""), hook.be32(NFTA_HOOK_HOOKNUM),
                                 static_cast<int>(hook.be32(NFTA_HOOK_PRIORITY).value_or(0))},
                   attributes);
}

Result<RuleInKernel> parse_nft_rule(const nlmsghdr& message)
{
    const Attributes attributes(attributes_in(message), "nf_tables rule");
    return checked(RuleInKernel{family_or_none(message), attributes.text(NFTA_RULE_TABLE).value_or(""),
                                attributes.text(NFTA_RULE_CHAIN).value_or(""),
                                attributes.bytes(NFTA_RULE_EXPRESSIONS).value_or(no_bytes)},
                   attributes);
}

Result<std::optional<CounterInKernel>> parse_counter(const nlmsghdr& message)
{
    const Attributes attributes(attributes_in(message), "nf_tables object");
    std::optional<CounterInKernel> counter;
    if (attributes.be32(NFTA_OBJ_TYPE) == NFT_OBJECT_COUNTER) {
        const Attributes data = attributes.nested(NFTA_OBJ_DATA);
        counter = CounterInKernel{family_or_none(message), attributes.text(NFTA_OBJ_TABLE).value_or(""),
                                  attributes.text(NFTA_OBJ_NAME).value_or(""),
                                  {be64(data, NFTA_COUNTER_PACKETS), be64(data, NFTA_COUNTER_BYTES)}};
    }
    return checked(std::move(counter), attributes);
}

Result<std::vector<std::vector<RawAttribute>>> parse_elements(const nlmsghdr& message)
{
    const Attributes attributes(attributes_in(message), "nf_tables set elements");
    const auto list = raw_attributes(attributes.bytes(NFTA_SET_ELEM_LIST_ELEMENTS).value_or(no_bytes));
    if (!list)
        return fail(list.error());
    std::vector<std::vector<RawAttribute>> elements;
    elements.reserve(list->size());
    for (const RawAttribute& element : *list) {
        auto parts = raw_attributes(element.payload);
        if (!parts)
            return fail(std::move(parts.error()));
        elements.push_back(std::move(*parts));
    }
    return checked(std::move(elements), attributes);
}

void look_at(const std::vector<RawExpression>& expressions, const std::string& device, OutgoingDevices& found)
{
    constexpr std::uint32_t none = UINT32_MAX;
    std::uint32_t loaded = none;  // the register that holds oifname
    for (const RawExpression& expression : expressions) {
        if (expression.name == "meta") {
            if (number(expression, NFTA_META_KEY) == NFT_META_OIFNAME)
                loaded = number(expression, NFTA_META_DREG).value_or(none);
            else if (number(expression, NFTA_META_DREG) == loaded)
                loaded = none;
        } else if (expression.name == "cmp" && loaded != none && number(expression, NFTA_CMP_SREG) == loaded) {
            for (const RawAttribute& attribute : expression.data)
                if (attribute.type == NFTA_CMP_DATA && number(expression, NFTA_CMP_OP) == NFT_CMP_EQ)
                    found.named = found.named || names(data_value(attribute.payload), device);
        } else if (expression.name == "lookup" && loaded != none && number(expression, NFTA_LOOKUP_SREG) == loaded) {
            for (const RawAttribute& attribute : expression.data)
                if (attribute.type == NFTA_LOOKUP_SET)
                    if (auto name = as_text(attribute.payload))
                        found.sets.push_back(std::move(*name));
        }
    }
}

bool names_device(const std::vector<RawAttribute>& element, const std::string& device)
{
    // Of equal attributes the last counts, as in the kernel's nla_parse.
    const auto key = std::find_if(element.rbegin(), element.rend(),
                                  [](const RawAttribute& attribute) { return attribute.type == NFTA_SET_ELEM_KEY; });
    return key != element.rend() && names(data_value(key->payload), device);
}

}  // namespace mape::netlink
