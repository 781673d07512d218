// From wanted and actual state to steps.
#pragma once

#include <vector>

#include "apply/observed.h"
#include "apply/run_plan.h"
#include "apply/wanted.h"
#include "base/result.h"

namespace mape {

struct PlanResult {
    Plan plan;                          ///< empty: nothing to do
    std::vector<std::string> warnings;  ///< foreign objects that do not stand in the way
};

/// The differences, as steps in an order in which no packet can leave untranslated at any moment. Compared object by object;
/// what is as wanted gets no step. `settled` are the journal's undo steps: they tell which objects we made before and no
/// longer want.
///
/// Refused by name, exit 1: a device of the tunnel's name that is not ours, another tunnel with our endpoints, a foreign
/// default route of the same table and metric, tables of our name without our mark.
[[nodiscard]] Result<PlanResult> make_plan(const Wanted& wanted, const Observed& observed, const std::vector<Step>& settled);

/// Steps that remove every object of `tunnel` that carries our mark, with or without a journal.
[[nodiscard]] Plan removal_plan(const InterfaceName& tunnel, const Observed& observed);

}  // namespace mape
