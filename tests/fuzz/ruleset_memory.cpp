// The state file that holds the ruleset loaded last.
#include "fuzz.h"

#include "apply/ruleset_memory.h"

using namespace mape;

namespace {

bool same(const RulesetMemory& a, const RulesetMemory& b)
{
    return a.scope == b.scope && a.content.mark == b.content.mark
           && *a.content.batch == *b.content.batch && a.translation == b.translation && a.generation == b.generation
           && a.dump == b.dump;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::Directory directory;
    static const std::string path = directory.path("ruleset");
    static const std::string copy = directory.path("copy");
    static const JournalScope here{"boot-1", "4026531840", "mape0"};

    // Whatever is in the file: none, or a memory that is the same when it is written and read again.
    fuzz::write_file(path, fuzz::as_text(data, size));
    if (const auto memory = read_ruleset_memory(path, here)) {
        HOLDS(memory->scope == here);
        fuzz::write_file(copy, to_text(*memory));
        const auto again = read_ruleset_memory(copy, here);
        HOLDS(again && same(*again, *memory));
    }

    // Whatever was loaded: it is remembered as it was, and for nowhere else.
    fuzz::Input input(data, size);
    const auto text = [&] {
        const auto bytes = input.bytes(input.u8());
        return std::string(bytes.begin(), bytes.end());
    };
    RulesetMemory memory{{text(), text(), text()}, {text(), fuzz::exactly(input.bytes(input.u8())), {}},
                         text(), input.u16(), fuzz::exactly(input.rest())};
    fuzz::write_file(path, to_text(memory));
    const auto again = read_ruleset_memory(path, memory.scope);
    HOLDS(again && same(*again, memory));
    HOLDS(memory.scope == here || !read_ruleset_memory(path, here));
    return 0;
}
