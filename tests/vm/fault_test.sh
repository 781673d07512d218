#!/usr/bin/env bash
# A kernel that says no and a disk that is full, at every system call of the first apply and of one with nothing to do: the
# state is what it was or what was asked, and the tool says which. No other program is ever run.
# `vm run --append MAPE_LONG=1`: every call, every error, all values compared each time.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
phase "no other program is run"
faults quiet
for operation in apply same; do
	phase "every call fails: $operation"
	faults errors "$operation"
done

finish
