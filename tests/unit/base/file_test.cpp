#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace mape;

namespace {

struct Directory {
    std::filesystem::path path;
    Directory()
    {
        std::string name = (std::filesystem::temp_directory_path() / "mape-file-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Directory() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("a file is replaced whole and read back")
{
    const Directory directory;
    const std::string path = directory / "f";
    const std::string text("line\n\0binary", 12);
    REQUIRE(replace_file(path, "old content that is longer").has_value());
    REQUIRE(replace_file(path, text).has_value());
    CHECK(read_file(path, 100) == text);
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK(std::distance(std::filesystem::directory_iterator(directory.path), {}) == 1);
}

TEST_CASE("a leftover of an interrupted replacement, even a link, is no obstacle and is not followed")
{
    const Directory directory;
    std::ofstream(directory / "victim") << "victim";
    std::filesystem::create_symlink(directory / "victim", directory / "f.new");
    REQUIRE(replace_file(directory / "f", "new").has_value());
    CHECK(read_file(directory / "victim", 100) == "victim");
    CHECK(read_file(directory / "f", 100) == "new");
}

TEST_CASE("the limit of a read is exact")
{
    const Directory directory;
    REQUIRE(replace_file(directory / "f", "12345").has_value());
    CHECK(read_file(directory / "f", 5) == "12345");
    CHECK(read_file(directory / "f", 4).error().message == (directory / "f") + " is larger than 4 bytes");
    CHECK(read_file("/dev/zero", 100000).error().message == "/dev/zero is larger than 100000 bytes");
}

TEST_CASE("links are followed only where that is asked for")
{
    const Directory directory;
    REQUIRE(replace_file(directory / "f", "x").has_value());
    std::filesystem::create_symlink("f", directory / "link");
    CHECK(read_file(directory / "link", 10) == "x");
    CHECK(read_file(directory / "link", 10, false).error().errnum == ELOOP);
    CHECK(read_file(directory / "f", 10, false) == "x");
}

TEST_CASE("errors name the path and keep errno")
{
    const Directory directory;
    CHECK(read_file(directory / "absent", 10).error().errnum == ENOENT);
    CHECK(to_text(read_file(directory / "absent", 10).error())
          == "cannot read " + (directory / "absent") + ": No such file or directory");
    CHECK(read_file(directory.path.string(), 10).error().errnum == EISDIR);
    CHECK(replace_file(directory / "no/f", "x").error().errnum == ENOENT);
    CHECK(write_all(-1, "x", "nowhere").error().errnum == EBADF);
    CHECK(write_all(-1, "", "nowhere").has_value());
    CHECK(sync_directory_of(directory / "no/f").error().errnum == ENOENT);
    CHECK(sync_directory_of(directory / "f").has_value());

    std::filesystem::create_directory(directory / "d");
    CHECK(replace_file(directory / "d", "x").error().errnum == EISDIR);
    CHECK_FALSE(std::filesystem::exists(directory / "d.new"));
}
