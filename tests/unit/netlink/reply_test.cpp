#include "netlink/reply.h"

#include <cerrno>
#include <doctest/doctest.h>

#include "netlink/message_builder.h"
#include "wire.h"

using namespace mape;
using namespace mape::netlink;

namespace {

constexpr std::uint32_t port = 4242;
constexpr std::uint32_t sequence = 7;

wire::Bytes with_address(wire::Bytes message, std::uint32_t seq, std::uint32_t pid)
{
    nlmsghdr header = wire::header_of(message);
    header.nlmsg_seq = seq;
    header.nlmsg_pid = pid;
    wire::set_header(message, header);
    return message;
}

wire::Bytes request_with(unsigned flags)
{
    return with_address(MessageBuilder(16, NLM_F_REQUEST | flags).u32(5, 1).finish(), sequence, 0);
}

wire::Bytes ack(int error, std::uint32_t seq = sequence, std::uint32_t pid = port, unsigned extra_flags = 0,
                const char* text = nullptr, int offset = -1, bool whole = false)
{
    nlmsgerr body{};
    body.error = error;
    body.msg.nlmsg_len = whole ? 24 : 16;
    body.msg.nlmsg_seq = seq;
    MessageBuilder builder(NLMSG_ERROR, (whole ? 0U : unsigned{NLM_F_CAPPED}) | (text || offset >= 0 ? NLM_F_ACK_TLVS : 0U)
                                            | extra_flags);
    builder.family_header(body);
    if (whole)
        builder.family_header(std::uint64_t{0});
    if (text)
        builder.text_nul(NLMSGERR_ATTR_MSG, text);
    if (offset >= 0)
        builder.u32(NLMSGERR_ATTR_OFFS, static_cast<std::uint32_t>(offset));
    return with_address(builder.finish(), seq, pid);
}

wire::Bytes object(unsigned flags = 0, std::uint32_t seq = sequence, std::uint32_t pid = port)
{
    return with_address(MessageBuilder(24, flags).u32(1, 2).finish(), seq, pid);
}

wire::Bytes done(int code = 0, unsigned flags = NLM_F_MULTI)
{
    return with_address(MessageBuilder(NLMSG_DONE, flags).family_header(code).finish(), sequence, port);
}

wire::Bytes operator+(wire::Bytes a, const wire::Bytes& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct Counting {
    int objects = 0;
    Each each = [this](const nlmsghdr&) -> Result<void> {
        ++objects;
        return {};
    };
};

}  // namespace

TEST_CASE("an acknowledgement ends a request")
{
    const auto request = request_with(NLM_F_ACK);
    Exchange exchange(request, port, "add a thing");
    exchange.feed(ack(0), {});
    CHECK(exchange.state() == Exchange::State::ended);
    CHECK(exchange.outcome());
}

TEST_CASE("a refusal carries errno, the kernel's sentence and the attribute it is about")
{
    const auto request = request_with(NLM_F_ACK);
    const auto refuse = [&](const wire::Bytes& reply) {
        Exchange exchange(request, port, "add a thing");
        exchange.feed(reply, {});
        REQUIRE(exchange.state() == Exchange::State::ended);
        REQUIRE_FALSE(exchange.outcome());
        return exchange.outcome().error();
    };
    CHECK(to_text(refuse(ack(-EEXIST))) == "add a thing: File exists");
    CHECK(to_text(refuse(ack(-ENODEV, sequence, port, 0, "Device does not exist"))) ==
          "add a thing: No such device (kernel: Device does not exist)");
    CHECK(refuse(ack(-EINVAL, sequence, port, 0, "Invalid", 16)).kernel_message ==
          "Invalid [attribute type 5 at byte 16 of the request]");
    CHECK(refuse(ack(-EINVAL, sequence, port, 0, nullptr, 16)).kernel_message == "attribute type 5 at byte 16 of the request");
    CHECK(refuse(ack(-EINVAL, sequence, port, 0, nullptr, 9999)).kernel_message == "at byte 9999 of the request");
    CHECK(refuse(ack(-EINVAL, sequence, port, 0, "whole request echoed", -1, true)).kernel_message == "whole request echoed");
    CHECK(refuse(ack(-EPERM)).kind == ErrorKind::privilege);
    CHECK(refuse(ack(-EPERM)).errnum == EPERM);
}

TEST_CASE("answers to others are skipped")
{
    const auto request = request_with(NLM_F_ACK);
    Exchange exchange(request, port, "add a thing");
    exchange.feed(ack(-EEXIST, sequence - 1) + ack(-EEXIST, sequence, port + 1) + ack(-EEXIST, 0), {});
    CHECK(exchange.state() == Exchange::State::open);
    exchange.feed(ack(0), {});
    CHECK(exchange.state() == Exchange::State::ended);
    CHECK(exchange.outcome());
}

TEST_CASE("a dump ends at its end, not at the datagram's")
{
    const auto request = request_with(NLM_F_DUMP);
    Counting counting;
    Exchange exchange(request, port, "list things");
    exchange.feed(object(NLM_F_MULTI) + object(NLM_F_MULTI), counting.each);
    CHECK(exchange.state() == Exchange::State::open);
    exchange.feed(object(NLM_F_MULTI) + done(), counting.each);
    CHECK(exchange.state() == Exchange::State::ended);
    CHECK(exchange.outcome());
    CHECK(counting.objects == 3);
}

TEST_CASE("a dump can fail at its end")
{
    const auto request = request_with(NLM_F_DUMP);
    Exchange exchange(request, port, "list things");
    exchange.feed(done(-EOPNOTSUPP), {});
    REQUIRE(exchange.state() == Exchange::State::ended);
    CHECK(exchange.outcome().error().errnum == EOPNOTSUPP);
}

TEST_CASE("an inconsistent or dropped dump is interrupted")
{
    const auto request = request_with(NLM_F_DUMP);
    Counting counting;
    SUBCASE("flag on an object")
    {
        Exchange exchange(request, port, "list things");
        exchange.feed(object(NLM_F_MULTI | NLM_F_DUMP_INTR), counting.each);
        CHECK(exchange.state() == Exchange::State::interrupted);
        CHECK(counting.objects == 0);
    }
    SUBCASE("flag on the end")
    {
        Exchange exchange(request, port, "list things");
        exchange.feed(object(NLM_F_MULTI) + done(0, NLM_F_MULTI | NLM_F_DUMP_INTR), counting.each);
        CHECK(exchange.state() == Exchange::State::interrupted);
    }
    SUBCASE("overrun")
    {
        Exchange exchange(request, port, "list things");
        exchange.lost();
        CHECK(exchange.state() == Exchange::State::interrupted);
    }
    SUBCASE("after the end nothing changes any more")
    {
        Exchange exchange(request, port, "list things");
        exchange.feed(done(), counting.each);
        exchange.lost();
        CHECK(exchange.state() == Exchange::State::ended);
        CHECK(exchange.outcome());
    }
}

TEST_CASE("the flag means nothing on a request that is no dump")
{
    const auto request = request_with(NLM_F_ACK);
    Exchange exchange(request, port, "add a thing");
    exchange.feed(ack(0, sequence, port, NLM_F_DUMP_INTR), {});
    CHECK(exchange.outcome());
    CHECK(exchange.state() == Exchange::State::ended);
}

TEST_CASE("a failure of the reader ends a dump")
{
    const auto request = request_with(NLM_F_DUMP);
    Exchange exchange(request, port, "list things");
    exchange.feed(object(NLM_F_MULTI) + object(NLM_F_MULTI),
                  [](const nlmsghdr&) -> Result<void> { return fail(failure("odd thing")); });
    REQUIRE(exchange.state() == Exchange::State::ended);
    CHECK(exchange.outcome().error().message == "odd thing");
}

TEST_CASE("lying lengths are errors")
{
    const auto request = request_with(NLM_F_DUMP);
    const auto outcome_of = [&](const wire::Bytes& datagram) {
        Exchange exchange(request, port, "list things");
        exchange.feed(datagram, {});
        return exchange.outcome() ? std::string("good") : exchange.outcome().error().message;
    };
    auto reply = object(NLM_F_MULTI);
    const auto with_length = [&](std::uint32_t length) {
        nlmsghdr header = wire::header_of(reply);
        header.nlmsg_len = length;
        wire::Bytes copy = reply;
        wire::set_header(copy, header);
        return copy;
    };
    CHECK(outcome_of(with_length(25)) == "list things: malformed netlink datagram: a message claims 25 bytes of 24");
    CHECK(outcome_of(with_length(15)) == "list things: malformed netlink datagram: a message claims 15 bytes of 24");
    CHECK(outcome_of(with_length(0)) == "list things: malformed netlink datagram: a message claims 0 bytes of 24");
    CHECK(outcome_of(with_length(UINT32_MAX)) ==
          "list things: malformed netlink datagram: a message claims 4294967295 bytes of 24");
    CHECK(outcome_of(reply + wire::Bytes(4)) ==
          "list things: malformed netlink datagram: 4 bytes are left where a message should start");
    CHECK(outcome_of(ack(5)) == "list things: malformed netlink error message: code 5");
    wire::Bytes short_ack = with_address(MessageBuilder(NLMSG_ERROR, 0).finish(), sequence, port);
    CHECK(outcome_of(short_ack) == "list things: malformed netlink error message: no error code");
}

TEST_CASE("no damage to an answer crashes")
{
    for (const unsigned flags : {unsigned{NLM_F_ACK}, unsigned{NLM_F_DUMP}}) {
        const auto request = request_with(flags);
        const auto feed = [&](const wire::Bytes& datagram) {
            Counting counting;
            Exchange exchange(request, port, "list things");
            exchange.feed(datagram, counting.each);
        };
        wire::damage(object(NLM_F_MULTI) + done(), feed);
        wire::damage(ack(-EINVAL, sequence, port, 0, "Invalid", 16), feed);
        wire::damage(ack(-EINVAL, sequence, port, 0, "Invalid", 16, true), feed);
    }
}

namespace {

wire::Bytes batch_message(unsigned type, std::uint32_t seq, unsigned flags = 0)
{
    return with_address(MessageBuilder(type, NLM_F_REQUEST | flags).u32(5, 1).finish(), seq, 0);
}

// begin 1, things 2 to 4 of which the last asks for an acknowledgement, end 5
wire::Bytes batch()
{
    return batch_message(16, 1) + batch_message(2560, 2) + batch_message(2563, 3) + batch_message(2566, 4, NLM_F_ACK)
           + batch_message(17, 5);
}

const std::vector<Labelled> labels{{1, "start the transaction"}, {2, "add table"}, {3, "add chain"}, {4, "add rule"}};

Result<void> batch_outcome(const std::vector<wire::Bytes>& datagrams, bool lost = false)
{
    const auto sent = batch();
    auto exchange = BatchExchange::make(sent, labels, port);
    REQUIRE(exchange);
    for (const auto& datagram : datagrams)
        exchange->feed(datagram);
    if (lost)
        exchange->lost();
    return exchange->outcome();
}

}  // namespace

TEST_CASE("a batch has succeeded when its last message is acknowledged")
{
    CHECK(batch_outcome({ack(0, 4)}));
    CHECK(batch_outcome({ack(0, 2), ack(0, 4)}));
    CHECK_FALSE(batch_outcome({ack(0, 3)}));
    CHECK_FALSE(batch_outcome({ack(0, 4, port + 1)}));
    CHECK_FALSE(batch_outcome({ack(0, 99)}));
    CHECK(batch_outcome({}).error().errnum == ETIMEDOUT);
}

TEST_CASE("a batch names the message that was refused first")
{
    CHECK(to_text(batch_outcome({ack(-ENOENT, 3, port, 0, nullptr, 16)}).error()) ==
          "add chain: No such file or directory (kernel: attribute type 5 at byte 16 of the request)");
    // The acknowledgement that was asked for comes even so.
    CHECK(to_text(batch_outcome({ack(-ENOENT, 3) + ack(-EEXIST, 2) + ack(0, 4)}).error()) ==
          "add chain (the first of 2 refused): No such file or directory");
    CHECK(batch_outcome({ack(-EPERM, 1)}).error().kind == ErrorKind::privilege);
    CHECK(batch_outcome({ack(-EPERM, 1)}).error().message == "start the transaction");
    CHECK(batch_outcome({ack(-EINVAL, 5)}).error().message == "batch message 5");
}

TEST_CASE("a dropped answer does not turn success into failure, nor failure into success")
{
    CHECK(batch_outcome({ack(0, 4)}, true));
    CHECK(batch_outcome({ack(-ENOENT, 3)}, true).error().errnum == ENOENT);
    CHECK(batch_outcome({}, true).error().errnum == ENOBUFS);
    CHECK(batch_outcome({ack(0, 2)}, true).error().errnum == ENOBUFS);
}

TEST_CASE("a batch that could not be judged is not sent")
{
    const auto unasked = batch_message(16, 1) + batch_message(17, 2);
    CHECK_FALSE(BatchExchange::make(unasked, labels, port));
    auto cut = batch();
    cut.pop_back();
    CHECK_FALSE(BatchExchange::make(cut, labels, port));
}

TEST_CASE("no damage to a batch's answer crashes")
{
    const auto sent = batch();
    wire::damage(ack(-EINVAL, 3, port, 0, "Invalid", 16) + ack(0, 4), [&](const wire::Bytes& datagram) {
        auto exchange = BatchExchange::make(sent, labels, port);
        exchange->feed(datagram);
        (void)exchange->outcome();
    });
}
