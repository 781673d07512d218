#!/usr/bin/env bash
# The WAN device, a LAN device or the tunnel is deleted in the middle of a run.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
for operation in apply revert change; do
	phase "a device vanishes: $operation"
	faults vanish "$operation"
done

finish
