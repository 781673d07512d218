# shellcheck shell=bash
# What the tests in the virtual machine share: assertions, snapshots of a namespace, counters. To be sourced.
#
# Each assertion prints a line, "ok - NAME" or "not ok - NAME" with what was seen, and the script goes on; `finish` ends it.
#
#   is NAME WANTED SEEN            equal texts
#   has NAME PART SEEN             PART is in SEEN
#   hasnt NAME PART SEEN           it is not
#   same NAME A B                  equal files or directories
#   holds NAME COMMAND...          the command succeeds
#   runs NAME STATUS COMMAND...    its exit status; what it said is in $said (both streams)
#   snapshot DIR                   what the CE's namespace looks like, a file each (exported without_nft=1: nft is not
#                                  asked, as it would load nf_tables)
#   mape ARG...                    mape-gen in the CE
#   facts FILE EXPRESSION...       python expressions over the JSON in FILE, named d: a line each
#   counter NAME [FAMILY]          packets counted by a counter of ours
#   await SECONDS COMMAND...       until the command succeeds
#   all_modules                    load whatever the tests come to need

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/support/lab.sh
. "$here/../support/lab.sh"
export MAPE_GEN_DATA=$PWD/profiles
# The binary lies where the build tree has it, below the working directory.
MAPE=${MAPE:-$PWD/bin/mape-gen}
# shellcheck disable=SC2034 # for those who source this
traffic=$LAB_SUPPORT/traffic.py
# shellcheck disable=SC2034
tmp=$(mktemp -d)
said=
x_failed=0
x_passed=0

ok() {
	x_passed=$((x_passed + 1))
	echo "ok - $1"
}

not_ok() { # NAME SEEN...
	x_failed=$((x_failed + 1))
	echo "not ok - $1"
	shift
	printf '%s\n' "$@" | head -n "${LINES_SEEN:-40}" | sed 's/^/    /'
}

is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted: $2" "seen:   $3"; fi; }
has() { case $3 in *"$2"*) ok "$1" ;; *) not_ok "$1" "wanted in it: $2" "seen: $3" ;; esac; }
hasnt() { case $3 in *"$2"*) not_ok "$1" "not wanted in it: $2" "seen: $3" ;; *) ok "$1" ;; esac; }
holds() {
	local name=$1 seen
	shift
	if seen=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "failed: $*" "$seen"; fi
}
runs() {
	local name=$1 wanted=$2 got=0
	shift 2
	said=$("$@" 2>&1) || got=$?
	if [ "$got" = "$wanted" ]; then ok "$name"; else not_ok "$name" "wanted exit $wanted, got $got: $*" "$said"; fi
}
same() {
	local name=$1 seen
	if seen=$(diff -r "$2" "$3" 2>&1); then ok "$name"; else not_ok "$name" "$seen"; fi
}

# Modules stay loaded after revert, and each brings values and devices of its own: all of them before a snapshot.
all_modules() {
	lab_modules
	modprobe -a nf_log_syslog nft_masq nf_conntrack_netlink
}

phase() { echo "# $* ($(cut -d' ' -f1 /proc/uptime) s)"; }

finish() {
	echo "# $x_passed passed, $x_failed failed ($(cut -d' ' -f1 /proc/uptime) s of the guest's time)"
	[ $x_failed = 0 ] || exit 1
	exit 0
}

mape() { ce "$MAPE" "$@"; }

# What moves by itself and is left out: a device's operational state ("state UP": the kernel sets it some time after the
# device came up; UP and LOWER_UP among the flags stay), timers of a bridge, values of net.* that cannot be written (nf_conntrack_count and
# such are counters), and net/ipv6/conf/*/stable_secret, which cannot be read until it is set (-s).
# shellcheck disable=SC2016 # expanded by that shell
snapshot() { # DIR
	mkdir -p "$1"
	ip netns exec "${LAB_NS}ce" bash -c '
		still="s/ state [A-Z]* / /; s/_timer *[0-9.]*/_timer/g"
		ip -d link | sed "$still" >$1/link
		ip -d addr | sed "$still" >$1/addr
		{ ip route show table all; ip -6 route show table all; } >$1/route
		{ ip rule; ip -6 rule; } >$1/rule
		[ -n "${without_nft:-}" ] || nft -s list ruleset >$1/nft
		busybox find /proc/sys/net -type f -perm -0200 -exec busybox grep -s "" {} + | busybox sort >$1/sysctl
	' - "$1"
}

facts() { # FILE EXPRESSION...
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
for expression in sys.argv[2:]:
    print(eval(expression))' "$@"
}

counter() { # NAME [FAMILY]
	ce nft list counter "${2:-ip}" "mape_${LAB_TUNNEL//[-.]/_}" "$1" | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

await() { # SECONDS COMMAND...
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
