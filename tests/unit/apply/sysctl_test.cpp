#include "sysctl/sysctl.h"

#include <sys/stat.h>

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mape;

namespace {

class Root {
public:
    Root()
    {
        char pattern[] = "/tmp/mape-sysctl-XXXXXX";
        path_ = ::mkdtemp(pattern);
    }
    ~Root() { std::filesystem::remove_all(path_); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    void put(const std::string& key, const std::string& content) const
    {
        const std::filesystem::path file = std::filesystem::path(path_) / key;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << content;
    }
    [[nodiscard]] std::string get(const std::string& key) const
    {
        std::ostringstream text;
        text << std::ifstream(std::filesystem::path(path_) / key).rdbuf();
        return text.str();
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("a value is read without its newline and written with one")
{
    const Root root;
    const Sysctl sysctl(root.path());
    root.put("net/ipv4/conf/eth0.5/forwarding", "0\n");
    root.put("net/ipv4/ip_local_port_range", "32768\t60999\n");
    root.put("empty", "");
    CHECK(sysctl.read("net/ipv4/conf/eth0.5/forwarding") == "0");
    CHECK(sysctl.read("net/ipv4/ip_local_port_range") == "32768\t60999");
    CHECK(sysctl.read("empty") == "");
    CHECK(sysctl.write("net/ipv4/conf/eth0.5/forwarding", "1"));
    CHECK(root.get("net/ipv4/conf/eth0.5/forwarding") == "1\n");
}

TEST_CASE("keys that are not normalised are refused")
{
    const Root root;
    const Sysctl sysctl(root.path());
    for (const std::string key : {"", "/", "/net", "net/", "net//ipv4", "..", "../etc", "net/../x", "net/..", ".", "net/./x"}) {
        CAPTURE(key);
        REQUIRE_FALSE(sysctl.read(key));
        CHECK(sysctl.read(key).error().kind == ErrorKind::input);
        REQUIRE_FALSE(sysctl.write(key, "1"));
        CHECK(sysctl.write(key, "1").error().kind == ErrorKind::input);
    }
    CHECK_FALSE(sysctl.read(std::string_view("a\0b", 3)));
    root.put("..x/...", "1\n");
    CHECK(sysctl.read("..x/...") == "1");
}

TEST_CASE("errors name key and value, and nothing is created")
{
    const Root root;
    const Sysctl sysctl(root.path());
    const auto written = sysctl.write("net/none", "7");
    REQUIRE_FALSE(written);
    CHECK(to_text(written.error()) == "cannot write sysctl net/none = 7: No such file or directory");
    const auto read = sysctl.read("net/none");
    REQUIRE_FALSE(read);
    CHECK(read.error().errnum == ENOENT);
    CHECK(to_text(read.error()) == "cannot read sysctl net/none: No such file or directory");
    CHECK_FALSE(std::filesystem::exists(root.path() + "/net"));
}

TEST_CASE("what turning IPv4 forwarding on or off resets")
{
    const Root root;
    const Sysctl sysctl(root.path());
    CHECK_FALSE(sysctl.ipv4_forwarding_side_effects());
    root.put("net/ipv4/ip_forward", "0\n");
    root.put("net/ipv4/conf/all/accept_redirects", "0\n");
    root.put("net/ipv4/conf/all/forwarding", "0\n");
    root.put("net/ipv4/conf/default/forwarding", "0\n");
    root.put("net/ipv4/conf/eth0.5/forwarding", "1\n");
    std::filesystem::create_directories(root.path() + "/net/ipv4/conf/vanishing");
    const auto values = sysctl.ipv4_forwarding_side_effects();
    REQUIRE(values);
    CHECK(*values == std::map<std::string, std::string>{{"net/ipv4/conf/all/accept_redirects", "0"},
                                                        {"net/ipv4/conf/default/forwarding", "0"},
                                                        {"net/ipv4/conf/eth0.5/forwarding", "1"}});
}
