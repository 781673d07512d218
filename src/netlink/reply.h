// What the kernel answers, read from bytes alone: no socket here, so that tests and fuzzers can play the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/netlink.h>

#include "base/result.h"

namespace mape::netlink {

/// One netlink message, header included; sequence number and port id are filled in when it is sent.
using Message = std::vector<std::byte>;

/// Called with each message of an answer. The reference is into the datagram: nlmsg_len bytes from it are readable, and
/// nothing is after the call.
using Each = std::function<Result<void>(const nlmsghdr&)>;

/// A message together with what it does, for error texts.
struct Labelled {
    std::uint32_t sequence;
    std::string label;  ///< "add route default dev mape0"
};

/// What each message of a batch does: said already, or made only where one is refused. What it refers to must outlive it.
class Labels {
public:
    // NOLINTBEGIN(google-explicit-constructor): either stands where labels are asked for
    Labels(const std::vector<Labelled>& labels) : make_([&labels] { return labels; }) {}
    Labels(std::function<std::vector<Labelled>()> make) : make_(std::move(make)) {}
    // NOLINTEND(google-explicit-constructor)

    /// "batch message 7" where there is none.
    [[nodiscard]] std::string of(std::uint32_t sequence) const;

private:
    std::function<std::vector<Labelled>()> make_;
};

/// The whole message, and what follows its header. The length must have been checked, as next_message() does.
[[nodiscard]] std::span<const std::byte> bytes_of(const nlmsghdr& message);
[[nodiscard]] std::span<const std::byte> payload_of(const nlmsghdr& message);

/// Takes the next message off `rest`; nullptr when nothing is left. Error: a length that is shorter than a header or
/// reaches beyond the datagram. The datagram must be aligned to 4 bytes, as vectors are.
[[nodiscard]] Result<const nlmsghdr*> next_message(std::span<const std::byte>& rest);

/// An NLMSG_ERROR or NLMSG_DONE (include/uapi/linux/netlink.h struct nlmsgerr and enum nlmsgerr_attrs).
struct Ack {
    int errnum = 0;              ///< 0: done
    std::string kernel_message;  ///< the extended ack: the sentence, and which attribute it is about
};

/// `request` is what was refused, to tell the type of the attribute that is complained of; may be empty.
[[nodiscard]] Result<Ack> parse_ack(const nlmsghdr& message, std::span<const std::byte> request = {});

/// One request and what came back so far.
class Exchange {
public:
    enum class State {
        open,         ///< more must come
        ended,        ///< outcome() is known
        interrupted,  ///< what came so far is not one consistent answer: ask again
    };

    /// `request` must outlive this; its header's sequence number and flags tell what answers it. `what`: see Socket.
    Exchange(std::span<const std::byte> request, std::uint32_t port_id, std::string_view what);

    /// One datagram. Messages with another sequence number or for another port are skipped. Ends at the NLMSG_DONE of a
    /// dump, at the acknowledgement of anything else, at the first malformed message and at the first failure of `each`.
    void feed(std::span<const std::byte> datagram, const Each& each);

    /// The kernel dropped some of the answer (ENOBUFS, or a buffer of ours that was too short).
    void lost();

    /// Nothing more will come.
    void abandon(Error error) { end(fail(std::move(error))); }

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const Result<void>& outcome() const { return outcome_; }

private:
    void end(Result<void> outcome);

    std::span<const std::byte> request_;
    std::uint32_t port_id_;
    std::string what_;
    std::uint32_t sequence_ = 0;
    bool dump_ = false;
    State state_ = State::open;
    Result<void> outcome_;
};

/// An nf_tables batch and what came back so far (net/netfilter/nfnetlink.c nfnetlink_rcv_batch: the kernel answers in the
/// order of the messages after it has committed or given up; a message with NLM_F_ACK is acknowledged even if another
/// one made the batch fail; an error of the commit and a missing capability come on the batch-begin's sequence number).
class BatchExchange {
public:
    /// `batch` must outlive this. Error: a batch that is malformed or asks for no acknowledgement.
    [[nodiscard]] static Result<BatchExchange> make(std::span<const std::byte> batch, Labels labels,
                                                    std::uint32_t port_id);

    void feed(std::span<const std::byte> datagram);

    /// Some of the answer was dropped. The queue is first in first out and nobody reads it while the kernel works, so an
    /// acknowledgement of the last message that did arrive still proves that no error was dropped before it.
    void lost() { lost_ = true; }

    /// The last acknowledgement or an error has been seen.
    [[nodiscard]] bool answered() const { return acknowledged_ || error_.has_value(); }

    /// Success: the last message that asked for it was acknowledged and nothing was refused. Without either, an error that
    /// says that the outcome is not known (errnum ENOBUFS if the answer was dropped, ETIMEDOUT if there was none).
    [[nodiscard]] Result<void> outcome() const;

private:
    BatchExchange(std::span<const std::byte> batch, Labels labels, std::uint32_t port_id)
        : batch_(batch), labels_(std::move(labels)), port_id_(port_id)
    {
    }

    std::span<const std::byte> batch_;
    Labels labels_;
    std::uint32_t port_id_;
    std::uint32_t last_sequence_ = 0;
    bool acknowledged_ = false;
    bool lost_ = false;
    unsigned refused_ = 0;
    std::optional<Error> error_;  ///< of the first message refused
};

}  // namespace mape::netlink
