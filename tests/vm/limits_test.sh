#!/usr/bin/env bash
# The largest inputs there are: 32,767 ranges, 4,096 reserved ports, 64 tunnels on one box. Apply works, and what it takes
# in time, in memory of the process and in memory of the kernel grows with the input, no faster. The clock counts
# instructions: 1 ns is one. Figures of the bench table come from the lines "limit: ..." of this test.
set -u
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

state=/run/limits
all_modules

kernel_memory() { awk '$1 == "SUnreclaim:" || $1 == "Percpu:" { sum += $2 } END { print sum }' /proc/meminfo; }

# COMMAND...: sets status, us (virtual), rss (KiB at most) and slab (KiB that the kernel took).
measured() {
	local before start
	before=$(kernel_memory)
	start=${EPOCHREALTIME/./}
	status=0
	ce busybox time -f %M -o "$tmp/rss" "$@" >"$tmp/said" 2>&1 || status=$?
	us=$((${EPOCHREALTIME/./} - start)) rss=$(tail -n 1 "$tmp/rss") slab=$(($(kernel_memory) - before))
}

# NAME CONFIGURATION: applies twice and reverts; us, rss and slab are of the first time.
one() {
	local name=$1 again_us
	lab_up
	snapshot "$tmp/before"
	measured "$MAPE" apply mape0 --config "$2" --state-dir $state
	is "$name: applied" 0 "$status"
	[ "$status" = 0 ] || cat "$tmp/said"
	local first_us=$us first_rss=$rss first_slab=$slab
	measured "$MAPE" apply mape0 --config "$2" --state-dir $state
	again_us=$us us=$first_us rss=$first_rss slab=$first_slab
	has "$name: nothing to do again" "nothing to do" "$(cat "$tmp/said")"
	runs "$name: revert" 0 mape revert mape0 --state-dir $state
	snapshot "$tmp/after"
	same "$name: everything is back" "$tmp/before" "$tmp/after"
	rm -rf "$tmp/before" "$tmp/after"
	lab_down
	echo "limit: $name: first $((us / 1000)) ms, again $((again_us / 1000)) ms, process $rss KiB, kernel $slab KiB"
}

at_most() { # NAME SEEN LIMIT
	if [ "$2" -le "$3" ]; then ok "$1"; else not_ok "$1" "$2 is more than $3"; fi
}

configuration() { # A: ranges 2^A - 1 of the half of an address
	cat <<-CONF
		[interfaces]
		wan = wan0
		lan = lan0

		[map]
		prefix = 2400:4050:2ba1:ac00::/64
		rule-ipv6 = 2400:4050:2ba1:ac00::/63
		rule-ipv4 = 153.240.174.134/32
		ea-length = 1
		psid-offset = $1
		iid = draft03
		br = 2001:380:a120::9
	CONF
}

lab_isp ocn

phase "ranges"
declare -A first memory slabs
for a in 13 14 15; do
	configuration $a >"$tmp/$a.conf"
	one "$(((1 << a) - 1)) ranges" "$tmp/$a.conf"
	first[$a]=$us memory[$a]=$rss slabs[$a]=$slab
done
# What is there at any size is in all of them: twice as much input is at most twice as much, and a tenth for noise.
at_most "twice the ranges: at most twice the time" "${first[15]}" $((first[14] * 22 / 10))
at_most "twice the ranges: at most twice the process's memory" "${memory[15]}" $((memory[14] * 22 / 10))
at_most "twice the ranges: at most twice the kernel's memory" "${slabs[15]}" $((slabs[14] * 22 / 10))
at_most "32767 ranges: time" "${first[15]}" 1000000
at_most "32767 ranges: memory of the process" "${memory[15]}" 65536

phase "reserved ports"
# Every other port of 1024 and 8192 from 1025 on: as many pieces.
for count in 1024 2048 4096; do
	{
		cat <<-CONF
			[interfaces]
			wan = wan0
			lan = lan0

			[map]
			ipv4 = 153.240.174.134
			ce = 2400:4050:2ba1:ac00:99:f0ae:8600:2c00
			br = 2001:380:a120::9

			[nat]
		CONF
		for ((i = 0; i < count; i++)); do echo "reserve = $((1025 + 3 * i))"; done
	} >"$tmp/reserved.conf"
	one "$count reserved ports" "$tmp/reserved.conf"
	first[$count]=$us memory[$count]=$rss
done
at_most "twice the reserved ports: at most twice the time" "${first[4096]}" $((first[2048] * 22 / 10))
at_most "twice the reserved ports: at most twice the process's memory" "${memory[4096]}" $((memory[2048] * 22 / 10))

phase "64 tunnels"
lab_up
snapshot "$tmp/before"
tunnel_conf() { # I
	# An address and a port set of its own each: users of one address would be one line.
	cat <<-CONF
		[interfaces]
		wan = wan0
		lan = lan0

		[map]
		prefix = 2400:4050:$(printf %x $((0x2ba1 + $1))):ac00::/64
		rule-ipv6 = 2400:4050::/34
		rule-ipv4 = 153.240.0.0/16
		ea-length = 22
		psid-offset = 6
		iid = draft03
		br = 2001:380:a120::9

		[tunnel]
		default-route = no
	CONF
}
times=()
total=0
failed=0
for ((i = 0; i < 64; i++)); do
	tunnel_conf $i >"$tmp/t$i.conf"
	measured "$MAPE" apply "mape$i" --config "$tmp/t$i.conf" --state-dir $state
	[ "$status" = 0 ] || { failed=$((failed + 1)); [ $failed -gt 1 ] || cat "$tmp/said"; }
	times+=("$us")
	total=$((total + us))
done
is "64 tunnels: applied" 0 $failed
is "64 tunnels: there" 64 "$(ce ip -o link show type ip6tnl | grep -c 'mape[0-9]')"
# A run looks for NAT of others in all that is loaded, so a later one takes longer; not as long as what it makes.
at_most "64 tunnels: the last one takes at most twice the first one's time" "${times[63]}" $((times[0] * 2))
failed=0
for ((i = 0; i < 64; i += 9)); do
	said=$(mape apply "mape$i" --config "$tmp/t$i.conf" --state-dir $state 2>&1)
	case $said in *"nothing to do"*) ;; *) failed=$((failed + 1)); echo "$said" ;; esac
done
is "64 tunnels: nothing to do again" 0 $failed
echo "limit: 64 tunnels: first $((times[0] / 1000)) ms, last $((times[63] / 1000)) ms, all $((total / 1000)) ms"
failed=0
for ((i = 63; i >= 0; i--)); do
	mape revert "mape$i" --state-dir $state >"$tmp/said" 2>&1 || { failed=$((failed + 1)); cat "$tmp/said"; }
done
is "64 tunnels: reverted" 0 $failed
snapshot "$tmp/after"
same "64 tunnels: everything is back" "$tmp/before" "$tmp/after"

finish
