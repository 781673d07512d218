#include "apply/session.h"

#include "apply/object_state.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
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
    auto state = StateDir::open(options.state_dir, tunnel.str(), options.lock_timeout, options.note);
    if (!state)
        return fail(std::move(state.error()));
    auto scope = current_scope(tunnel.str());
    if (!scope)
        return fail(std::move(scope.error()));
    auto journal = Journal::open(state->path("journal"), std::move(*scope));
    if (!journal)
        return fail(std::move(journal.error()));
    auto kernel = LinuxKernel::open(tunnel);
    if (!kernel)
        return fail(std::move(kernel.error()));
    Session session(tunnel, std::move(options), std::move(*state), std::move(*journal), std::move(*kernel));
    if (auto cleaned = session.clean_up(); !cleaned)
        return fail(std::move(cleaned.error()));
    return session;
}

void Session::tell_notes()
{
    for (const std::string& note : kernel_->take_notes())
        options_.note(note);
}

Result<void> Session::clean_up()
{
    const JournalRecords& records = journal_.records();
    if (!records.note.empty())
        options_.note(records.note);
    if (records.open.empty())
        return {};
    options_.note(fmt::format("an earlier run did not end: undoing its {} steps first", records.open.size()));
    const auto leftovers = undo(records.open, *kernel_);
    tell_notes();
    if (leftovers.empty())
        return journal_.rolled_back();
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
        if (other == tunnel.str())
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

Result<void> Session::remember_ruleset(const Wanted& wanted)
{
    auto dump = dump_ruleset(tunnel_);
    if (!dump)
        return fail(std::move(dump.error()));
    return write_ruleset_memory(state_.path("ruleset"), {wanted.ruleset, std::move(*dump)});
}

Result<Applied> Session::apply(const Wanted& wanted, std::vector<std::string>& warnings)
{
    auto observed = observe(tunnel_, keys_of(wanted), read_ruleset_memory(state_.path("ruleset")), Sysctl());
    if (!observed)
        return fail(std::move(observed.error()));
    observed->inherited = inherited_forwarding(options_.state_dir, tunnel_);
    auto planned = make_plan(wanted, *observed, journal_.records().settled);
    if (!planned)
        return fail(std::move(planned.error()));
    warnings.insert(warnings.end(), planned->warnings.begin(), planned->warnings.end());

    const auto tell = [this](const Step& step) { options_.note(to_words(step)); };
    auto done = run_plan(planned->plan, *kernel_, journal_, options_.interrupted, tell);
    tell_notes();
    if (!done)
        return fail(std::move(done.error()));
    for (const Step& step : planned->plan)
        if (std::holds_alternative<RulesetStep>(step))
            if (auto remembered = remember_ruleset(wanted); !remembered)
                // Only the next run's comparison lacks it: that run loads the ruleset once more.
                warnings.push_back(to_text(remembered.error()));
    return Applied{planned->plan.size(), kernel_->writes(), std::move(planned->plan)};
}

Result<Applied> Session::revert()
{
    Applied applied;
    const auto undo_all = [&](const std::vector<Step>& steps) {
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            options_.note(to_words(*step));
            applied.performed.push_back(*step);
        }
        return undo(steps, *kernel_);
    };
    auto leftovers = undo_all(journal_.records().settled);

    // Whatever else carries our mark: the journal may be gone, or somebody may have copied an object of ours.
    auto observed = observe(tunnel_, {}, read_ruleset_memory(state_.path("ruleset")), Sysctl());
    if (!observed)
        return fail(std::move(observed.error()));
    Plan rest = removal_plan(tunnel_, *observed);
    const auto more = undo_all({rest.rbegin(), rest.rend()});
    leftovers.insert(leftovers.end(), more.begin(), more.end());
    tell_notes();
    if (!leftovers.empty()) {
        Error error = failure("could not undo everything", to_text(leftovers));
        error.kind = ErrorKind::undo_failed;
        return fail(std::move(error));
    }
    if (auto removed = journal_.remove(); !removed)
        return fail(std::move(removed.error()));
    state_.remove("ruleset");
    applied.steps = applied.performed.size();
    applied.writes = kernel_->writes();
    return applied;
}

namespace {

/// The journal of a tunnel, for a look; nothing where it cannot be read.
JournalRecords peek(const std::string& directory, const InterfaceName& tunnel)
{
    if (auto scope = current_scope(tunnel.str()))
        if (auto journal = Journal::open(directory + "/journal", std::move(*scope)))
            return journal->records();
    return {};
}

}  // namespace

Result<Comparison> compare(const Wanted& wanted, const std::string& state_dir)
{
    const std::string directory = state_dir + "/" + wanted.tunnel.name.str();
    Comparison comparison;
    auto observed = observe(wanted.tunnel.name, keys_of(wanted), read_ruleset_memory(directory + "/ruleset"), Sysctl());
    if (!observed)
        return fail(std::move(observed.error()));
    comparison.observed = std::move(*observed);
    comparison.observed.inherited = inherited_forwarding(state_dir, wanted.tunnel.name);
    auto planned = make_plan(wanted, comparison.observed, peek(directory, wanted.tunnel.name).settled);
    if (!planned)
        return fail(std::move(planned.error()));
    comparison.plan = std::move(*planned);
    comparison.nothing_of_ours = nothing_of_ours(wanted.tunnel.name, comparison.observed);
    comparison.note = comparison.observed.ruleset.why;
    return comparison;
}

Result<Plan> revert_plan(const InterfaceName& tunnel, const std::string& state_dir)
{
    const std::string directory = state_dir + "/" + tunnel.str();
    auto observed = observe(tunnel, {}, read_ruleset_memory(directory + "/ruleset"), Sysctl());
    if (!observed)
        return fail(std::move(observed.error()));
    const JournalRecords records = peek(directory, tunnel);
    Plan plan{records.open.rbegin(), records.open.rend()};
    std::set<std::string> done;
    const auto add = [&](const Step& step) {
        if (done.insert(identity(step)).second)
            plan.push_back(step);
    };
    std::for_each(records.settled.rbegin(), records.settled.rend(), add);
    for (const Step& step : removal_plan(tunnel, *observed))
        add(step);
    return plan;
}

}  // namespace mape
