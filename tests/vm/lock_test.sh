#!/usr/bin/env bash
# Two runs at once: the second waits, and says for whom.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
lock=/run/mape-gen/mape0/lock
state "$tmp/clean"
cp "$tmp/clean" "$tmp/before"

# A process that holds the lock until its standard input, the pipe $tmp/hold, ends.
mkfifo "$tmp/hold" "$tmp/held" "$tmp/trace"
hold() {
	python3 -c 'import fcntl, os, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
file.truncate(0)
file.write(str(os.getpid()))
file.flush()
open(sys.argv[2], "w").close()
sys.stdin.read()' "$lock" "$tmp/held" <"$tmp/hold" &
	holder=$!
	exec 7>"$tmp/hold"
	: <"$tmp/held"
}
release() {
	exec 7>&-
	wait $holder
}
start() { # ARG...: in the background, its output to $tmp/said
	: >"$tmp/said"
	ip netns exec "${LAB_NS}ce" "$MAPE" "$@" >"$tmp/said" 2>&1 7>&- &
	started=$!
}
ends() { # NAME STATUS
	local rc=0
	wait $started || rc=$?
	said=$(cat "$tmp/said")
	is "$1: exit $2" "$2" "$rc"
	[ "$rc" = "$2" ] || printf '    %s\n' "$said"
}
waits() { await 20 grep -q "waiting up to" "$tmp/said"; }
ticks() { cut -d' ' -f1 /proc/uptime | tr -d .; } # 1/100 s

phase "somebody holds the lock"
mape apply "${line[@]}" >/dev/null 2>&1
mape revert >/dev/null 2>&1
hold
from=$(ticks)
runs "no time to wait: exit 1" 1 mape apply "${line[@]}" --lock-timeout 0
has "no time to wait: it names the holder" "process $holder holds the lock of mape0 ($lock)" "$said"
is "no time to wait: at once" 1 "$(($(ticks) - from < 50))"
from=$(ticks)
runs "it waits 2 s: exit 1" 1 mape apply "${line[@]}" --lock-timeout 2
has "it waits 2 s: it says for whom" "waiting up to 2 s for process $holder, which holds the lock of mape0" "$said"
has "it waits 2 s: it says who holds the lock" "process $holder holds the lock of mape0" "$said"
took=$(($(ticks) - from))
is "it waits 2 s: that long" 1 "$((took >= 200 && took < 300))"
runs "revert waits too: exit 1" 1 mape revert --lock-timeout 1
unchanged "the lock was held: all as before"
is "the lock was held: the holder's name stays in it" "$holder" "$(cat $lock)"
runs "status does not wait: exit 3" 3 ce timeout 5 "$MAPE" status "${line[@]}"
runs "a dry run does not wait: exit 0" 0 ce timeout 5 "$MAPE" apply "${line[@]}" --dry-run

start apply "${line[@]}" --lock-timeout 60
holds "it waits" waits
release
ends "the holder goes in time" 0
has "the holder goes in time: it is done" "mape0: done, 7 steps" "$said"
runs "then revert" 0 mape revert
unchanged "then all as before"

phase "Ctrl-C and others while it waits"
# A shell starts what runs in the background with SIGINT ignored.
with_sigint='import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])'
for signal in INT TERM HUP; do
	hold
	: >"$tmp/said"
	python3 -c "$with_sigint" ip netns exec "${LAB_NS}ce" "$MAPE" apply "${line[@]}" --lock-timeout 60 >"$tmp/said" 2>&1 7>&- &
	started=$!
	holds "SIG$signal: it waits" waits
	from=$(ticks)
	kill -$signal $started
	rc=0
	wait $started || rc=$?
	said=$(cat "$tmp/said")
	is "SIG$signal while it waits: ends at once" 1 "$(($(ticks) - from < 100))"
	case $rc in
	1) has "SIG$signal while it waits: exit 1, it says so" interrupted "$said" ;;
	*) not_ok "SIG$signal while it waits: exit 1" "exit $rc" "$said" ;;
	esac
	unchanged "SIG$signal while it waits: all as before"
	release
done

phase "two real runs"
# The first is stopped in its middle, at the fourth record of its journal.
stop_in_the_middle() { # SIGNAL ARG...
	ip netns exec "${LAB_NS}ce" strace -f -o "$tmp/trace" -e trace=fdatasync -e inject=fdatasync:signal=SIGSTOP:when=4 \
		"$MAPE" "$@" >"$tmp/first" 2>&1 7>&- &
	first_tracer=$!
	exec 8<"$tmp/trace"
	while read -r first rest <&8; do
		case $rest in *"stopped by SIGSTOP"*) break ;; esac
	done
}
first_ends() { # STATUS
	local rc=0
	while read -r _ <&8; do :; done
	exec 8<&-
	wait $first_tracer || rc=$?
	is "$1: the first run: exit $2" "$2" "$rc"
}
stop_in_the_middle apply "${line[@]}"
start apply "${line[@]}" --lock-timeout 60
holds "the second run waits" waits
has "the second run waits for the first" "process $first" "$(cat "$tmp/said")"
kill -CONT "$first"
first_ends "two of apply" 0
ends "two of apply: the second run" 0
has "two of apply: the second has nothing to do" "nothing to do" "$said"
runs "two of apply: revert" 0 mape revert
unchanged "two of apply: then all as before"

stop_in_the_middle apply "${line[@]}"
start apply "${line[@]}" --lock-timeout 60
holds "the second run waits" waits
kill -KILL "$first"
first_ends "the first is killed" 137
ends "the first is killed: the second run" 0
has "the first is killed: the second cleans up" "an earlier run did not end" "$said"
has "the first is killed: the second does it all" "mape0: done, 7 steps" "$said"
runs "the first is killed: revert" 0 mape revert
unchanged "the first is killed: then all as before"

stop_in_the_middle apply "${line[@]}"
start revert --lock-timeout 60
holds "revert waits for apply" waits
kill -CONT "$first"
first_ends "revert waits for apply" 0
ends "revert waits for apply: revert" 0
unchanged "revert waits for apply: all as before"

stop_in_the_middle apply "${line[@]}"
start apply "${other_line[@]}" --lock-timeout 60
holds "another prefix waits" waits
kill -CONT "$first"
first_ends "another prefix waits" 0
ends "another prefix waits: the second run" 0
state "$tmp/applied"
has "another prefix waits: it is what is there now" "240b0010326265" "$(grep '^addr: wan0' "$tmp/applied")"
hasnt "another prefix waits: the first is gone" "=240b0010326164000" "$(grep '^addr: wan0' "$tmp/applied" | grep -v 5054)"
runs "another prefix waits: revert" 0 mape revert
unchanged "another prefix waits: then all as before"

# A line of its own does not wait.
stop_in_the_middle apply "${line[@]}"
runs "another tunnel does not wait" 3 ce timeout 5 "$MAPE" status other "${other_line[@]}"
runs "another tunnel's revert does not wait" 0 ce timeout 5 "$MAPE" revert other
kill -CONT "$first"
first_ends "another tunnel" 0
runs "another tunnel: revert" 0 mape revert
unchanged "another tunnel: then all as before"

finish
