// One dumb netlink socket: bytes out, messages in, errors with the kernel's own sentence.
// What the bytes of an answer mean is reply.h's business; here is only what needs a file descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "base/result.h"
#include "netlink/reply.h"

struct mnl_socket;
extern "C" int mnl_socket_close(struct mnl_socket*);

namespace mape::netlink {

class Socket {
public:
    Socket(Socket&&) noexcept;
    Socket& operator=(Socket&&) noexcept;
    ~Socket();

    /// bus: NETLINK_ROUTE, NETLINK_NETFILTER, NETLINK_GENERIC. Extended acks are asked for, and on NETLINK_ROUTE strict
    /// checking of dump requests: their header must be zero but for the family, or name what to filter by.
    /// EPROTONOSUPPORT (no such bus in this kernel) keeps its errno.
    [[nodiscard]] static Result<Socket> open(int bus);

    /// Sends `request` with NLM_F_REQUEST | NLM_F_ACK and whatever flags it has, and waits for the answer. `what` is the
    /// operation in the user's words. An error carries errno and the kernel's extended ack. ENOBUFS, ETIMEDOUT (ten
    /// seconds): the answer is missing and it is not known whether it was done.
    [[nodiscard]] Result<void> request(Message request, std::string_view what);

    /// The same, and not counted as a write, for what only reads: `each` gets every message before the acknowledgement.
    [[nodiscard]] Result<void> get(Message request, std::string_view what, const Each& each);

    /// Sends `request` with NLM_F_REQUEST | NLM_F_DUMP and calls `each` with every message of the answer; the first failure
    /// of `each` is returned. Starts over, at most 5 times, when the kernel says that the list changed meanwhile
    /// (NLM_F_DUMP_INTR) or dropped a part (ENOBUFS); `restart` is called then, to forget what `each` has gathered.
    [[nodiscard]] Result<void> dump(Message request, std::string_view what, const Each& each,
                                    const std::function<void()>& restart = {});

    /// Sends a whole nf_tables batch (NFNL_MSG_BATCH_BEGIN .. END) in one sendmsg, with a send buffer large enough
    /// (SO_SNDBUFFORCE), and reads all answers. The batch's sequence numbers stay as they are. Success is the ACK of the last
    /// message that carries NLM_F_ACK, which should be the last inner message and the only one.
    /// An error names the label of the first message the kernel refused; label the batch-begin's sequence number too.
    [[nodiscard]] Result<void> send_batch(std::span<const std::byte> batch, Labels labels);

    /// For the tests and the bench: calls of request() and send_batch() that reached the kernel since open.
    [[nodiscard]] unsigned writes() const { return writes_; }

private:
    explicit Socket(mnl_socket* socket);
    [[nodiscard]] Result<void> send(std::span<const std::byte> bytes, std::string_view what);
    struct Received;
    [[nodiscard]] Received receive(int flags);
    void discard_pending();
    [[nodiscard]] Exchange converse(Message& request, unsigned flags, std::string_view what, const Each& each,
                                    bool is_write);

    Handle<mnl_socket, mnl_socket_close> socket_;
    std::vector<std::byte> buffer_;
    std::uint32_t sequence_;
    unsigned writes_ = 0;
    bool pending_ = false;  ///< an answer was left before its end
};

}  // namespace mape::netlink
