// Steps performed on the kernel this process runs under, in its network namespace.
#pragma once

#include <memory>
#include <optional>

#include "apply/kernel.h"
#include "netlink/rtnl_read.h"
#include "netlink/socket.h"
#include "sysctl/sysctl.h"

namespace mape {

class LinuxKernel final : public Kernel {
public:
    /// Opens a NETLINK_ROUTE socket; the NETLINK_NETFILTER one when a ruleset is first to be loaded.
    /// Forwarding is not turned off while another tunnel of ours than `tunnel` is there.
    [[nodiscard]] static Result<std::unique_ptr<LinuxKernel>> open(const InterfaceName& tunnel, Sysctl sysctl = Sysctl());

    [[nodiscard]] Result<Step> inverse(const Step& step) override;
    [[nodiscard]] Result<void> perform(const Step& step) override;
    [[nodiscard]] std::vector<std::string> take_notes() override;

    /// Messages sent that changed something, and writes below /proc/sys.
    [[nodiscard]] unsigned writes() const;

private:
    LinuxKernel(InterfaceName tunnel, netlink::Socket route, Sysctl sysctl)
        : tunnel_(std::move(tunnel)), route_(std::move(route)), sysctl_(std::move(sysctl))
    {
    }

    // One overload a kind of step.
    Result<void> make(const AddressStep& step);
    Result<void> make(const TunnelStep& step);
    Result<void> make(const LinkStateStep& step);
    Result<void> make(const RulesetStep& step);
    Result<void> make(const EgressStep& step);
    Result<void> make(const FlowsStep& step);
    Result<void> make(const RouteStep& step);
    Result<void> make(const PolicyRuleStep& step);
    Result<void> make(const SysctlStep& step);
    Result<void> make(const ForwardingStep& step);

    Result<void> create(const Tunnel& tunnel);
    Result<void> remove(const AddressStep& step, unsigned index, const std::string& what);
    Result<void> send_ruleset(const std::vector<std::byte>& batch, netlink::Labels labels,
                              const std::string& what);
    Result<void> turn_forwarding_off(const ForwardingStep& step);
    static std::map<std::string, std::string> made_by_forwarding(const ForwardingStep& step, bool on);
    Result<void> restore_side_effects(const ForwardingStep& step, const std::map<std::string, std::string>& made);
    Result<void> write_value(const std::string& key, const std::string& value);
    Result<netlink::NetworkState> network();
    Result<netlink::Socket*> netfilter();

    InterfaceName tunnel_;
    netlink::Socket route_;
    std::optional<netlink::Socket> netfilter_;
    Sysctl sysctl_;
    std::vector<std::string> notes_;
    unsigned value_writes_ = 0;
};

/// "load the kernel module ip6_tunnel (in the package linux-image-...)": what to do when the kernel lacks something.
[[nodiscard]] std::string missing_module_hint(std::string_view module);

}  // namespace mape
