#include "apply/linux_kernel.h"

#include "apply/object_state.h"
#include "netlink/conntrack.h"
#include "netlink/nft_dump.h"
#include "netlink/rtnl_build.h"
#include "nft/batch.h"
#include "nft/napt.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/utsname.h>

namespace mape {

namespace {

unsigned index_of(const InterfaceName& device)
{
    return ::if_nametoindex(device.str().c_str());
}

Error no_device(const Step& step, const InterfaceName& device)
{
    return system_error(ENODEV, fmt::format("cannot {} ({})", to_words(step), device.str()));
}

/// A request that leads to what is there already has done its work.
Result<void> unless(Result<void> result, int harmless)
{
    if (!result && result.error().errnum == harmless)
        return {};
    return result;
}

}  // namespace

std::string missing_module_hint(std::string_view module)
{
    utsname kernel{};
    ::uname(&kernel);
    return fmt::format("this kernel ({}) lacks {}: `modprobe {}` says why; on Debian it is in the package linux-image-{}",
                       kernel.release, module, module, kernel.release);
}

Result<std::unique_ptr<LinuxKernel>> LinuxKernel::open(const InterfaceName& tunnel, Sysctl sysctl)
{
    auto route = netlink::Socket::open(NETLINK_ROUTE);
    if (!route)
        return fail(std::move(route.error()));
    return std::unique_ptr<LinuxKernel>(new LinuxKernel(tunnel, std::move(*route), std::move(sysctl)));
}

Result<netlink::Socket*> LinuxKernel::netfilter()
{
    if (!netfilter_) {
        auto opened = netlink::Socket::open(NETLINK_NETFILTER);
        if (!opened) {
            if (opened.error().errnum == EPROTONOSUPPORT)
                opened.error().hint = missing_module_hint("nf_tables");
            return fail(std::move(opened.error()));
        }
        netfilter_.emplace(std::move(*opened));
    }
    return &*netfilter_;
}

Result<netlink::NetworkState> LinuxKernel::network()
{
    return netlink::NetworkState::read(route_);
}

unsigned LinuxKernel::writes() const
{
    return route_.writes() + (netfilter_ ? netfilter_->writes() : 0) + value_writes_;
}

std::vector<std::string> LinuxKernel::take_notes()
{
    return std::exchange(notes_, {});
}

Result<Step> LinuxKernel::inverse(const Step& step)
{
    Step now = step;
    if (auto* value = std::get_if<SysctlStep>(&now)) {
        auto read = sysctl_.read(value->key);
        if (!read)
            return fail(std::move(read.error()));
        value->from = std::move(*read);
    }
    // A step that brings them along inherits them from another line's journal.
    if (auto* forwarding = std::get_if<ForwardingStep>(&now); forwarding && forwarding->before.empty()) {
        auto before = sysctl_.ipv4_forwarding_side_effects();
        if (!before)
            return fail(std::move(before.error()));
        forwarding->before = std::move(*before);
    }
    return mape::inverse(now);
}

namespace {

/// What a step needs of this process, told where the kernel refused it.
std::string missing_privilege(const Step& step, int errnum)
{
    const bool value = std::holds_alternative<SysctlStep>(step) || std::holds_alternative<ForwardingStep>(step);
    if (errnum == EROFS && value)
        return "/proc/sys is read-only here: a container, or ProtectKernelTunables= of the unit; set the value outside and use "
               "`forwarding = no` (--forwarding no)";
    if (errnum != EPERM && errnum != EACCES)
        return {};
    // net/sysctl_net.c, net_ctl_permissions; net/netlink/af_netlink.c, netlink_net_capable
    return value ? "values below /proc/sys/net take uid 0, or CAP_NET_ADMIN in the user namespace that owns this network namespace"
                 : "this takes CAP_NET_ADMIN in the user namespace that owns this network namespace";
}

}  // namespace

Result<void> LinuxKernel::perform(const Step& step)
{
    auto done = std::visit([this](const auto& s) { return make(s); }, step);
    if (!done && done.error().hint.empty())
        done.error().hint = missing_privilege(step, done.error().errnum);
    return done;
}

/// What is not ours any more stays: somebody has taken the address away and set it anew since.
Result<void> LinuxKernel::remove(const AddressStep& step, unsigned index, const std::string& what)
{
    auto state = network();
    if (!state)
        return fail(std::move(state.error()));
    const auto* present = find_raw_address(*state, index, step.address);
    if (!present)
        return {};
    const bool ours = keeps_address_protocol(*state) ? present->protocol == our_protocol
                                                     : find_address(*state, *step.from) == step.from;
    if (!ours) {
        notes_.push_back(fmt::format("{}/{} on {} has been set anew by somebody since: left alone",
                                     std::visit([](const auto& a) { return to_text(a); }, step.address),
                                     present->prefix_length, step.device.str()));
        return {};
    }
    DeviceAddress address = *step.from;
    address.prefix_length = present->prefix_length;
    return unless(route_.request(netlink::delete_address(address, index), what), EADDRNOTAVAIL);
}

Result<void> LinuxKernel::make(const AddressStep& step)
{
    const unsigned index = index_of(step.device);
    if (index == 0)
        return step.to ? fail(no_device(step, step.device)) : Result<void>();
    const std::string what = "cannot " + to_words(step);
    if (!step.to)
        return step.from ? remove(step, index, what) : Result<void>();
    // The kernel changes flags of an address only in part: replaced is removed and added.
    if (step.from)
        if (auto removed = unless(route_.request(netlink::delete_address(*step.from, index), what), EADDRNOTAVAIL); !removed)
            return removed;
    auto added = route_.request(netlink::add_address(*step.to, index), what);
    if (added || added.error().errnum != EEXIST)
        return added;
    auto state = network();
    if (!state)
        return fail(std::move(state.error()));
    return find_address(*state, *step.to) == step.to ? Result<void>() : added;
}

Result<void> LinuxKernel::create(const Tunnel& tunnel)
{
    const Step step = TunnelStep{tunnel.name, {}, tunnel};
    const std::string what = "cannot " + to_words(step);
    const unsigned lower = tunnel.bound_to ? index_of(*tunnel.bound_to) : 0;
    if (tunnel.bound_to && lower == 0)
        return fail(no_device(step, *tunnel.bound_to));
    auto created = route_.request(netlink::create_tunnel(tunnel, lower), what);
    if (!created) {
        if (created.error().errnum == EOPNOTSUPP)
            created.error().hint = missing_module_hint("ip6_tunnel");
        return created;
    }
    const unsigned index = index_of(tunnel.name);
    return index == 0 ? fail(no_device(step, tunnel.name)) : route_.request(netlink::mark_tunnel(tunnel, index), what);
}

Result<void> LinuxKernel::make(const TunnelStep& step)
{
    auto state = netlink::NetworkState::read_link(route_, step.name);
    if (!state)
        return fail(std::move(state.error()));
    const auto* link = state->find_link(step.name.str());
    if (!link && step.from && step.to)
        // Made anew it would be without what was built on it.
        return fail(no_device(step, step.name));
    if (!link)
        return step.to ? create(*step.to) : Result<void>();
    if (!is_ours(*link))
        return fail(system_error(EEXIST, fmt::format("cannot {}: the device {} is not ours", to_words(step), step.name.str())));
    const std::string what = "cannot " + to_words(step);
    if (!step.to)
        return unless(route_.request(netlink::delete_link(link->index), what), ENODEV);
    if (find_tunnel(*state, step.name) == step.to)
        return {};
    const unsigned lower = step.to->bound_to ? index_of(*step.to->bound_to) : 0;
    if (step.to->bound_to && lower == 0)
        return fail(no_device(step, *step.to->bound_to));
    auto changed = route_.request(netlink::change_tunnel(*step.to, link->index, lower), what);
    if (!changed || link->group != half_made_group)
        return changed;
    return route_.request(netlink::mark_tunnel(*step.to, link->index), what);
}

Result<void> LinuxKernel::make(const LinkStateStep& step)
{
    auto state = netlink::NetworkState::read_link(route_, step.name);
    if (!state)
        return fail(std::move(state.error()));
    const auto* link = state->find_link(step.name.str());
    if (!link)
        return step.to ? fail(no_device(step, step.name)) : Result<void>();
    if (link->up == step.to)
        return {};
    if (!is_ours(*link))
        return fail(system_error(EEXIST, fmt::format("cannot {}: the device {} is not ours", to_words(step), step.name.str())));
    return route_.request(netlink::set_link_up(link->index, step.to), "cannot " + to_words(step));
}

namespace {

// Where the kernel has no nf_tables there is nothing to remove: nfnetlink answers EINVAL for a subsystem it lacks.
bool lacks_nf_tables(const Error& error)
{
    return error.errnum == EINVAL || error.errnum == EOPNOTSUPP || error.errnum == EPROTONOSUPPORT;
}

}  // namespace

namespace {

netlink::Labels labels_of(const std::optional<Shared<nft::Ruleset>>& model)
{
    return {[model] { return model ? nft::replace_batch(**model).labels : std::vector<netlink::Labelled>(); }};
}

}  // namespace

Result<void> LinuxKernel::send_ruleset(const std::vector<std::byte>& batch, netlink::Labels labels, const std::string& what)
{
    auto socket = netfilter();
    if (!socket)
        return fail(std::move(socket.error()));
    auto sent = (*socket)->send_batch(batch, std::move(labels));
    if (!sent && sent.error().hint.empty()) {
        if (sent.error().errnum == EOPNOTSUPP || sent.error().errnum == EINVAL)
            sent.error().hint = missing_module_hint("nf_tables");
        else if (sent.error().errnum == ENOENT)
            // A kind of chain or expression that the kernel does not know.
            sent.error().hint = "a part of nf_tables may be missing: `modprobe -a nft_chain_nat nft_nat nft_ct nft_numgen "
                                "nft_hash nft_limit nft_log` says which";
    }
    return sent.map_error([&](Error error) { return with_context(what, std::move(error)); });
}

Result<void> LinuxKernel::make(const RulesetStep& step)
{
    const std::string what = "cannot " + to_words(step);
    if (step.to && is_unknown(*step.to))
        return fail(failure(what + ": the state directory has lost what was loaded before",
                            "the ruleset that was loaded in its place stays"));
    if (step.to)
        return send_ruleset(*step.to->batch, labels_of(step.to->model), what);
    auto socket = netfilter();
    if (!socket && lacks_nf_tables(socket.error()))
        return {};
    if (!socket)
        return fail(std::move(socket.error()));
    auto ours = netlink::our_tables(**socket, step.tunnel);
    if (!ours && lacks_nf_tables(ours.error()))
        return {};
    if (!ours)
        return fail(std::move(ours.error()));
    if (ours->empty())
        return {};
    const nft::Batch batch = nft::delete_batch(*ours);
    return send_ruleset(batch.bytes, batch.labels, what);
}

Result<void> LinuxKernel::make(const EgressStep& step)
{
    const std::string what = "cannot " + to_words(step);
    const nft::Ruleset shut = shut_egress(step.tunnel);
    if (!step.to) {
        const nft::Batch batch = nft::replace_batch(shut);
        return send_ruleset(batch.bytes, batch.labels, what);
    }
    auto socket = netfilter();
    if (!socket)
        return fail(std::move(socket.error()));
    auto ours = netlink::our_tables(**socket, step.tunnel);
    if (!ours)
        return fail(std::move(ours.error()));
    const nft::TableName& table = shut.tables.front().name;
    if (std::find(ours->begin(), ours->end(), table) == ours->end())
        return {};
    const nft::Batch batch = nft::delete_batch({table});
    return send_ruleset(batch.bytes, batch.labels, what);
}

Result<void> LinuxKernel::make(const FlowsStep& step)
{
    if (step.to)
        return {};
    auto socket = netfilter();
    if (!socket)
        return fail(std::move(socket.error()));
    const auto doomed = [&step](const netlink::OuterPort& outer) {
        return !step.kept || (outer.port && !step.kept->contains(*outer.port));
    };
    return netlink::delete_flows(**socket, step.address, doomed).map([](std::size_t) {});
}

Result<void> LinuxKernel::make(const RouteStep& step)
{
    const unsigned index = index_of(step.route.device);
    if (index == 0)
        return step.to ? fail(no_device(step, step.route.device)) : Result<void>();
    const std::string what = "cannot " + to_words(step);
    if (!step.to)
        return unless(route_.request(netlink::delete_route(step.route, index), what), ESRCH);
    auto added = route_.request(netlink::add_route(step.route, index), what);
    if (added || added.error().errnum != EEXIST)
        return added;
    auto state = network();
    if (!state)
        return fail(std::move(state.error()));
    return has_route(*state, step.route) ? Result<void>() : added;
}

Result<void> LinuxKernel::make(const PolicyRuleStep& step)
{
    const std::string what = "cannot " + to_words(step);
    if (!step.to)
        return unless(route_.request(netlink::delete_rule(step.rule), what), ENOENT);
    return unless(route_.request(netlink::add_rule(step.rule), what), EEXIST);
}

Result<void> LinuxKernel::write_value(const std::string& key, const std::string& value)
{
    ++value_writes_;
    return sysctl_.write(key, value);
}

Result<void> LinuxKernel::make(const SysctlStep& step)
{
    auto now = sysctl_.read(step.key);
    if (!now)
        // Gone with its device: nothing is left to restore.
        return now.error().errnum == ENOENT ? Result<void>() : fail(std::move(now.error()));
    if (*now == step.to)
        return {};
    if (!step.from.empty() && *now != step.from) {
        notes_.push_back(fmt::format("{} is {}, neither what we set ({}) nor what was before ({}): left alone", step.key,
                                     *now, step.from, step.to));
        return {};
    }
    return write_value(step.key, step.to);
}

Result<void> LinuxKernel::make(const ForwardingStep& step)
{
    static const std::string key = "net/ipv4/ip_forward";
    auto now = sysctl_.read(key);
    if (!now)
        return fail(std::move(now.error()));
    const std::string wanted = step.to ? "1" : "0";
    if (step.to)
        return *now == wanted ? Result<void>() : write_value(key, wanted);
    if (*now != wanted)
        return turn_forwarding_off(step);
    notes_.push_back(fmt::format("{} is 0 already", key));
    // Whoever did has reset the others, too; or it was a run of ours that did not come to its end.
    return restore_side_effects(step, made_by_forwarding(step, false));
}

/// What net/ipv4/devinet.c, inet_forward_change, makes of the others.
std::map<std::string, std::string> LinuxKernel::made_by_forwarding(const ForwardingStep& step, bool on)
{
    std::map<std::string, std::string> made;
    for (const auto& [key, value] : step.before)
        made[key] = key.ends_with("/accept_redirects") == on ? "0" : "1";
    return made;
}

Result<void> LinuxKernel::turn_forwarding_off(const ForwardingStep& step)
{
    auto state = network();
    if (!state)
        return fail(std::move(state.error()));
    for (const netlink::Link& link : state->links)
        if (is_ours(link) && link.name != tunnel_.str()) {
            notes_.push_back(fmt::format("IPv4 forwarding stays on: {} needs it", link.name));
            return {};
        }
    // What somebody has set since to another value than turning it on had made of it stays as it is.
    auto present = sysctl_.ipv4_forwarding_side_effects();
    if (!present)
        return fail(std::move(present.error()));
    ForwardingStep wanted = step;
    const auto made = made_by_forwarding(step, true);
    for (auto& [key, before] : wanted.before) {
        const auto now = present->find(key);
        if (now == present->end() || now->second == made.at(key) || now->second == before)
            continue;
        notes_.push_back(fmt::format("{} is {}, set by somebody since: left alone (it was {})", key, now->second, before));
        before = now->second;
    }
    if (auto written = write_value("net/ipv4/ip_forward", "0"); !written)
        return written;
    return restore_side_effects(wanted, made_by_forwarding(step, false));
}

Result<void> LinuxKernel::restore_side_effects(const ForwardingStep& step, const std::map<std::string, std::string>& made)
{
    for (const auto& [key, value] : step.before) {
        const auto now = sysctl_.read(key);
        if (!now || *now == value || *now != made.at(key))
            continue;
        if (auto written = write_value(key, value); !written)
            return written;
    }
    return {};
}

}  // namespace mape
