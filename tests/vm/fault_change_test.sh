#!/usr/bin/env bash
# As fault_test.sh, of a change to another prefix and of revert.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
for operation in change revert; do
	phase "every call fails: $operation"
	faults errors "$operation"
done

finish
