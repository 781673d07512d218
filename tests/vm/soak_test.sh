#!/usr/bin/env bash
# Apply, another prefix and revert, again and again, under traffic: no packet leaves with what is not its line's, and nothing
# adds up. 100 rounds; 1,000 with `vm run --append MAPE_LONG=1`.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

rounds=100
[ -z "${MAPE_LONG:-}" ] || rounds=1000
fault_lab || exit 1

# The other line: its packets arrive at the same border relay, and are answered.
other_ce=240b:10:3262:6500:6a:4832:6200:6500
other_ipv4=106.72.50.98
other_port_set=4,8,101
ip -n "${LAB_NS}br" -batch - <<-IP || exit 1
	link add map1 type ip6tnl mode ipip6 local $LAB_BR remote $other_ce encaplimit none
	link set map1 mtu 1460 up
	route add 240b:10:3262:6500::/56 dev $LAB_FAR
	route add $other_ipv4/32 dev map1 src $LAB_SERVER
IP
is "the other line is what it is taken for" "$other_ce $other_ipv4" \
	"$("$MAPE" calc "${other_line[1]}" --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["ce"], d["ipv4"].split("/")[0])')"

listen() { # NS FILE PROGRAM ARG...
	local ns=$1 file=$2 program=$LAB_SUPPORT/$3
	shift 3
	rm -f "$tmp/ready"
	ip netns exec "$LAB_NS$ns" python3 "$program" "$@" --ready "$tmp/ready" >"$file" &
	LAB_PID=$!
	await 20 test -e "$tmp/ready"
}
connections() { ce cat /proc/sys/net/netfilter/nf_conntrack_count; }
in_use() { # what must not grow: connections known to the kernel, open files
	ce conntrack -F 2>/dev/null
	echo "$(connections) connections, $(cut -f1 /proc/sys/fs/file-nr) files"
}
slab() { awk '$1 == "nf_conntrack" { print $2 }' /proc/slabinfo; }
round() { # N: apply; in every other round the other prefix and back; revert
	mape apply "${line[@]}" && { [ $(($1 % 2)) = 0 ] || mape apply "${other_line[@]}"; } && mape revert
}

phase "one round, for what stays"
round 1 >/dev/null 2>&1
state "$tmp/before"
before=$(in_use)
slab_before=$(slab)

phase "$rounds rounds under traffic"
lab_listen br "$tmp/echo.json" echo-server --udp 5000 --tcp 5000
echo=$LAB_PID
listen br "$tmp/sniff.json" line_sniffer.py --dev "$LAB_FAR" --line "$LAB_CE=$LAB_IPV4,$LAB_PORT_SET" \
	--line "$other_ce=$other_ipv4,$other_port_set"
sniff=$LAB_PID
listen lan "$tmp/traffic.json" steady_traffic.py --dst "$LAB_SERVER" --port 5000
traffic=$LAB_PID
bad=0
for ((n = 0; n < rounds; ++n)); do
	if ! seen=$(round $n 2>&1); then
		not_ok "round $n" "$seen"
		bad=$((bad + 1))
	fi
done
is "$rounds rounds: each ends with exit 0" 0 $bad
lab_stop $traffic
lab_stop $sniff
lab_stop $echo

phase "afterwards"
cat "$tmp/traffic.json" "$tmp/sniff.json"
is "not a packet with what is not its line's, none missed" "({}, 0)" "$(facts "$tmp/sniff.json" 'd["leaks"], d["missed"]')"
is "UDP, TCP and ICMP of both lines were seen" "[True, True, True, True, True, True]" \
	"$(facts "$tmp/sniff.json" '[line.get(kind, 0) > 0 for line in d["lines"].values() for kind in ("udp", "tcp", "icmp")]')"
is "UDP, TCP and ICMP were answered" "[True, True, True]" \
	"$(facts "$tmp/traffic.json" '[d.get(kind + " answered", 0) > 0 for kind in ("udp", "tcp", "icmp")]')"
unchanged "all as before"
is "no connection, no open file is left" "$before" "$(in_use)"
# Free objects that wait on a processor's list count as active: some pages of them, of thousands of connections.
holds "no connection is left in its slab ($slab_before before, $(slab) after)" test "$(slab)" -le $((slab_before + 256))
is "no file but the lock is left" "lock" "$(ls /run/mape-gen/mape0)"

finish
