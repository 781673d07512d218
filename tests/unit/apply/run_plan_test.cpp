#include "../../support/fake_kernel.h"
#include "../../support/kernel_suite.h"

using namespace mape;
using namespace mape::test;

namespace {

class FakeLab {
public:
    FakeLab()
    {
        // A value is never absent.
        REQUIRE(kernel_.perform(SysctlStep{"net/ipv4/conf/mape0/rp_filter", "0", "0"}));
    }

    static const std::vector<int>& errors()
    {
        static const std::vector<int> all = {EPERM, ENOENT, EEXIST, ENOBUFS, ENODEV, EOPNOTSUPP};
        return all;
    }
    Kernel& kernel() { return kernel_; }
    std::vector<std::string> state() const
    {
        std::vector<std::string> lines;
        for (const auto& [identity, value] : kernel_.state)
            lines.push_back(identity + " " + value);
        return lines;
    }

private:
    FakeKernel kernel_;
};

}  // namespace

MAPE_KERNEL_SUITE(FakeLab);

TEST_CASE("an empty plan writes nothing, not even the journal")
{
    const SuiteJournal on_disk;
    FakeKernel kernel;
    Journal journal = on_disk.open();
    REQUIRE(run_plan({}, kernel, journal));
    CHECK_FALSE(on_disk.is_there());
}
