#include "netlink/socket.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace mape::netlink {

namespace {

constexpr int max_restarts = 5;
// The kernel answers while the request is being sent; only a lost answer is waited for.
constexpr timeval answer_timeout{10, 0};
// Dump parts follow the size of the buffer they are read with up to 32 KiB; a single nf_tables set message may have 64.
constexpr std::size_t initial_buffer = 64 * 1024;
// Refusals of a whole batch; one takes about a kilobyte of accounted memory.
constexpr int batch_receive_buffer = 4 * 1024 * 1024;

std::string bus_name(int bus)
{
    switch (bus) {
    case NETLINK_ROUTE:
        return "route";
    case NETLINK_NETFILTER:
        return "netfilter";
    case NETLINK_GENERIC:
        return "generic";
    default:
        return std::to_string(bus);
    }
}

}  // namespace

// One datagram, or why there is none.
struct Socket::Received {
    std::span<const std::byte> datagram;
    int errnum = 0;
};

Socket::Socket(mnl_socket* socket) : socket_(socket), sequence_(static_cast<std::uint32_t>(std::time(nullptr))) {}

Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

Result<Socket> Socket::open(int bus)
{
    const auto failed = [bus](const char* step) {
        return fail(system_error(errno, fmt::format("cannot {} a netlink socket ({})", step, bus_name(bus))));
    };
    mnl_socket* raw = mnl_socket_open2(bus, SOCK_CLOEXEC);
    if (!raw)
        return failed("open");
    Socket socket(raw);
    if (mnl_socket_bind(raw, 0, MNL_SOCKET_AUTOPID) < 0)
        return failed("bind");
    // Each of these only makes answers better or smaller; a kernel without one still answers.
    int one = 1;
    (void)mnl_socket_setsockopt(raw, NETLINK_EXT_ACK, &one, sizeof one);
    (void)mnl_socket_setsockopt(raw, NETLINK_CAP_ACK, &one, sizeof one);
    if (bus == NETLINK_ROUTE)
        (void)mnl_socket_setsockopt(raw, NETLINK_GET_STRICT_CHK, &one, sizeof one);
    if (::setsockopt(mnl_socket_get_fd(raw), SOL_SOCKET, SO_RCVTIMEO, &answer_timeout, sizeof answer_timeout) < 0)
        return failed("set up");
    return socket;
}

Result<void> Socket::send(std::span<const std::byte> bytes, std::string_view what)
{
    discard_pending();
    for (;;) {
        const ssize_t sent = mnl_socket_sendto(socket_.get(), bytes.data(), bytes.size());
        if (sent >= 0)
            return {};
        if (errno != EINTR)
            return fail(system_error(errno, std::string(what)));
    }
}

Socket::Received Socket::receive(int flags)
{
    if (buffer_.empty())
        buffer_.resize(initial_buffer);
    for (;;) {
        sockaddr_nl sender{};
        iovec part{buffer_.data(), buffer_.size()};
        msghdr message{};
        message.msg_name = &sender;
        message.msg_namelen = sizeof sender;
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        const ssize_t size = ::recvmsg(mnl_socket_get_fd(socket_.get()), &message, flags | MSG_TRUNC);
        if (size < 0) {
            if (errno == EINTR)
                continue;
            return {{}, errno};
        }
        // Any process may write to our port; only port 0 is the kernel.
        if (message.msg_namelen != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0)
            continue;
        if ((message.msg_flags & MSG_TRUNC) != 0) {
            buffer_.resize(std::max(buffer_.size() * 2, static_cast<std::size_t>(size)));
            return {{}, ENOBUFS};
        }
        return {std::span(buffer_).first(static_cast<std::size_t>(size)), 0};
    }
}

// Reads to the end of an answer that nobody wants any more: while a dump runs, the kernel refuses to start another.
void Socket::discard_pending()
{
    // The kernel tells of an overrun once; no more than a full receive queue can be left.
    for (int left = 4096; pending_ && left > 0; --left) {
        const Received received = receive(MSG_DONTWAIT);
        if (received.errnum != 0 && received.errnum != ENOBUFS)
            pending_ = false;
    }
}

Exchange Socket::converse(Message& request, unsigned flags, std::string_view what, const Each& each, bool is_write)
{
    if (request.size() >= sizeof(nlmsghdr)) {
        nlmsghdr header{};
        std::memcpy(&header, request.data(), sizeof header);
        header.nlmsg_len = static_cast<std::uint32_t>(request.size());
        header.nlmsg_flags = static_cast<std::uint16_t>(header.nlmsg_flags | flags);
        header.nlmsg_seq = ++sequence_;
        header.nlmsg_pid = 0;
        std::memcpy(request.data(), &header, sizeof header);
    }
    Exchange exchange(request, mnl_socket_get_portid(socket_.get()), what);
    if (exchange.state() != Exchange::State::open)
        return exchange;
    if (auto sent = send(request, what); !sent) {
        exchange.abandon(std::move(sent.error()));
        return exchange;
    }
    if (is_write)
        ++writes_;
    pending_ = true;
    while (exchange.state() == Exchange::State::open) {
        const Received received = receive(0);
        if (received.errnum == 0)
            exchange.feed(received.datagram, each);
        else if (received.errnum == ENOBUFS)
            exchange.lost();
        else
            exchange.abandon(system_error(received.errnum == EAGAIN ? ETIMEDOUT : received.errnum,
                                          fmt::format("{}: no answer from the kernel", what)));
    }
    // What follows the end of an answer is late parts of others; they go by their sequence numbers.
    pending_ = exchange.state() == Exchange::State::interrupted || !exchange.outcome();
    return exchange;
}

Result<void> Socket::request(Message request, std::string_view what)
{
    const Exchange exchange = converse(request, NLM_F_REQUEST | NLM_F_ACK, what, {}, true);
    if (exchange.state() == Exchange::State::interrupted)
        return fail(system_error(ENOBUFS, fmt::format("{}: the kernel's answer was dropped", what)));
    return exchange.outcome();
}

Result<void> Socket::get(Message request, std::string_view what, const Each& each)
{
    const Exchange exchange = converse(request, NLM_F_REQUEST | NLM_F_ACK, what, each, false);
    if (exchange.state() == Exchange::State::interrupted)
        return fail(system_error(ENOBUFS, fmt::format("{}: the kernel's answer was dropped", what)));
    return exchange.outcome();
}

Result<void> Socket::dump(Message request, std::string_view what, const Each& each, const std::function<void()>& restart)
{
    for (int attempt = 0; attempt <= max_restarts; ++attempt) {
        if (attempt > 0 && restart)
            restart();
        const Exchange exchange = converse(request, NLM_F_REQUEST | NLM_F_DUMP, what, each, false);
        if (exchange.state() != Exchange::State::interrupted)
            return exchange.outcome();
    }
    return fail(failure(fmt::format("{}: the kernel's list changed each of the {} times it was read", what, max_restarts + 1),
                        "run it again when the network is quieter"));
}

Result<void> Socket::send_batch(std::span<const std::byte> batch, Labels labels)
{
    auto made = BatchExchange::make(batch, std::move(labels), mnl_socket_get_portid(socket_.get()));
    if (!made)
        return fail(made.error());
    BatchExchange& exchange = *made;

    // netlink_sendmsg refuses what is longer than the send buffer; SO_SNDBUFFORCE goes beyond net.core.wmem_max and needs
    // CAP_NET_ADMIN, without which the batch is refused anyway, with a better error.
    const int fd = mnl_socket_get_fd(socket_.get());
    const int size = static_cast<int>(std::min<std::size_t>(batch.size(), INT_MAX / 2));
    int present = 0;
    socklen_t length = sizeof present;
    if (::getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &present, &length) < 0 || present / 2 < size) {
        if (::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
            (void)::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &batch_receive_buffer, sizeof batch_receive_buffer) < 0)
        (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &batch_receive_buffer, sizeof batch_receive_buffer);

    if (auto sent = send(batch, fmt::format("send a batch of {} bytes to nf_tables", batch.size())); !sent)
        return sent;
    ++writes_;
    // The kernel has decided before sendmsg returned and all answers are in the queue: read them without waiting. Only if
    // there is none at all wait once.
    for (bool wait = false, waited = false;;) {
        const Received received = receive(wait ? 0 : MSG_DONTWAIT);
        waited = waited || wait;
        wait = false;
        if (received.errnum == 0)
            exchange.feed(received.datagram);
        else if (received.errnum == ENOBUFS)
            exchange.lost();
        else if (received.errnum != EAGAIN)
            return fail(system_error(received.errnum, "read the kernel's answer to the batch"));
        else if (exchange.answered() || waited)
            break;
        else
            wait = true;
    }
    pending_ = !exchange.outcome();
    return exchange.outcome();
}

}  // namespace mape::netlink
