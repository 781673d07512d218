// An nf_tables ruleset as plain values, in the words of nft(8).
//
// Every shape here is one that nft 1.0.6 can load, list and load again from its own listing, and each has one text and
// one list of expressions. Both emitters (text.h, batch.h) visit the variant exhaustively: a new statement is a compile
// error in both until it is written there.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/port_range.h"

namespace mape::nft {

/// inet is not for a ruleset of ours (any rule there taxes the tunnel's outer packets too); shut_egress() uses it for a moment.
enum class Family { ip, ip6, inet, netdev };

/// "ip", ...
[[nodiscard]] std::string_view to_text(Family family);

struct TableName {
    Family family = Family::ip;
    std::string name;
    auto operator<=>(const TableName&) const = default;
};

/// Protocols whose port or query identifier NAT can choose; the numbers are IP's.
enum class Protocol : std::uint8_t { icmp = 1, tcp = 6, udp = 17, dccp = 33, sctp = 132, udplite = 136 };

/// "tcp", ...
[[nodiscard]] std::string_view to_text(Protocol protocol);
/// An error names the known ones.
[[nodiscard]] Result<Protocol> parse_protocol(std::string_view text);

enum class Op { eq, ne };

// Matches. In a rule each one must hold for the next statement to be reached.

/// `iifname "D"`, `oifname != "D"`.
struct InterfaceMatch {
    enum class Direction { in, out } direction;
    Op op;
    InterfaceName name;
};

/// `meta l4proto tcp`, `meta l4proto != { icmp, tcp }`. Not empty; ascending.
struct ProtocolMatch {
    Op op;
    std::vector<Protocol> protocols;
};

/// `ip saddr 192.0.2.1`, `ip daddr != 192.0.2.0/24`.
struct AddressMatch {
    enum class Side { source, destination } side;
    Op op;
    Ipv4Prefix prefix;  ///< length 1..32
};

/// `ip6 nexthdr N`.
struct NextHeaderMatch {
    std::uint8_t protocol;
};

/// `ip6 saddr A`.
struct Ip6SourceMatch {
    Ipv6Address address;
};

/// 16 bits of the transport header. `th` stands for any protocol: a ProtocolMatch of protocols with ports, or of other
/// meaning, must stand before it. icmp_id: an IcmpTypeMatch of echo types must stand before it.
enum class Field { th_sport, th_dport, icmp_id };

/// `th sport & 0x03f0 == 0x02c0`; with a mask of 0xffff `th sport 704`, which is what nft lists then.
struct BitsMatch {
    Field field;
    std::uint16_t mask;
    std::uint16_t value;
};

/// `th sport >= 1024`.
struct MinimumMatch {
    Field field;
    std::uint16_t minimum;
};

/// `tcp dport 22`, `udp dport 100-200`, `tcp dport { 22, 80, 1000-2000 }`. Not empty; ascending, disjoint, not adjacent.
struct ServiceMatch {
    Protocol protocol;  ///< not icmp
    std::vector<PortRange> ports;
};

/// ICMP types by their numbers.
enum class IcmpType : std::uint8_t {
    echo_reply = 0,
    destination_unreachable = 3,
    echo_request = 8,
    time_exceeded = 11,
    parameter_problem = 12,
};

/// `icmp type echo-request`, `icmp type { echo-reply, echo-request }`. Not empty; ascending.
struct IcmpTypeMatch {
    std::vector<IcmpType> types;
};

/// `tcp flags & (syn | rst) == syn`: the packets that carry an MSS to clamp.
struct TcpSynMatch {};

/// `ip frag-off & 0x1fff != 0`: a fragment without a transport header.
struct LaterFragmentMatch {};

/// Bits of `ct state`: enum ip_conntrack_info as NF_CT_STATE_BIT shifts it (linux/netfilter/nf_conntrack_common.h).
struct ConntrackState {
    static constexpr std::uint32_t invalid = 1;
    static constexpr std::uint32_t established = 2;
    static constexpr std::uint32_t related = 4;
};

/// `ct state established,related`: any of `bits`.
struct ConntrackStateMatch {
    std::uint32_t bits;
};

/// Bits of `ct status`: enum ip_conntrack_status (same header).
struct ConntrackStatus {
    static constexpr std::uint32_t snat = 1U << 4;
    static constexpr std::uint32_t dnat = 1U << 5;
};

/// `ct status snat,dnat`: any of `bits`; with Op::ne `ct status & (snat | dnat) == 0`: none of them.
struct ConntrackStatusMatch {
    Op op;
    std::uint32_t bits;
};

/// `limit rate 5/minute burst 5 packets`: holds that often.
struct LimitRate {
    enum class Per : std::uint32_t { second = 1, minute = 60, hour = 3600, day = 86400 };
    std::uint32_t count = 5;
    Per per = Per::minute;

    /// "5/minute"; a count of 1 to 1000000 and second, minute, hour or day.
    [[nodiscard]] static Result<LimitRate> parse(std::string_view text);
    bool operator==(const LimitRate&) const = default;
};

/// nft's default.
inline constexpr std::uint32_t limit_burst = 5;

/// "5/minute"
[[nodiscard]] std::string to_text(LimitRate rate);

// Statements that do something and go on.

/// `counter name "N"`; the table has a counter of that name.
struct CounterReference {
    std::string name;
};

/// `log prefix "P" level info`. Shorter than 127 bytes; no quote in it.
struct Log {
    std::string prefix;
};

/// `tcp option maxseg size set N`.
struct MaxSegmentSize {
    std::uint16_t size;
};

/// `notrack`.
struct Notrack {};

// Statements that end the rule.

/// `accept`, `drop`, `jump C`, `goto C`.
struct Verdict {
    enum class Kind { accept, drop, jump, go_to } kind;
    std::string chain = {};  ///< of jump and goto
};

/// `snat ip to A`; `snat ip to A-B persistent`; `snat ip to A:1728-1743` (first == last in the address; a ProtocolMatch
/// Op::eq stands before it: nft's text demands one).
struct SourceNat {
    Ipv4Address first;
    Ipv4Address last;
    std::optional<PortRange> ports = {};
};

/// `snat ip to numgen inc mod N map { 0-15 : A . 1728-1743, ... }`: round robin over ranges of ports, each with the share
/// its keys have of N. A ProtocolMatch stands before it, for the same reason.
///
/// Ranges: either all of one port or none is. (nft 1.0.6 lists a range of one port among others as a single port, and
/// the kernel refuses that listing. With all of one port the map is one of address and port.)
struct SourceNatMap {
    struct Element {
        std::uint32_t first;  ///< key; ascending without gaps from 0
        std::uint32_t last;
        PortRange ports;
    };
    Ipv4Address address;
    std::vector<Element> elements;

    /// N
    [[nodiscard]] std::uint32_t modulus() const { return elements.back().last + 1U; }
};

/// `numgen inc mod N vmap @M`: each rule of this kind counts for itself. A number that M lacks goes on behind the rule.
struct NumgenVmap {
    std::uint32_t modulus;
    std::string map;
};

/// `jhash ip daddr . th dport mod N seed 0x1 vmap @M`; without with_port `jhash ip daddr mod ...`. The fixed seed gives a
/// destination the same element after every load.
struct HashVmap {
    bool with_port;
    std::uint32_t modulus;
    std::string map;
};

inline constexpr std::uint32_t hash_seed = 1;

using Statement =
    std::variant<InterfaceMatch, ProtocolMatch, AddressMatch, NextHeaderMatch, Ip6SourceMatch, BitsMatch, MinimumMatch,
                 ServiceMatch, IcmpTypeMatch, TcpSynMatch, LaterFragmentMatch, ConntrackStateMatch, ConntrackStatusMatch,
                 LimitRate, CounterReference, Log, MaxSegmentSize, Notrack, Verdict, SourceNat, SourceNatMap, NumgenVmap,
                 HashVmap>;

/// Comments are at most 126 bytes (libnftnl's NFTNL_UDATA_COMMENT_MAXLEN is 128 with the final NUL; one to spare), without
/// a quote.
inline constexpr std::size_t longest_comment = 126;

struct Rule {
    std::vector<Statement> statements;
    std::string comment = {};
};

/// Hook points; not all exist in every family (`ingress` and `egress` are netdev's).
enum class Hook { prerouting, input, forward, output, postrouting, ingress, egress };

/// Standard priorities (linux/netfilter_ipv4.h).
namespace priority {
inline constexpr int raw = -300;
inline constexpr int dstnat = -100;
inline constexpr int filter = 0;
inline constexpr int srcnat = 100;
}  // namespace priority

/// What makes a chain a base chain. The policy is always accept: what we drop, we drop by a rule that counts.
struct Base {
    enum class Type { filter, nat } type;
    Hook hook;
    int priority;
    std::optional<InterfaceName> device = {};  ///< netdev only
};

struct Chain {
    std::string name;
    std::optional<Base> base = {};
    std::vector<Rule> rules = {};
    std::string comment = {};
};

struct Counter {
    std::string name;
    std::string comment = {};
};

/// `map M { typeof meta cpu : verdict; elements = { 0 : jump c0, 1-3 : jump c1 } }`.
///
/// The key is typed as `meta cpu` because nft 1.0.6 must be told a type and has none for numgen and jhash: meta cpu is the
/// 32-bit number in host order that has a typeof it lists and loads again. Interval keys if any element has more than one.
struct VerdictMap {
    struct Element {
        std::uint32_t first;  ///< ascending, without gaps from 0
        std::uint32_t last;
        std::string chain;    ///< jump: what it does not decide goes on behind the rule
    };
    std::string name;
    std::vector<Element> elements;
    std::string comment = {};

    [[nodiscard]] bool interval() const;
};

struct Table {
    TableName name;
    std::string comment = {};
    std::vector<Counter> counters = {};
    std::vector<VerdictMap> maps = {};
    std::vector<Chain> chains = {};
};

struct Ruleset {
    std::vector<Table> tables;
};

}  // namespace mape::nft
