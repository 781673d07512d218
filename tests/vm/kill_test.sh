#!/usr/bin/env bash
# Killed wherever it has changed something, and a journal that is cut anywhere: the next apply ends as asked, the next revert
# as before. `vm run --append MAPE_LONG=1`: both after each, and the journal cut at every byte.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
for operation in apply revert change; do
	phase "killed: $operation"
	faults kills "$operation"
done
phase "a cut journal"
faults journal

finish
