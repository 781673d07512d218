#include "nft/batch_rule.h"

#include <array>
#include <cstring>
#include <new>
#include <span>
#include <variant>

#include <arpa/inet.h>
#include <libnftnl/expr.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>

#include "nft/batch_sets.h"

namespace mape::nft {

namespace {

// Registers as nft hands them out: most statements use the first one only. The four 32-bit registers of NFT_REG_1 are
// NFT_REG32_00 to _03, those of NFT_REG_2 start at NFT_REG32_04.
constexpr std::uint32_t reg1 = NFT_REG_1;
constexpr std::uint32_t reg2 = NFT_REG_2;
constexpr std::uint32_t reg3 = NFT_REG_3;

// Offsets (RFC 791, 792, 768, 9293, 8200).
constexpr std::uint32_t ip_frag_off = 6;
constexpr std::uint32_t ip_saddr = 12;
constexpr std::uint32_t ip_daddr = 16;
constexpr std::uint32_t ip6_nexthdr = 6;
constexpr std::uint32_t ip6_saddr = 8;
constexpr std::uint32_t th_sport = 0;
constexpr std::uint32_t th_dport = 2;
constexpr std::uint32_t icmp_type = 0;
constexpr std::uint32_t icmp_id = 4;
constexpr std::uint32_t tcp_flags = 13;
constexpr std::uint8_t tcp_syn = 0x02;
constexpr std::uint8_t tcp_rst = 0x04;
constexpr std::uint32_t tcp_option_maxseg = 2;  // RFC 9293 3.2: kind 2, its value at offset 2

std::uint32_t offset_of(Field field)
{
    switch (field) {
    case Field::th_sport: return th_sport;
    case Field::th_dport: return th_dport;
    case Field::icmp_id: return icmp_id;
    }
    return 0;
}

/// An expression that is being built and will belong to the rule.
class Expression {
public:
    Expression(nftnl_rule* rule, const char* name) : expr_(nftnl_expr_alloc(name))
    {
        if (expr_ == nullptr)
            throw std::bad_alloc();
        nftnl_rule_add_expr(rule, expr_);
    }
    Expression& u32(std::uint16_t attribute, std::uint32_t value)
    {
        nftnl_expr_set_u32(expr_, attribute, value);
        return *this;
    }
    Expression& u64(std::uint16_t attribute, std::uint64_t value)
    {
        nftnl_expr_set_u64(expr_, attribute, value);
        return *this;
    }
    Expression& text(std::uint16_t attribute, const std::string& value)
    {
        if (nftnl_expr_set_str(expr_, attribute, value.c_str()) < 0)
            throw std::bad_alloc();
        return *this;
    }
    Expression& bytes(std::uint16_t attribute, std::span<const std::byte> value)
    {
        if (nftnl_expr_set_data(expr_, attribute, value.data(), static_cast<std::uint32_t>(value.size())) < 0)
            throw std::bad_alloc();
        return *this;
    }

private:
    nftnl_expr* expr_;
};

template <class T>
std::span<const std::byte> raw(const T& value)
{
    return std::as_bytes(std::span(&value, 1));
}

class RuleExpressions {
public:
    RuleExpressions(nftnl_rule* rule, const RuleContext& context) : rule_(rule), context_(context) {}

    void operator()(const InterfaceMatch& match)
    {
        load_meta(match.direction == InterfaceMatch::Direction::in ? NFT_META_IIFNAME : NFT_META_OIFNAME);
        std::array<char, 16> name{};  // IFNAMSIZ: compared whole, or "eth1" would match "eth10"
        std::memcpy(name.data(), match.name.str().data(), match.name.str().size());
        compare(match.op == Op::eq ? NFT_CMP_EQ : NFT_CMP_NEQ, raw(name));
    }
    void operator()(const ProtocolMatch& match)
    {
        load_meta(NFT_META_L4PROTO);
        if (match.protocols.size() == 1)
            compare(match.op == Op::eq ? NFT_CMP_EQ : NFT_CMP_NEQ, raw(match.protocols.front()));
        else
            look_up(context_.add_set(protocol_set(match.protocols)), match.op);
    }
    void operator()(const AddressMatch& match)
    {
        const std::uint32_t offset = match.side == AddressMatch::Side::source ? ip_saddr : ip_daddr;
        const std::uint32_t op = match.op == Op::eq ? NFT_CMP_EQ : NFT_CMP_NEQ;
        const std::uint32_t address = htonl(match.prefix.address.value);
        const unsigned length = match.prefix.length;
        if (length % 8 == 0) {
            load_payload(NFT_PAYLOAD_NETWORK_HEADER, offset, length / 8);
            compare(op, raw(address).first(length / 8));
            return;
        }
        load_payload(NFT_PAYLOAD_NETWORK_HEADER, offset, sizeof address);
        const std::uint32_t mask = htonl(~0U << (32 - length));
        mask_with(raw(mask));
        compare(op, raw(address));
    }
    void operator()(const NextHeaderMatch& match)
    {
        load_payload(NFT_PAYLOAD_NETWORK_HEADER, ip6_nexthdr, 1);
        compare(NFT_CMP_EQ, raw(match.protocol));
    }
    void operator()(const Ip6SourceMatch& match)
    {
        load_payload(NFT_PAYLOAD_NETWORK_HEADER, ip6_saddr, 16);
        compare(NFT_CMP_EQ, raw(match.address.bytes));
    }
    void operator()(const BitsMatch& match)
    {
        load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, offset_of(match.field), 2);
        const std::uint16_t mask = htons(match.mask);
        const std::uint16_t value = htons(match.value);
        if (match.mask != 0xffff)
            mask_with(raw(mask));
        compare(NFT_CMP_EQ, raw(value));
    }
    void operator()(const MinimumMatch& match)
    {
        load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, offset_of(match.field), 2);
        const std::uint16_t minimum = htons(match.minimum);
        compare(NFT_CMP_GTE, raw(minimum));
    }
    void operator()(const ServiceMatch& match)
    {
        load_meta(NFT_META_L4PROTO);
        compare(NFT_CMP_EQ, raw(match.protocol));
        load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, th_dport, 2);
        if (match.ports.size() > 1) {
            look_up(context_.add_set(service_set(match)), Op::eq);
            return;
        }
        const PortRange range = match.ports.front();
        const std::uint16_t first = htons(range.first);
        const std::uint16_t last = htons(range.last);
        if (range.size() == 1) {
            compare(NFT_CMP_EQ, raw(first));
        } else {
            compare(NFT_CMP_GTE, raw(first));
            compare(NFT_CMP_LTE, raw(last));
        }
    }
    void operator()(const IcmpTypeMatch& match)
    {
        load_meta(NFT_META_L4PROTO);
        compare(NFT_CMP_EQ, raw(Protocol::icmp));
        load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, icmp_type, 1);
        if (match.types.size() == 1)
            compare(NFT_CMP_EQ, raw(match.types.front()));
        else
            look_up(context_.add_set(icmp_type_set(match.types)), Op::eq);
    }
    void operator()(const TcpSynMatch&)
    {
        load_meta(NFT_META_L4PROTO);
        compare(NFT_CMP_EQ, raw(Protocol::tcp));
        load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, tcp_flags, 1);
        mask_with(raw(static_cast<std::uint8_t>(tcp_syn | tcp_rst)));
        compare(NFT_CMP_EQ, raw(tcp_syn));
    }
    void operator()(const LaterFragmentMatch&)
    {
        load_payload(NFT_PAYLOAD_NETWORK_HEADER, ip_frag_off, 2);
        mask_with(raw(htons(0x1fff)));
        compare(NFT_CMP_NEQ, raw(std::uint16_t{0}));
    }
    void operator()(const ConntrackStateMatch& match) { conntrack_bits(NFT_CT_STATE, match.bits, NFT_CMP_NEQ); }
    void operator()(const ConntrackStatusMatch& match)
    {
        conntrack_bits(NFT_CT_STATUS, match.bits, match.op == Op::eq ? NFT_CMP_NEQ : NFT_CMP_EQ);
    }
    void operator()(const LimitRate& rate)
    {
        add("limit")
            .u64(NFTNL_EXPR_LIMIT_RATE, rate.count)
            .u64(NFTNL_EXPR_LIMIT_UNIT, static_cast<std::uint32_t>(rate.per))
            .u32(NFTNL_EXPR_LIMIT_BURST, limit_burst)
            .u32(NFTNL_EXPR_LIMIT_TYPE, NFT_LIMIT_PKTS)
            .u32(NFTNL_EXPR_LIMIT_FLAGS, 0);
    }
    void operator()(const CounterReference& counter)
    {
        add("objref")
            .u32(NFTNL_EXPR_OBJREF_IMM_TYPE, NFT_OBJECT_COUNTER)
            .text(NFTNL_EXPR_OBJREF_IMM_NAME, counter.name);
    }
    void operator()(const Log& log)
    {
        add("log").text(NFTNL_EXPR_LOG_PREFIX, log.prefix).u32(NFTNL_EXPR_LOG_LEVEL, NFT_LOGLEVEL_INFO);
    }
    void operator()(const MaxSegmentSize& clamp)
    {
        immediate(reg1, raw(htons(clamp.size)));
        add("exthdr")
            .u32(NFTNL_EXPR_EXTHDR_SREG, reg1)
            .u32(NFTNL_EXPR_EXTHDR_TYPE, tcp_option_maxseg)
            .u32(NFTNL_EXPR_EXTHDR_OFFSET, 2)
            .u32(NFTNL_EXPR_EXTHDR_LEN, 2)
            .u32(NFTNL_EXPR_EXTHDR_OP, NFT_EXTHDR_OP_TCPOPT);
    }
    void operator()(const Notrack&) { add("notrack"); }
    void operator()(const Verdict& verdict)
    {
        Expression expression = add("immediate");
        expression.u32(NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
        switch (verdict.kind) {
        case Verdict::Kind::accept: expression.u32(NFTNL_EXPR_IMM_VERDICT, NF_ACCEPT); return;
        case Verdict::Kind::drop: expression.u32(NFTNL_EXPR_IMM_VERDICT, NF_DROP); return;
        case Verdict::Kind::jump:
            expression.u32(NFTNL_EXPR_IMM_VERDICT, static_cast<std::uint32_t>(NFT_JUMP));
            expression.text(NFTNL_EXPR_IMM_CHAIN, verdict.chain);
            return;
        case Verdict::Kind::go_to:
            expression.u32(NFTNL_EXPR_IMM_VERDICT, static_cast<std::uint32_t>(NFT_GOTO));
            expression.text(NFTNL_EXPR_IMM_CHAIN, verdict.chain);
            return;
        }
    }
    void operator()(const SourceNat& nat)
    {
        immediate(reg1, raw(htonl(nat.first.value)));
        const bool range = nat.first != nat.last;
        if (range)
            immediate(reg2, raw(htonl(nat.last.value)));
        std::uint32_t flags = range ? NF_NAT_RANGE_PERSISTENT : 0U;
        if (nat.ports) {
            immediate(reg2, raw(htons(nat.ports->first)));
            if (nat.ports->size() > 1)
                immediate(reg3, raw(htons(nat.ports->last)));
            flags |= NF_NAT_RANGE_PROTO_SPECIFIED;
        }
        Expression expression = source_nat();
        expression.u32(NFTNL_EXPR_NAT_REG_ADDR_MIN, reg1);
        if (range)
            expression.u32(NFTNL_EXPR_NAT_REG_ADDR_MAX, reg2);
        if (nat.ports) {
            expression.u32(NFTNL_EXPR_NAT_REG_PROTO_MIN, reg2);
            if (nat.ports->size() > 1)
                expression.u32(NFTNL_EXPR_NAT_REG_PROTO_MAX, reg3);
        }
        if (flags != 0)
            expression.u32(NFTNL_EXPR_NAT_FLAGS, flags);
    }
    void operator()(const SourceNatMap& nat)
    {
        next_number(nat.modulus());
        if (interval(nat))
            to_network_order();
        add("lookup")
            .u32(NFTNL_EXPR_LOOKUP_SREG, reg1)
            .u32(NFTNL_EXPR_LOOKUP_DREG, reg1)
            .text(NFTNL_EXPR_LOOKUP_SET, "__map%d")
            .u32(NFTNL_EXPR_LOOKUP_SET_ID, context_.add_set(source_nat_map(nat)));
        Expression expression = source_nat();
        expression.u32(NFTNL_EXPR_NAT_REG_ADDR_MIN, reg1).u32(NFTNL_EXPR_NAT_REG_PROTO_MIN, NFT_REG32_01);
        if (!single_ports(nat))
            expression.u32(NFTNL_EXPR_NAT_REG_ADDR_MAX, NFT_REG32_02).u32(NFTNL_EXPR_NAT_REG_PROTO_MAX, NFT_REG32_03);
    }
    void operator()(const NumgenVmap& vmap)
    {
        next_number(vmap.modulus);
        to_chain(vmap.map);
    }
    void operator()(const HashVmap& vmap)
    {
        add("payload")
            .u32(NFTNL_EXPR_PAYLOAD_DREG, reg2)
            .u32(NFTNL_EXPR_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER)
            .u32(NFTNL_EXPR_PAYLOAD_OFFSET, ip_daddr)
            .u32(NFTNL_EXPR_PAYLOAD_LEN, 4);
        if (vmap.with_port)
            add("payload")
                .u32(NFTNL_EXPR_PAYLOAD_DREG, NFT_REG32_05)
                .u32(NFTNL_EXPR_PAYLOAD_BASE, NFT_PAYLOAD_TRANSPORT_HEADER)
                .u32(NFTNL_EXPR_PAYLOAD_OFFSET, th_dport)
                .u32(NFTNL_EXPR_PAYLOAD_LEN, 2);
        add("hash")
            .u32(NFTNL_EXPR_HASH_SREG, reg2)
            .u32(NFTNL_EXPR_HASH_DREG, reg1)
            .u32(NFTNL_EXPR_HASH_LEN, vmap.with_port ? 8 : 4)
            .u32(NFTNL_EXPR_HASH_MODULUS, vmap.modulus)
            .u32(NFTNL_EXPR_HASH_SEED, hash_seed)
            .u32(NFTNL_EXPR_HASH_OFFSET, 0)
            .u32(NFTNL_EXPR_HASH_TYPE, NFT_HASH_JENKINS);
        to_chain(vmap.map);
    }

private:
    Expression add(const char* name) { return {rule_, name}; }

    void load_meta(std::uint32_t key) { add("meta").u32(NFTNL_EXPR_META_KEY, key).u32(NFTNL_EXPR_META_DREG, reg1); }
    void load_payload(std::uint32_t base, std::uint32_t offset, std::uint32_t length)
    {
        add("payload")
            .u32(NFTNL_EXPR_PAYLOAD_DREG, reg1)
            .u32(NFTNL_EXPR_PAYLOAD_BASE, base)
            .u32(NFTNL_EXPR_PAYLOAD_OFFSET, offset)
            .u32(NFTNL_EXPR_PAYLOAD_LEN, length);
    }
    void compare(std::uint32_t op, std::span<const std::byte> value)
    {
        add("cmp").u32(NFTNL_EXPR_CMP_SREG, reg1).u32(NFTNL_EXPR_CMP_OP, op).bytes(NFTNL_EXPR_CMP_DATA, value);
    }
    void mask_with(std::span<const std::byte> mask)
    {
        static constexpr std::array<std::byte, 4> zero{};
        add("bitwise")
            .u32(NFTNL_EXPR_BITWISE_SREG, reg1)
            .u32(NFTNL_EXPR_BITWISE_DREG, reg1)
            .u32(NFTNL_EXPR_BITWISE_LEN, static_cast<std::uint32_t>(mask.size()))
            .bytes(NFTNL_EXPR_BITWISE_MASK, mask)
            .bytes(NFTNL_EXPR_BITWISE_XOR, std::span(zero).first(mask.size()));
    }
    void immediate(std::uint32_t reg, std::span<const std::byte> value)
    {
        add("immediate").u32(NFTNL_EXPR_IMM_DREG, reg).bytes(NFTNL_EXPR_IMM_DATA, value);
    }
    /// In an anonymous set of this rule.
    void look_up(std::uint32_t set_id, Op op)
    {
        Expression expression = add("lookup");
        expression.u32(NFTNL_EXPR_LOOKUP_SREG, reg1)
            .text(NFTNL_EXPR_LOOKUP_SET, "__set%d")
            .u32(NFTNL_EXPR_LOOKUP_SET_ID, set_id);
        if (op == Op::ne)
            expression.u32(NFTNL_EXPR_LOOKUP_FLAGS, NFT_LOOKUP_F_INV);
    }
    void conntrack_bits(std::uint32_t key, std::uint32_t bits, std::uint32_t op)
    {
        add("ct").u32(NFTNL_EXPR_CT_KEY, key).u32(NFTNL_EXPR_CT_DREG, reg1);
        mask_with(raw(bits));
        compare(op, raw(std::uint32_t{0}));
    }
    void next_number(std::uint32_t modulus)
    {
        add("numgen")
            .u32(NFTNL_EXPR_NG_DREG, reg1)
            .u32(NFTNL_EXPR_NG_MODULUS, modulus)
            .u32(NFTNL_EXPR_NG_TYPE, NFT_NG_INCREMENTAL)
            .u32(NFTNL_EXPR_NG_OFFSET, 0);
    }
    /// Intervals are ordered by their bytes.
    void to_network_order()
    {
        add("byteorder")
            .u32(NFTNL_EXPR_BYTEORDER_SREG, reg1)
            .u32(NFTNL_EXPR_BYTEORDER_DREG, reg1)
            .u32(NFTNL_EXPR_BYTEORDER_OP, NFT_BYTEORDER_HTON)
            .u32(NFTNL_EXPR_BYTEORDER_LEN, 4)
            .u32(NFTNL_EXPR_BYTEORDER_SIZE, 4);
    }
    void to_chain(const std::string& map)
    {
        const MapReference reference = context_.find_map(map);
        if (reference.interval)
            to_network_order();
        add("lookup")
            .u32(NFTNL_EXPR_LOOKUP_SREG, reg1)
            .u32(NFTNL_EXPR_LOOKUP_DREG, NFT_REG_VERDICT)
            .text(NFTNL_EXPR_LOOKUP_SET, map)
            .u32(NFTNL_EXPR_LOOKUP_SET_ID, reference.id);
    }
    Expression source_nat()
    {
        Expression expression = add("nat");
        expression.u32(NFTNL_EXPR_NAT_TYPE, NFT_NAT_SNAT).u32(NFTNL_EXPR_NAT_FAMILY, NFPROTO_IPV4);
        return expression;
    }

    nftnl_rule* rule_;
    const RuleContext& context_;
};

}  // namespace

RuleHandle expressions_of(const Rule& rule, const RuleContext& context)
{
    RuleHandle made = owned<RuleHandle>(nftnl_rule_alloc());
    RuleExpressions expressions(made.get(), context);
    for (const Statement& statement : rule.statements)
        std::visit(expressions, statement);
    if (!rule.comment.empty()) {
        const UserData comment = comment_data(NFTNL_UDATA_RULE_COMMENT, rule.comment);
        if (nftnl_rule_set_data(made.get(), NFTNL_RULE_USERDATA, comment.data(), comment.size()) < 0)
            throw std::bad_alloc();
    }
    return made;
}

}  // namespace mape::nft
