#!/usr/bin/env bash
# The guest's half of run: measures each ruleset named, prints one line a measurement: @ WHAT RULESET VALUE...
# The clock counts instructions (QEMU -icount): 1 ns is 1 instruction.
set -euo pipefail
cd "$(dirname "$0")"
. ../support/lab.sh
packets=$1 flows=$2 repeats=$3
shift 3
state=/run/bench
ports=1008 # in the set of this line

lab_modules
modprobe -a pktgen nf_conntrack_netlink nft_fib nft_masq sctp
echo "@ kernel - $(uname -r)"

# A namespace beyond BR sends what comes down: pktgen cannot send into a tunnel device.
net_up() {
	ip netns add net
	ip -n br link add down0 type veth peer name eth0 netns net
	ip -n br addr add 192.0.2.1/24 dev down0
	ip -n br link set down0 up
	ip -n net addr add 192.0.2.10/24 dev eth0
	ip -n net link set eth0 up
	br sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	# With checksum offload the generator would leave every sum to be filled in: no packet of a real line comes so.
	ip netns exec net ethtool -K eth0 tx off >/dev/null
	lan ethtool -K eth0 tx off >/dev/null
	ip -n br route add 192.168.1.0/24 dev map0
}

# Where packets end: counted and dropped before anything else looks at them.
sinks_up() {
	br nft -f - <<-NFT
		table ip sink {
			counter n { }
			chain raw { type filter hook prerouting priority raw; iifname map0 counter name n drop; }
		}
	NFT
	lan nft -f - <<-NFT
		table ip sink {
			counter n { }
			chain raw { type filter hook prerouting priority raw; counter name n drop; }
		}
	NFT
}

arrived() { # NS: packets since the last question
	ip netns exec "$1" nft reset counter ip sink n | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

generate() { # NS COUNT OPTION...: microseconds it took
	local ns=$1
	shift
	ip netns exec "$ns" bash -e -s "$@" <<-'SH'
		cd /proc/net/pktgen
		echo rem_device_all >kpktgend_0
		echo add_device eth0 >kpktgend_0
		echo "count $1" >eth0
		shift
		for option in "pkt_size 60" "delay 0" "flag UDPCSUM" "$@"; do echo "$option" >eth0; done
		echo start >pgctrl
		sed -n 's/^Result: OK: \([0-9]*\)(.*/\1/p' eth0
	SH
}

mac() { ip -n "$1" link show dev "$2" | sed -n 's/.*ether \([^ ]*\).*/\1/p'; }

up_once() { # COUNT: one established flow
	generate lan "$1" "dst_mac $lan_mac" "dst 192.0.2.10" "src_min $LAB_HOST" "src_max $LAB_HOST" \
		"udp_src_min 20000" "udp_src_max 20000" "udp_dst_min 9" "udp_dst_max 9"
}

down_once() { # COUNT
	generate net "$1" "dst_mac $down_mac" "dst $outer" "src_min 192.0.2.10" "src_max 192.0.2.10" \
		"udp_src_min 9" "udp_src_max 9" "udp_dst_min $outer_port" "udp_dst_max $outer_port"
}

new_once() { # COUNT: each packet another flow, to 250 destinations in turn
	generate lan "$1" "dst_mac $lan_mac" "dst_min 198.51.100.1" "dst_max 198.51.100.250" \
		"src_min $LAB_HOST" "src_max $LAB_HOST" \
		"udp_src_min 1024" "udp_src_max 65000" "udp_dst_min 9" "udp_dst_max 9"
}

fill_once() { # COUNT: each packet another flow, all to one destination
	generate lan "$1" "dst_mac $lan_mac" "dst 198.51.100.1" "src_min $LAB_HOST" "src_max $LAB_HOST" \
		"udp_src_min 1024" "udp_src_max 65000" "udp_dst_min 9" "udp_dst_max 9"
}

# Now and then the guest's softirq thread gets the packets too late and its queue overflows: such a run is not a measure
# of anything, and is done again.
measure_once() { # WHAT NAME SINK COUNT
	local try took got
	for try in 1 2 3 4 5; do
		case $1 in new | fill) [ "$outer" = "$LAB_HOST" ] || ce conntrack -F 2>/dev/null ;; esac
		took=$("$1_once" "$4")
		got=$(arrived "$3")
		[ "$got" != "$4" ] || break
		[ "$1" != fill ] || break
	done
	echo "@ $1 $2 $(((took * 1000 + $4 / 2) / $4)) $got $4 $try"
}

find_outer() {
	outer=$LAB_HOST outer_port=20000
	local line
	line=$(ce conntrack -L -p udp --orig-port-src 20000 2>/dev/null | head -n 1)
	[ -n "$line" ] || return 0
	outer=$LAB_IPV4 outer_port=${line##*dport=}
	outer_port=${outer_port%% *}
}

measure() { # NAME
	local i
	sinks_up
	lan_mac=$(mac ce lan0) down_mac=$(mac br down0)
	up_once 1 >/dev/null
	find_outer
	# A few each way before counting: caches filled, the flow on its way to a flowtable if there is one.
	for i in 1 2; do
		down_once 20 >/dev/null
		up_once 20 >/dev/null
	done
	arrived br >/dev/null
	arrived lan >/dev/null
	for ((i = 0; i < repeats; i++)); do
		measure_once up "$1" br "$packets"
		measure_once down "$1" lan "$packets"
	done
	# The first time tables grow.
	measure_once new "$1" br "$flows" >/dev/null
	for ((i = 0; i < repeats; i++)); do
		measure_once new "$1" br "$flows"
	done
	measure_once fill "$1" br "$ports"
}

timed() { # COMMAND... run in the CE: microseconds it took; what it prints goes to $state/log
	# shellcheck disable=SC2016 # expanded by that shell
	ce bash -c 'log=$1; shift; before=${EPOCHREALTIME/./}
		"$@" >"$log" 2>&1 || { status=$?; cat "$log" >&2; exit $status; }
		echo $((${EPOCHREALTIME/./} - before))' - "$state/log" "$@"
}

fresh() {
	[ ! -e /run/netns/ce ] || { lab_down; ip netns del net; }
	rm -rf $state
	mkdir -p $state
	lab_up
	net_up
}

apply() { # ARG...
	timed mape-gen apply mape0 --config ours.conf --state-dir $state/state "$@"
}

for name; do
	fresh
	case $name in
	ours) apply >/dev/null ;;
	ours-flowtable=*)
		apply --flowtable "${name#*=}" >/dev/null || { echo "@ refused $name"; continue; }
		;;
	none) lab_ce_by_hand '' ;;
	*)
		lab_ce_by_hand ''
		took=$(timed nft -f "rulesets/$name.nft")
		echo "@ load $name $took"
		;;
	esac
	measure "$name"
done

case " $* " in
*" ours "*)
	for i in 1 2 3; do
		fresh
		took=$(apply)
		echo "@ apply first $took"
		took=$(apply)
		echo "@ apply again $took"
		fresh
		timed mape-gen apply mape0 --config ours.conf --state-dir $state/state --dry-run >/dev/null
		cp $state/log $state/script
		took=$(timed sh -e $state/script)
		echo "@ apply script $took"
	done
	;;
esac
