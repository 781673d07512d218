#include "nft/batch_sets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <span>

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

namespace mape::nft {

namespace {

// Numbers that nft 1.0.6 puts on the wire without the kernel knowing them: enum datatypes, byteorder, expr_types, the ids of
// protocols and their fields (its include/datatype.h, expression.h, proto.h and src/proto.c).
constexpr std::uint32_t type_integer = 4;
constexpr std::uint32_t type_ipv4_address = 7;
constexpr std::uint32_t type_inet_protocol = 12;
constexpr std::uint32_t type_inet_service = 13;
constexpr std::uint32_t type_icmp_type = 14;
constexpr std::uint32_t type_verdict = 0xffffff00;
constexpr std::uint32_t type_address_and_service = type_ipv4_address << 6 | type_inet_service;

constexpr std::uint32_t byteorder_invalid = 0;
constexpr std::uint32_t byteorder_host = 1;
constexpr std::uint32_t byteorder_big = 2;

constexpr std::uint32_t expr_verdict = 1;
constexpr std::uint32_t expr_payload = 7;
constexpr std::uint32_t expr_meta = 9;

constexpr std::uint32_t typeof_meta_key = 0;
constexpr std::uint32_t typeof_payload_protocol = 0;
constexpr std::uint32_t typeof_payload_field = 1;
constexpr std::uint32_t typeof_verdict_kind = 0;
constexpr std::uint32_t typeof_verdict_chain = 1;

constexpr std::uint32_t protocol_icmp = 4;
constexpr std::uint32_t field_icmp_type = 1;
constexpr std::uint32_t field_destination_port = 2;

std::uint32_t protocol_id(Protocol protocol)
{
    switch (protocol) {
    case Protocol::icmp: return protocol_icmp;
    case Protocol::udp: return 6;
    case Protocol::udplite: return 7;
    case Protocol::tcp: return 8;
    case Protocol::dccp: return 9;
    case Protocol::sctp: return 10;
    }
    return 0;
}

/// Bytes as they are on the wire, of a number in the byte order of the host or of the network.
using Key = std::array<std::byte, 4>;

template <class T>
Key key_of(T number)
{
    Key key{};
    std::memcpy(key.data(), &number, sizeof number);
    return key;
}

class SetBuilder {
public:
    SetBuilder(std::uint32_t flags, std::uint32_t key_type, std::uint32_t key_length)
        : set_{owned<SetHandle>(nftnl_set_alloc()), {}}
    {
        put(NFTNL_SET_FLAGS, flags);
        put(NFTNL_SET_KEY_TYPE, key_type);
        put(NFTNL_SET_KEY_LEN, key_length);
    }

    void name(const std::string& name) { checked(nftnl_set_set_str(raw(), NFTNL_SET_NAME, name.c_str())); }
    void data(std::uint32_t type, std::uint32_t length)
    {
        put(NFTNL_SET_DATA_TYPE, type);
        put(NFTNL_SET_DATA_LEN, length);
    }
    void user_data(const UserData& data) { checked(nftnl_set_set_data(raw(), NFTNL_SET_USERDATA, data.data(), data.size())); }

    void reserve(std::size_t elements) { set_.elements.reserve(elements); }
    SetElement& element(Key key)
    {
        SetElement& added = set_.elements.emplace_back();
        added.key = key;
        return added;
    }
    /// The first key that is not in the interval before it.
    void interval_end(Key key) { element(key).flags = NFT_SET_ELEM_INTERVAL_END; }

    SetContent named() { return std::move(set_); }
    /// `size`: room the kernel makes, for as many elements as nft counts.
    SetContent anonymous(const char* pattern, std::size_t size)
    {
        name(pattern);
        put(NFTNL_SET_DESC_SIZE, static_cast<std::uint32_t>(size));
        return std::move(set_);
    }

private:
    nftnl_set* raw() { return set_.declaration.get(); }
    void put(std::uint16_t attribute, std::uint32_t value) { nftnl_set_set_u32(raw(), attribute, value); }
    static void checked(int result)
    {
        if (result < 0)
            throw std::bad_alloc();
    }

    SetContent set_;
};

constexpr std::uint32_t anonymous = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT;
constexpr std::uint32_t interval_flag = NFT_SET_INTERVAL;
/// nft counts two elements an interval, whether it sends both or not.
constexpr std::size_t two_ends = 2;

constexpr const char* set_pattern = "__set%d";
constexpr const char* map_pattern = "__map%d";

}  // namespace

UserData::UserData() : buffer_(nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN))
{
    if (!buffer_)
        throw std::bad_alloc();
}

UserData& UserData::put(std::uint8_t type, std::uint32_t value)
{
    nftnl_udata_put_u32(buffer_.get(), type, value);
    return *this;
}

UserData& UserData::put(std::uint8_t type, const std::string& value)
{
    nftnl_udata_put_strz(buffer_.get(), type, value.c_str());
    return *this;
}

UserData& UserData::put_typeof_meta(std::uint8_t type, std::uint32_t key)
{
    nftnl_udata* outer = nftnl_udata_nest_start(buffer_.get(), type);
    put(NFTNL_UDATA_SET_TYPEOF_EXPR, expr_meta);
    nftnl_udata* inner = nftnl_udata_nest_start(buffer_.get(), NFTNL_UDATA_SET_TYPEOF_DATA);
    put(typeof_meta_key, key);
    nftnl_udata_nest_end(buffer_.get(), inner);
    nftnl_udata_nest_end(buffer_.get(), outer);
    return *this;
}

UserData& UserData::put_typeof_payload(std::uint8_t type, std::uint32_t protocol, std::uint32_t field)
{
    nftnl_udata* outer = nftnl_udata_nest_start(buffer_.get(), type);
    put(NFTNL_UDATA_SET_TYPEOF_EXPR, expr_payload);
    nftnl_udata* inner = nftnl_udata_nest_start(buffer_.get(), NFTNL_UDATA_SET_TYPEOF_DATA);
    put(typeof_payload_protocol, protocol);
    put(typeof_payload_field, field);
    nftnl_udata_nest_end(buffer_.get(), inner);
    nftnl_udata_nest_end(buffer_.get(), outer);
    return *this;
}

UserData& UserData::put_typeof_verdict(std::uint8_t type)
{
    nftnl_udata* outer = nftnl_udata_nest_start(buffer_.get(), type);
    put(typeof_verdict_kind, expr_verdict);
    nftnl_udata_nest_end(buffer_.get(), nftnl_udata_nest_start(buffer_.get(), typeof_verdict_chain));
    nftnl_udata_nest_end(buffer_.get(), outer);
    return *this;
}

UserData comment_data(std::uint8_t type, const std::string& comment)
{
    UserData data;
    data.put(type, comment);
    return data;
}

SetContent protocol_set(const std::vector<Protocol>& protocols)
{
    SetBuilder set(anonymous, type_inet_protocol, 1);
    set.user_data(UserData()
                      .put(NFTNL_UDATA_SET_KEYBYTEORDER, byteorder_host)
                      .put_typeof_meta(NFTNL_UDATA_SET_KEY_TYPEOF, NFT_META_L4PROTO));
    for (const Protocol protocol : protocols)
        set.element(key_of(static_cast<std::uint8_t>(protocol)));
    return set.anonymous(set_pattern, protocols.size());
}

SetContent icmp_type_set(const std::vector<IcmpType>& types)
{
    SetBuilder set(anonymous, type_icmp_type, 1);
    set.user_data(UserData()
                      .put(NFTNL_UDATA_SET_KEYBYTEORDER, byteorder_big)
                      .put_typeof_payload(NFTNL_UDATA_SET_KEY_TYPEOF, protocol_icmp, field_icmp_type));
    for (const IcmpType type : types)
        set.element(key_of(static_cast<std::uint8_t>(type)));
    return set.anonymous(set_pattern, types.size());
}

SetContent service_set(const ServiceMatch& match)
{
    const bool ranges =
        std::any_of(match.ports.begin(), match.ports.end(), [](PortRange range) { return range.size() > 1; });
    SetBuilder set(anonymous | (ranges ? interval_flag : 0U), type_inet_service, 2);
    UserData data;
    data.put(NFTNL_UDATA_SET_KEYBYTEORDER, byteorder_big);
    if (ranges)
        data.put(NFTNL_UDATA_SET_MERGE_ELEMENTS, 1);
    data.put_typeof_payload(NFTNL_UDATA_SET_KEY_TYPEOF, protocol_id(match.protocol), field_destination_port);
    set.user_data(data);

    if (ranges && match.ports.front().first > 0)
        set.interval_end(key_of(std::uint16_t{0}));
    for (const PortRange range : match.ports) {
        set.element(key_of(htons(range.first))).open_end = ranges && range.last == UINT16_MAX;
        if (ranges && range.last < UINT16_MAX)
            set.interval_end(key_of(htons(static_cast<std::uint16_t>(range.last + 1))));
    }
    const std::size_t gap_before = match.ports.front().first > 0 ? 1 : 0;
    return set.anonymous(set_pattern, ranges ? two_ends * match.ports.size() + gap_before : match.ports.size());
}

bool interval(const SourceNatMap& nat)
{
    return std::any_of(nat.elements.begin(), nat.elements.end(),
                       [](const SourceNatMap::Element& element) { return element.first != element.last; });
}

bool single_ports(const SourceNatMap& nat)
{
    return nat.elements.front().ports.size() == 1;
}

SetContent source_nat_map(const SourceNatMap& nat)
{
    const bool ranges = interval(nat);
    const bool single = single_ports(nat);
    SetBuilder set(anonymous | NFT_SET_MAP | (ranges ? interval_flag : 0U), type_integer, 4);
    set.data(type_address_and_service, single ? 8 : 16);
    // Without DATA_INTERVAL the rule works, but nft lists it without its snat.
    set.user_data(UserData()
                      .put(NFTNL_UDATA_SET_KEYBYTEORDER, byteorder_host)
                      .put(NFTNL_UDATA_SET_DATABYTEORDER, byteorder_invalid)
                      .put(NFTNL_UDATA_SET_DATA_INTERVAL, single ? 0 : 1));

    // Four registers: address, port, address, port; a port is in the first two bytes of its register.
    SetElement pattern;
    pattern.data_length = single ? 8 : 16;
    const std::uint32_t address = htonl(nat.address.value);
    std::memcpy(pattern.data.data(), &address, sizeof address);
    std::memcpy(pattern.data.data() + 8, &address, sizeof address);
    set.reserve(nat.elements.size() + 1);
    for (const SourceNatMap::Element& element : nat.elements) {
        const std::uint16_t first = htons(element.ports.first);
        const std::uint16_t last = htons(element.ports.last);
        std::memcpy(pattern.data.data() + 4, &first, sizeof first);
        std::memcpy(pattern.data.data() + 12, &last, sizeof last);
        pattern.key = ranges ? key_of(htonl(element.first)) : key_of(element.first);
        set.element(pattern.key) = pattern;
    }
    // In an anonymous set each interval ends where the next one starts.
    if (ranges)
        set.interval_end(key_of(htonl(nat.modulus())));
    return set.anonymous(map_pattern, ranges ? two_ends * nat.elements.size() : nat.elements.size());
}

SetContent verdict_map(const VerdictMap& map)
{
    const bool ranges = map.interval();
    SetBuilder set(NFT_SET_MAP | (ranges ? interval_flag : 0U), type_integer, 4);
    set.name(map.name);
    set.data(type_verdict, 0);
    UserData data;
    data.put(NFTNL_UDATA_SET_KEYBYTEORDER, byteorder_host)
        .put(NFTNL_UDATA_SET_DATABYTEORDER, byteorder_invalid)
        .put_typeof_meta(NFTNL_UDATA_SET_KEY_TYPEOF, NFT_META_CPU)
        .put_typeof_verdict(NFTNL_UDATA_SET_DATA_TYPEOF)
        .put(NFTNL_UDATA_SET_DATA_INTERVAL, 0);
    if (!map.comment.empty())
        data.put(NFTNL_UDATA_SET_COMMENT, map.comment);
    set.user_data(data);

    for (const VerdictMap::Element& element : map.elements) {
        set.element(ranges ? key_of(htonl(element.first)) : key_of(element.first)).jump = element.chain;
        if (ranges)
            set.interval_end(key_of(htonl(element.last + 1)));
    }
    return set.named();
}

}  // namespace mape::nft
