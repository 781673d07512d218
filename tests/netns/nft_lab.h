// What the tests of nf_tables against the real kernel share: a namespace, nft, a netlink socket.
#pragma once

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <linux/netlink.h>

#include "command.h"
#include "netlink/nft_dump.h"
#include "netlink/socket.h"
#include "nft/batch.h"
#include "nft/napt.h"
#include "nft/text.h"

namespace lab {

constexpr int skipped = 77;

/// A file that is gone afterwards.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text)
    {
        const int fd = ::mkstemp(path_.data());
        REQUIRE(fd >= 0);
        ::close(fd);
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { ::unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/mape-nft-XXXXXX";
};

/// `nft -f` of a text.
inline void nft(const std::string& text)
{
    const TemporaryFile file(text);
    output("nft -f " + file.path());
}

/// A network namespace of its own from here on, and a socket in it.
inline mape::netlink::Socket fresh_namespace()
{
    REQUIRE(::unshare(CLONE_NEWNET) == 0);
    auto socket = mape::netlink::Socket::open(NETLINK_NETFILTER);
    REQUIRE(socket);
    return std::move(*socket);
}

inline void load(mape::netlink::Socket& socket, const mape::nft::Ruleset& ruleset)
{
    const auto batch = mape::nft::replace_batch(ruleset);
    const auto sent = socket.send_batch(batch.bytes, batch.labels);
    REQUIRE_MESSAGE(sent, (sent ? "" : to_text(sent.error())));
}

/// All tables of a ruleset, read back.
inline std::vector<std::string> dump(mape::netlink::Socket& socket, const mape::nft::Ruleset& ruleset)
{
    std::vector<std::string> lines;
    for (const mape::nft::Table& table : ruleset.tables) {
        auto part = mape::netlink::dump_table(socket, table.name);
        REQUIRE_MESSAGE(part, (part ? "" : to_text(part.error())));
        lines.insert(lines.end(), part->begin(), part->end());
    }
    return lines;
}

/// The first line that differs, for a message that fits on a screen.
inline std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
    for (std::size_t i = 0; i < a.size() || i < b.size(); ++i) {
        const std::string left = i < a.size() ? a[i] : "(nothing)";
        const std::string right = i < b.size() ? b[i] : "(nothing)";
        if (left != right)
            return left.substr(0, 400) + "\n  " + right.substr(0, 400);
    }
    return {};
}

/// Runs the cases, or says why not.
inline int run(int argc, char** argv)
{
    if (::geteuid() != 0) {
        std::puts("SKIP: needs root");
        return skipped;
    }
    if (::unshare(CLONE_NEWNET) != 0) {
        std::printf("SKIP: no network namespace of our own (unshare: %s)\n", std::strerror(errno));
        return skipped;
    }
    if (std::system("nft list ruleset >/dev/null 2>&1") != 0) {
        std::puts("SKIP: no nft, or no nf_tables in this kernel");
        return skipped;
    }
    return doctest::Context(argc, argv).run();
}

}  // namespace lab
