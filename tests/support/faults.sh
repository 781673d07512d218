# shellcheck shell=bash disable=SC2034,SC2154 # names of lib.sh, and for those who source this
# What the fault tests share: a lab with a small line, and the assertions of faults.py as this script's own. To be sourced
# after lib.sh.
#
#   fault_lab            the lab, with a line of 15 port ranges: a run costs half of what OCN's 63 cost
#   faults WHAT [OP]     python3 faults.py WHAT OP in the CE, its lines counted
#   state FILE           what the CE looks like, quicker than `snapshot`
#   unchanged NAME       it looks as it did at the last `state $tmp/before`

line=(--prefix "240b:10:3261:6400::/56")
other_line=(--prefix "240b:10:3262:6500::/56") # another IPv4 address, PSID and CE

fault_lab() {
	lab_isp v6plus
	all_modules
	# One table instead of four: they are read by each run.
	mkdir -p "$tmp/data/isp" && cp "$MAPE_GEN_DATA/isp/v6plus.tsv" "$tmp/data/isp/" || return
	export MAPE_GEN_DATA=$tmp/data MAPE
	lab_up
}

faults() {
	local counts
	ce python3 "$LAB_SUPPORT/faults.py" "$@" --line-a "${line[1]}" --line-b "${other_line[1]}" --names "$LAB_NS" \
		--wan-address "${LAB_PREFIX%::*}:5054:ff:fe12:3456/64" | tee "$tmp/faults"
	counts=$(tail -n 1 "$tmp/faults")
	if [[ $counts =~ ^#\ ([0-9]+)\ ([0-9]+)$ ]]; then
		x_passed=$((x_passed + BASH_REMATCH[1]))
		x_failed=$((x_failed + BASH_REMATCH[2]))
	else
		not_ok "faults.py $*: it came to its end"
	fi
}

state() { ce python3 "$LAB_SUPPORT/namespace_state.py" >"$1"; }
unchanged() {
	state "$tmp/now"
	same "$1" "$tmp/before" "$tmp/now"
}
