#include "apply/session.h"

#include "apply/object_state.h"
#include "apply/ruleset_memory.h"
#include "base/overloaded.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <set>

namespace mape {

namespace {

std::vector<std::string> keys_of(const Wanted& wanted)
{
    std::vector<std::string> keys;
    for (const SysctlStep& value : wanted.values)
        keys.push_back(value.key);
    return keys;
}

bool nothing_of_ours(const InterfaceName& tunnel, const Observed& observed)
{
    const auto* link = observed.network.find_link(tunnel.str());
    return !(link && is_ours(*link)) && observed.ruleset.presence != RulesetState::Presence::ours;
}

}  // namespace

Result<Session> Session::open(const InterfaceName& tunnel, SessionOptions options)
{
    auto state = StateDir::open(options.state_dir, tunnel.str(), options.lock_timeout, options.note, options.interrupted);
    if (!state)
        return fail(std::move(state.error()));
    auto scope = current_scope(tunnel.str());
    if (!scope)
        return fail(std::move(scope.error()));
    auto journal = Journal::open(state->path("journal"), *scope);
    if (!journal)
        return fail(std::move(journal.error()));
    auto kernel = LinuxKernel::open(tunnel);
    if (!kernel)
        return fail(std::move(kernel.error()));
    return Session(tunnel, std::move(options), std::move(*scope), std::move(*state), std::move(*journal), std::move(*kernel));
}

void Session::tell_notes()
{
    for (const std::string& note : kernel_->take_notes())
        options_.note(note);
}

Result<bool> Session::clean_up()
{
    const JournalRecords& records = journal_.records();
    for (const std::string& note : records.notes)
        options_.note(note);
    if (records.open.empty())
        return false;
    options_.note(fmt::format("an earlier run did not end: undoing its {} steps first", records.open.size()));
    const auto leftovers = undo(records.open, *kernel_);
    tell_notes();
    if (leftovers.empty())
        return journal_.rolled_back().map([] { return true; });
    Error error = failure("cannot undo what an earlier run left", to_text(leftovers));
    error.kind = ErrorKind::undo_failed;
    return fail(std::move(error));
}

namespace {

/// The undo of IPv4 forwarding in the journal of another line of ours.
std::optional<ForwardingStep> inherited_forwarding(const std::string& state_dir, const InterfaceName& tunnel)
{
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(state_dir, ignored)) {
        const std::string other = entry.path().filename();
        if (other == tunnel.str() || !entry.is_directory(ignored) || entry.is_symlink(ignored))
            continue;
        auto scope = current_scope(other);
        if (!scope)
            continue;
        const auto journal = Journal::open(entry.path() / "journal", std::move(*scope));
        if (!journal)
            continue;
        for (const Step& step : journal->records().settled)
            if (const auto* forwarding = std::get_if<ForwardingStep>(&step); forwarding && !forwarding->to)
                return *forwarding;
    }
    return std::nullopt;
}

}  // namespace

Result<void> Session::remember_ruleset(const RulesetContent& content, const std::string& translation, Replacement& memory)
{
    auto dump = dump_ruleset(tunnel_);
    if (!dump)
        return fail(std::move(dump.error()));
    return memory.put(to_text(RulesetMemory{scope_, content, translation, dump->generation, std::move(dump->messages)}));
}

namespace {

/// A step in whose course, or until whose undoing step, packets do not get through.
bool interrupts(const Step& step)
{
    return std::visit(overloaded{
                          [](const EgressStep& s) { return !s.to; },
                          [](const TunnelStep& s) { return s.from.has_value(); },
                          [](const LinkStateStep& s) { return !s.to; },
                          [](const RulesetStep& s) { return !s.to; },
                          [](const RouteStep& s) { return !s.to; },
                          [](const auto&) { return false; },
                      },
                      step);
}

/// A step after which they may get through again.
bool resumes(const Step& step)
{
    return std::visit(overloaded{
                          [](const EgressStep& s) { return s.to; },
                          [](const TunnelStep& s) { return s.to.has_value(); },
                          [](const LinkStateStep& s) { return s.to; },
                          [](const RulesetStep& s) { return s.to.has_value(); },
                          [](const RouteStep& s) { return s.to; },
                          [](const auto&) { return false; },
                      },
                      step);
}

/// IPv4 could get through: tunnel, ruleset, address and route are there.
bool is_up(const InterfaceName& tunnel, const Observed& observed)
{
    const auto* link = observed.network.find_link(tunnel.str());
    if (!link || !is_ours(*link) || !link->up || observed.ruleset.presence != RulesetState::Presence::ours
        || observed.ruleset.egress_shut)
        return false;
    const auto& routes = observed.network.routes;
    return std::any_of(routes.begin(), routes.end(), [link](const netlink::Route& route) {
        const auto* destination = std::get_if<Ipv4Prefix>(&route.destination);
        return destination && destination->length == 0 && route.out_index == link->index;
    });
}

}  // namespace

Result<void> Session::perform(const Plan& plan, const Wanted& wanted, unsigned wan_index, Applied& applied)
{
    using Clock = std::chrono::steady_clock;
    // What was built on devices that were there in the beginning hangs in the air if one of them went meanwhile.
    const auto verify = [&]() -> Result<void> {
        const auto gone = [](const InterfaceName& device) {
            return fail(failure(fmt::format("the device {} went away in the course of this run", device.str()),
                                "run it again when it is back"));
        };
        if (if_nametoindex(wanted.wan.str().c_str()) != wan_index)
            return gone(wanted.wan);
        return if_nametoindex(tunnel_.str().c_str()) != 0 ? Result<void>() : gone(tunnel_);
    };
    std::vector<Clock::time_point> starts;
    starts.reserve(plan.size() + 1);
    auto done = run_plan(plan, *kernel_, journal_, options_.interrupted, [&](const Step& step) {
        options_.note(to_words(step));
        starts.push_back(Clock::now());
    }, verify);
    starts.push_back(Clock::now());
    tell_notes();
    if (!done)
        return done;
    applied.steps = plan.size();
    applied.writes = kernel_->writes();
    const auto first = std::find_if(plan.begin(), plan.end(), interrupts);
    if (!applied.outage || first == plan.end())
        return {};
    const auto last = std::find_if(plan.rbegin(), plan.rend(), resumes);
    const auto begin = static_cast<std::size_t>(first - plan.begin());
    const auto end = static_cast<std::size_t>(plan.rend() - last);
    if (end > begin)
        applied.outage = std::chrono::ceil<std::chrono::microseconds>(starts[end] - starts[begin]);
    return {};
}

Result<Applied> Session::apply(const Wanted& wanted, netlink::NetworkState network, std::vector<std::string>& warnings)
{
    auto cleaned = clean_up();
    if (!cleaned)
        return fail(std::move(cleaned.error()));
    if (*cleaned) {
        auto again = read_network();
        if (!again)
            return fail(std::move(again.error()));
        network = std::move(*again);
    }
    Observed observed = observe(std::move(network), tunnel_, keys_of(wanted),
                                read_ruleset_memory(state_.path("ruleset"), scope_), Sysctl());
    observed.inherited = inherited_forwarding(options_.state_dir, tunnel_);
    auto planned = make_plan(wanted, observed, journal_.records().settled);
    if (!planned)
        return fail(std::move(planned.error()));
    warnings.insert(warnings.end(), planned->warnings.begin(), planned->warnings.end());

    Applied applied;
    if (is_up(tunnel_, observed))
        applied.outage = std::chrono::microseconds(0);
    const auto ruleset = std::find_if(planned->plan.begin(), planned->plan.end(),
                                      [](const Step& step) { return std::holds_alternative<RulesetStep>(step); });
    std::optional<Replacement> memory;
    if (ruleset != planned->plan.end()) {
        auto reserved = Replacement::make(state_.path("ruleset"), size_to_expect(*std::get<RulesetStep>(*ruleset).to));
        if (!reserved)
            return fail(std::move(reserved.error()));
        memory.emplace(std::move(*reserved));
    }
    const auto* wan = observed.network.find_link(wanted.wan.str());
    if (auto done = perform(planned->plan, wanted, wan ? wan->index : 0, applied); !done)
        return fail(std::move(done.error()));
    if (memory)
        if (auto remembered = remember_ruleset(*std::get<RulesetStep>(*ruleset).to, wanted.translation, *memory); !remembered)
            // Only the next run's comparison lacks it: that run loads the ruleset once more.
            warnings.push_back(to_text(remembered.error()));
    applied.performed = std::move(planned->plan);
    return applied;
}

Result<Applied> Session::revert()
{
    for (const std::string& note : journal_.records().notes)
        options_.note(note);
    if (!journal_.records().open.empty())
        options_.note("an earlier run did not end: undoing it, too");
    Applied applied;
    const auto undo_all = [&](const std::vector<Step>& steps) {
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            options_.note(to_words(*step));
            applied.performed.push_back(*step);
        }
        return undo(steps, *kernel_);
    };
    auto leftovers = undo_all(journal_.all());

    // Whatever else carries our mark: the journal may be gone, or somebody may have copied an object of ours.
    auto network = read_network();
    if (network) {
        const Observed observed = observe(std::move(*network), tunnel_, {},
                                          read_ruleset_memory(state_.path("ruleset"), scope_), Sysctl());
        const Plan rest = removal_plan(tunnel_, observed);
        const auto more = undo_all({rest.rbegin(), rest.rend()});
        leftovers.insert(leftovers.end(), more.begin(), more.end());
    }
    tell_notes();
    if (!network && applied.performed.empty())
        return fail(std::move(network.error()));
    if (!network || !leftovers.empty()) {
        Error error = failure("could not undo everything", to_text(leftovers));
        if (!network)
            error.hint += fmt::format("{}could not look for what else carries our mark: {}", leftovers.empty() ? "" : "\n  ",
                                      to_text(network.error()));
        error.kind = ErrorKind::undo_failed;
        return fail(std::move(error));
    }
    // All is undone. Steps that stay in a journal are undone once more, which does nothing.
    if (auto removed = journal_.remove(); !removed)
        options_.note(to_text(removed.error()));
    for (const char* name : {"ruleset", "ruleset.new", "journal.new"})
        state_.remove(name);
    applied.steps = applied.performed.size();
    applied.writes = kernel_->writes();
    return applied;
}

namespace {

/// The state of a tunnel, for a look; nothing where it cannot be read.
struct Peek {
    std::vector<Step> settled;
    std::vector<Step> undo;  ///< all that revert would undo
    std::optional<RulesetMemory> memory;
};
Peek peek(const std::string& state_dir, const InterfaceName& tunnel)
{
    const std::string directory = state_dir + "/" + tunnel.str();
    Peek peek;
    const auto scope = current_scope(tunnel.str());
    if (!scope)
        return peek;
    if (auto journal = Journal::open(directory + "/journal", *scope)) {
        peek.settled = journal->records().settled;
        peek.undo = journal->all();
    }
    peek.memory = read_ruleset_memory(directory + "/ruleset", *scope);
    return peek;
}

}  // namespace

Result<netlink::NetworkState> read_network()
{
    auto socket = netlink::Socket::open(NETLINK_ROUTE);
    if (!socket)
        return fail(std::move(socket.error()));
    return netlink::NetworkState::read(*socket);
}

Result<Comparison> compare(const Wanted& wanted, netlink::NetworkState network, const std::string& state_dir)
{
    Peek state = peek(state_dir, wanted.tunnel.name);
    Comparison comparison;
    comparison.observed = observe(std::move(network), wanted.tunnel.name, keys_of(wanted), std::move(state.memory), Sysctl());
    comparison.observed.inherited = inherited_forwarding(state_dir, wanted.tunnel.name);
    auto planned = make_plan(wanted, comparison.observed, state.settled);
    if (!planned)
        return fail(std::move(planned.error()));
    comparison.plan = std::move(*planned);
    comparison.nothing_of_ours = nothing_of_ours(wanted.tunnel.name, comparison.observed);
    comparison.note = comparison.observed.ruleset.why;
    return comparison;
}

Result<Plan> revert_plan(const InterfaceName& tunnel, const std::string& state_dir)
{
    auto network = read_network();
    if (!network)
        return fail(std::move(network.error()));
    Peek state = peek(state_dir, tunnel);
    const Observed observed = observe(std::move(*network), tunnel, {}, std::move(state.memory), Sysctl());
    Plan plan;
    std::set<std::string> done;
    const auto add = [&](const Step& step) {
        if (done.insert(identity(step)).second)
            plan.push_back(step);
    };
    std::for_each(state.undo.rbegin(), state.undo.rend(), add);
    for (const Step& step : removal_plan(tunnel, observed))
        add(step);
    return plan;
}

}  // namespace mape
