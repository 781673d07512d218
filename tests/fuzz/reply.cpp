// A kernel that lies: the input is a script of datagrams, losses and giving up, fed to an Exchange or a BatchExchange.
// One byte says which and whether it is a dump, then an operation a byte; see step() and message().
#include "fuzz.h"

#include <algorithm>
#include <cerrno>

#include <linux/netlink.h>

#include "netlink/message_builder.h"
#include "netlink/reply.h"

using namespace mape;
using namespace mape::netlink;

namespace {

constexpr std::uint32_t port = 4242;
constexpr std::uint32_t sequence = 7;

void append(Message& to, const Message& what)
{
    to.insert(to.end(), what.begin(), what.end());
}

Message request(unsigned type, std::uint32_t number, unsigned flags)
{
    Message message = MessageBuilder(type, NLM_F_REQUEST | flags).u32(5, 1).text_nul(1, "mape0").finish();
    std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_seq), &number, sizeof number);
    return message;
}

/// Begin 7, three messages of which the last asks for an acknowledgement, end 11.
const Message& batch()
{
    static const Message bytes = [] {
        Message all = request(16, sequence, 0);
        append(all, request(2560, sequence + 1, 0));
        append(all, request(2563, sequence + 2, 0));
        append(all, request(2566, sequence + 3, NLM_F_ACK));
        append(all, request(17, sequence + 4, 0));
        return all;
    }();
    return bytes;
}

const std::vector<Labelled> labels{{sequence, "start"}, {sequence + 1, "add table"}, {sequence + 2, "add chain"}};

/// One message, mostly as it should be: what may be wrong with it is a bit each.
Message message(fuzz::Input& input)
{
    static constexpr std::uint16_t types[] = {NLMSG_NOOP, NLMSG_ERROR, NLMSG_DONE, NLMSG_OVERRUN, 16, 2560, NLMSG_ERROR, NLMSG_DONE};
    const unsigned shape = input.u8();
    nlmsghdr header{};
    header.nlmsg_type = types[shape & 7];
    header.nlmsg_seq = sequence + ((shape & 8) != 0 ? input.u8() & 7U : 0U);
    header.nlmsg_pid = (shape & 16) != 0 ? port + input.u8() % 2 : port;
    header.nlmsg_flags = (shape & 32) != 0 ? input.u16() : std::uint16_t{NLM_F_MULTI};
    const auto payload = input.bytes(input.u8());
    Message bytes(NLMSG_ALIGN(sizeof header + payload.size()));
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + payload.size());
    if ((shape & 64) != 0)
        header.nlmsg_len += static_cast<std::uint32_t>(static_cast<std::int8_t>(input.u8()));
    std::memcpy(bytes.data(), &header, sizeof header);
    if (!payload.empty())
        std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
    return bytes;
}

/// Several messages, or any bytes.
Message datagram(fuzz::Input& input, unsigned operation)
{
    if ((operation & 4) != 0)
        return fuzz::exactly(input.bytes(input.u16()));
    Message all;
    for (unsigned left = 1 + (operation >> 3 & 3); left > 0; --left)
        append(all, message(input));
    if ((operation & 32) != 0)
        all.resize(all.size() - std::min<std::size_t>(all.size(), input.u8()));
    all.shrink_to_fit();
    return all;
}

/// Whether a datagram holds the acknowledgement of `number`: an error of 0, or the end of a dump. Every header is read
/// by hand here, to compare.
bool acknowledges(const Message& bytes, std::uint32_t number, bool done_counts)
{
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= bytes.size();) {
        nlmsghdr header{};
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size() - at)
            return false;
        std::int32_t code = 0;
        const bool has_code = header.nlmsg_len >= sizeof header + sizeof code;
        if (has_code)
            std::memcpy(&code, bytes.data() + at + sizeof header, sizeof code);
        if (header.nlmsg_seq == number && (header.nlmsg_pid == 0 || header.nlmsg_pid == port)) {
            if (header.nlmsg_type == NLMSG_ERROR && has_code && code == 0)
                return true;
            if (done_counts && header.nlmsg_type == NLMSG_DONE && code >= 0)
                return true;
        }
        at += NLMSG_ALIGN(std::size_t{header.nlmsg_len});
    }
    return false;
}

void play_exchange(fuzz::Input& input, bool dump)
{
    const Message asked = request(16, sequence, dump ? unsigned{NLM_F_DUMP} : unsigned{NLM_F_ACK});
    Exchange exchange(asked, port, "do a thing");
    const Message* now = nullptr;
    bool reader_fails = false;
    bool acknowledged = false;
    const Each each = [&](const nlmsghdr& got) -> Result<void> {
        HOLDS(exchange.state() == Exchange::State::open);
        const auto bytes = bytes_of(got);
        HOLDS(bytes.data() >= now->data() && bytes.data() + bytes.size() <= now->data() + now->size());
        HOLDS(payload_of(got).size() + NLMSG_HDRLEN == bytes.size());
        HOLDS(got.nlmsg_seq == sequence && (got.nlmsg_pid == 0 || got.nlmsg_pid == port));
        HOLDS(!dump || (got.nlmsg_flags & NLM_F_DUMP_INTR) == 0);
        if (reader_fails)
            return fail(failure("odd thing"));
        return {};
    };
    std::string said;
    while (!input.empty()) {
        const auto before = exchange.state();
        const unsigned operation = input.u8();
        if ((operation & 3) == 3) {
            if ((operation & 4) != 0)
                exchange.lost();
            else if (before == Exchange::State::open)
                exchange.abandon(system_error(ETIMEDOUT, "do a thing"));
        } else {
            const Message bytes = datagram(input, operation);
            reader_fails = (operation & 3) == 2;
            now = &bytes;
            acknowledged = acknowledged || acknowledges(bytes, sequence, true);
            exchange.feed(bytes, each);
        }
        // What is over stays so, and as it was.
        if (before != Exchange::State::open)
            HOLDS(exchange.state() == before);
        if (exchange.state() != Exchange::State::ended)
            continue;
        const auto& outcome = exchange.outcome();
        const std::string says = outcome ? "good" : to_text(outcome.error());
        HOLDS(said.empty() || said == says);
        said = says;
        if (outcome)
            HOLDS(acknowledged);
        else
            fuzz::check_error(outcome.error());
    }
}

void play_batch(fuzz::Input& input)
{
    auto exchange = BatchExchange::make(batch(), labels, port);
    HOLDS(exchange);
    bool acknowledged = false;
    std::string said;
    while (!input.empty()) {
        const bool answered = exchange->answered();
        const bool good = exchange->outcome().has_value();
        const unsigned operation = input.u8();
        if ((operation & 3) == 3) {
            exchange->lost();
        } else {
            const Message bytes = datagram(input, operation);
            acknowledged = acknowledged || acknowledges(bytes, sequence + 3, false);
            exchange->feed(bytes);
        }
        HOLDS(exchange->answered() || !answered);
        const auto outcome = exchange->outcome();
        if (outcome) {
            HOLDS(exchange->answered() && acknowledged);
            HOLDS(said.empty());  // what was refused is never forgotten
            continue;
        }
        fuzz::check_error(outcome.error());
        if (!exchange->answered()) {
            HOLDS(!good);
            HOLDS(outcome.error().errnum == ENOBUFS || outcome.error().errnum == ETIMEDOUT);
            continue;
        }
        const std::string says = outcome.error().message.substr(0, outcome.error().message.find(" (the first of"));
        HOLDS(said.empty() || said == says);
        said = says;
    }
}

/// The acknowledgement alone, with a request of any bytes.
void play_ack(fuzz::Input& input)
{
    const Message asked = fuzz::exactly(input.bytes(input.u8()));
    const Message bytes = fuzz::exactly(input.rest());
    for (std::span<const std::byte> rest = bytes;;) {
        const auto next = next_message(rest);
        if (!next)
            return fuzz::check_error(next.error());
        if (*next == nullptr)
            return;
        const auto ack = parse_ack(**next, asked);
        if (ack)
            HOLDS(ack->errnum >= 0 && ack->errnum <= 4095);
        else
            fuzz::check_error(ack.error());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);
    switch (input.u8() & 3) {
    case 0: play_exchange(input, false); break;
    case 1: play_exchange(input, true); break;
    case 2: play_batch(input); break;
    default: play_ack(input);
    }
    return 0;
}
