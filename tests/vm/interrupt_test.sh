#!/usr/bin/env bash
# SIGINT and SIGTERM wherever it has changed something: apply undoes and says so, revert goes to its end.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
for operation in apply revert change; do
	phase "interrupted: $operation"
	faults signals "$operation"
done

finish
