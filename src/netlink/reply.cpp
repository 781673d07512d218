#include "netlink/reply.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "netlink/attributes.h"

namespace mape::netlink {

namespace {

bool is_for(const nlmsghdr& message, std::uint32_t port_id)
{
    return message.nlmsg_pid == 0 || message.nlmsg_pid == port_id;
}

// "attribute type 5 at byte 32", as far as the request is at hand.
std::string attribute_at(std::span<const std::byte> request, std::uint32_t offset)
{
    nlattr attribute{};
    if (offset > request.size() || request.size() - offset < sizeof attribute)
        return fmt::format("at byte {} of the request", offset);
    std::memcpy(&attribute, request.data() + offset, sizeof attribute);
    return fmt::format("attribute type {} at byte {} of the request", attribute.nla_type & NLA_TYPE_MASK, offset);
}

Error refused(const Ack& ack, std::string what)
{
    Error error = system_error(ack.errnum, std::move(what));
    error.kernel_message = ack.kernel_message;
    return error;
}

}  // namespace

std::span<const std::byte> bytes_of(const nlmsghdr& message)
{
    return {reinterpret_cast<const std::byte*>(&message), message.nlmsg_len};
}

std::span<const std::byte> payload_of(const nlmsghdr& message)
{
    return bytes_of(message).subspan(NLMSG_HDRLEN);
}

Result<const nlmsghdr*> next_message(std::span<const std::byte>& rest)
{
    if (rest.empty())
        return nullptr;
    if (rest.size() < sizeof(nlmsghdr))
        return fail(failure(fmt::format("malformed netlink datagram: {} bytes are left where a message should start",
                                        rest.size())));
    if (reinterpret_cast<std::uintptr_t>(rest.data()) % alignof(nlmsghdr) != 0)
        return fail(failure("malformed netlink datagram: a message does not start at a multiple of 4 bytes"));
    const auto* message = reinterpret_cast<const nlmsghdr*>(rest.data());
    if (message->nlmsg_len < sizeof(nlmsghdr) || message->nlmsg_len > rest.size())
        return fail(failure(fmt::format("malformed netlink datagram: a message claims {} bytes of {}", message->nlmsg_len,
                                        rest.size())));
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(std::size_t{message->nlmsg_len}), rest.size()));
    return message;
}

Result<Ack> parse_ack(const nlmsghdr& message, std::span<const std::byte> request)
{
    auto payload = payload_of(message);
    std::int32_t code = 0;
    if (payload.size() < sizeof code) {
        // An empty NLMSG_DONE ends a dump in some subsystems; an NLMSG_ERROR always carries its code.
        if (message.nlmsg_type == NLMSG_DONE)
            return Ack{};
        return fail(failure("malformed netlink error message: no error code"));
    }
    std::memcpy(&code, payload.data(), sizeof code);
    if (code > 0 && message.nlmsg_type == NLMSG_DONE)
        code = 0;  // a subsystem may end a dump with a count
    if (code > 0 || code < -4095)
        return fail(failure(fmt::format("malformed netlink error message: code {}", code)));
    Ack ack{-code, {}};
    payload = payload.subspan(sizeof code);
    if ((message.nlmsg_flags & NLM_F_ACK_TLVS) == 0)
        return ack;
    if (message.nlmsg_type == NLMSG_ERROR) {
        nlmsghdr inner{};
        if (payload.size() < sizeof inner)
            return fail(failure("malformed netlink error message: the refused header is cut off"));
        std::memcpy(&inner, payload.data(), sizeof inner);
        // The refused message follows whole, unless NETLINK_CAP_ACK left its header only.
        const std::size_t skip =
            (message.nlmsg_flags & NLM_F_CAPPED) != 0 ? sizeof inner : NLMSG_ALIGN(std::size_t{inner.nlmsg_len});
        if (skip < sizeof inner || skip > payload.size())
            return fail(failure(fmt::format("malformed netlink error message: it claims to hold a request of {} bytes",
                                            inner.nlmsg_len)));
        payload = payload.subspan(skip);
    }
    const Attributes attributes(payload, "extended ack");
    ack.kernel_message = attributes.text(NLMSGERR_ATTR_MSG).value_or("");
    std::string about;
    if (const auto offset = attributes.u32(NLMSGERR_ATTR_OFFS))
        about = attribute_at(request, *offset);
    else if (const auto missing = attributes.u32(NLMSGERR_ATTR_MISS_TYPE))
        about = fmt::format("attribute type {} is missing", *missing);
    if (!about.empty())
        ack.kernel_message += ack.kernel_message.empty() ? about : fmt::format(" [{}]", about);
    if (auto good = attributes.check(); !good)
        return fail(good.error());
    return ack;
}

Exchange::Exchange(std::span<const std::byte> request, std::uint32_t port_id, std::string_view what)
    : request_(request), port_id_(port_id), what_(what)
{
    nlmsghdr header{};
    if (request.size() < sizeof header) {
        end(fail(failure(fmt::format("{}: the request has no header", what))));
        return;
    }
    std::memcpy(&header, request.data(), sizeof header);
    sequence_ = header.nlmsg_seq;
    dump_ = (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

void Exchange::end(Result<void> outcome)
{
    state_ = State::ended;
    outcome_ = std::move(outcome);
}

void Exchange::lost()
{
    if (state_ == State::open)
        state_ = State::interrupted;
}

void Exchange::feed(std::span<const std::byte> datagram, const Each& each)
{
    while (state_ == State::open) {
        const auto next = next_message(datagram);
        if (!next)
            return end(fail(with_context(what_, next.error())));
        if (*next == nullptr)
            return;
        const nlmsghdr& message = **next;
        if (message.nlmsg_seq != sequence_ || !is_for(message, port_id_))
            continue;
        if (dump_ && (message.nlmsg_flags & NLM_F_DUMP_INTR) != 0)
            return lost();
        switch (message.nlmsg_type) {
        case NLMSG_NOOP:
            break;
        case NLMSG_OVERRUN:
            return lost();
        case NLMSG_ERROR:
        case NLMSG_DONE: {
            const auto ack = parse_ack(message, request_);
            if (!ack)
                return end(fail(with_context(what_, ack.error())));
            if (ack->errnum != 0)
                return end(fail(refused(*ack, what_)));
            return end({});
        }
        default:
            if (auto taken = each ? each(message) : Result<void>{}; !taken)
                return end(std::move(taken));
        }
    }
}

std::string Labels::of(std::uint32_t sequence) const
{
    for (Labelled& labelled : make_())
        if (labelled.sequence == sequence)
            return std::move(labelled.label);
    return fmt::format("batch message {}", sequence);
}

Result<BatchExchange> BatchExchange::make(std::span<const std::byte> batch, Labels labels, std::uint32_t port_id)
{
    BatchExchange exchange(batch, std::move(labels), port_id);
    bool asked = false;
    for (auto rest = batch;;) {
        const auto next = next_message(rest);
        if (!next)
            return fail(with_context("batch to send", next.error()));
        if (*next == nullptr)
            break;
        if (((*next)->nlmsg_flags & NLM_F_ACK) != 0) {
            exchange.last_sequence_ = (*next)->nlmsg_seq;
            asked = true;
        }
    }
    if (!asked)
        return fail(failure("batch to send: no message asks for an acknowledgement"));
    return exchange;
}

void BatchExchange::feed(std::span<const std::byte> datagram)
{
    for (;;) {
        const auto next = next_message(datagram);
        if (!next) {
            if (!error_)
                error_ = next.error();
            return;
        }
        if (*next == nullptr)
            return;
        const nlmsghdr& message = **next;
        if (message.nlmsg_type != NLMSG_ERROR || !is_for(message, port_id_))
            continue;
        // Replies carry the sequence number of what they answer; one that the batch does not hold is a late one.
        std::span<const std::byte> request;
        for (auto rest = batch_;;) {
            const auto sent = next_message(rest);
            if (!sent || *sent == nullptr)
                break;
            if ((*sent)->nlmsg_seq == message.nlmsg_seq) {
                request = bytes_of(**sent);
                break;
            }
        }
        if (request.empty())
            continue;
        const auto ack = parse_ack(message, request);
        if (!ack) {
            if (!error_)
                error_ = ack.error();
            continue;
        }
        if (ack->errnum == 0) {
            acknowledged_ = acknowledged_ || message.nlmsg_seq == last_sequence_;
            continue;
        }
        ++refused_;
        if (error_)
            continue;
        error_ = refused(*ack, labels_.of(message.nlmsg_seq));
    }
}

Result<void> BatchExchange::outcome() const
{
    if (error_) {
        Error error = *error_;
        if (refused_ > 1)
            error.message += fmt::format(" (the first of {} refused)", refused_);
        return fail(std::move(error));
    }
    if (acknowledged_)
        return {};
    if (lost_)
        return fail(system_error(ENOBUFS, "the kernel's answer to the batch was dropped; whether it was taken is not known"));
    return fail(system_error(ETIMEDOUT, "the kernel did not answer the batch; whether it was taken is not known"));
}

}  // namespace mape::netlink
