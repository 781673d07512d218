#!/usr/bin/env bash
# The state directory when it cannot be written, is not what it should be, or says what is not true of this box; and its lock.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/faults.sh
. "$LAB_SUPPORT/faults.sh"

fault_lab || exit 1
D=$tmp/state # STATE, anew in each phase
mine=$D/mape0
apply() { mape apply "${line[@]}" --state-dir "$D"; }
revert() { mape revert --state-dir "$D"; }
state "$tmp/before"
cp "$tmp/before" "$tmp/clean"
refused() { # NAME PART COMMAND...: exit 1, PART in what it says, all as before
	local name=$1 part=$2
	shift 2
	runs "$name: refused" 1 "$@"
	has "$name: it says why" "$part" "$said"
	unchanged "$name: all as before"
}
reverted() { # NAME: revert, all as before
	runs "$1: revert" 0 revert
	unchanged "$1: then all as before"
}

phase "a full file system"
mkdir "$D"
mount -t tmpfs -o size=4m full "$D"
fill() { # PAGES: so many are left
	rm -f "$D/fill"
	busybox dd if=/dev/zero of="$D/fill" bs=4k count=$((1024 - $1)) 2>/dev/null || :
}
fullness() { # NAME WORD COMMAND...: with 0 and more pages left, exit 1 and as before, at last 0
	local name=$1 pages rc undone=0
	shift
	for pages in 0 1 2 3 4 6 10 16 24 40 80 160 320 640 1000; do
		fill $pages
		rc=0
		said=$("$@" 2>&1) || rc=$?
		state "$tmp/now"
		case $rc in
		0)
			ok "$name: with $pages pages left it is done, with less undone ($undone times)"
			break
			;;
		1)
			undone=$((undone + 1))
			has "$name, $pages pages left: it says why" "No space left on device" "$said"
			same "$name, $pages pages left: all as before" "$tmp/before" "$tmp/now"
			;;
		*) not_ok "$name, $pages pages left: exit 0 or 1" "exit $rc" "$said" ;;
		esac
	done
	is "$name: it is done in the end" 0 "$rc"
}
fullness "the first apply" apply
ce nft list table ip mape_mape0 >/dev/null || not_ok "the first apply on a full disk: applied"
# What could not be remembered of the ruleset makes one more load.
fill 1000
runs "with room again: apply" 0 apply
fill 0
state "$tmp/before"
runs "nothing to do on a full disk" 0 apply
has "nothing to do on a full disk: it says so" "nothing to do" "$said"
unchanged "nothing to do on a full disk: all as before"
change() { mape apply "${other_line[@]}" --state-dir "$D"; }
fullness "another prefix" change
fill 0
cp "$tmp/clean" "$tmp/before"
reverted "a full disk"
fill 1000
mape revert --state-dir "$D" >/dev/null 2>&1 # whatever became of it, for what follows

phase "a read-only file system"
rm -f "$D/fill"
mount -o remount,ro "$D"
refused "read-only" "Read-only file system" apply
mount -o remount,rw "$D"
apply >/dev/null 2>&1
mount -o remount,ro "$D"
state "$tmp/before"
refused "read-only, applied: another prefix" "Read-only file system" change
refused "read-only, applied: revert" "Read-only file system" revert
mount -o remount,rw "$D"
cp "$tmp/clean" "$tmp/before"
reverted "writable again"
umount "$D"

phase "files and symbolic links in its place"
outside=$tmp/outside
mkdir "$outside"
echo keep >"$outside/file"
outside_now() { busybox find "$outside" -exec busybox stat -c '%n %a %s %Y' {} + -exec busybox cat {} \; 2>/dev/null; }
wanted=$(outside_now)
untouched() { is "$1: nothing outside is touched" "$wanted" "$(outside_now)"; }
rm -rf "$D"
: >"$D"
refused "STATE is a file" "$D is a file, not a directory" apply
rm "$D"
ln -s "$outside" "$D"
refused "STATE is a symbolic link" "$D is a symbolic link, not a directory" apply
untouched "STATE is a symbolic link"
rm "$D"
mkdir "$D"
: >"$mine"
refused "STATE/TUNNEL is a file" "$mine is a file, not a directory" apply
rm "$mine"
ln -s "$outside" "$mine"
refused "STATE/TUNNEL is a symbolic link" "$mine is a symbolic link, not a directory" apply
untouched "STATE/TUNNEL is a symbolic link"
rm "$mine"
mkdir -m 700 "$mine"
for name in lock journal; do
	ln -s "$outside/file" "$mine/$name"
	refused "$name is a symbolic link" "$mine/$name" apply
	untouched "$name is a symbolic link"
	ln -sf "$outside/new" "$mine/$name"
	refused "$name is a symbolic link to nothing" "$mine/$name" apply
	untouched "$name is a symbolic link to nothing"
	rm "$mine/$name"
done
for name in journal.new ruleset ruleset.new; do
	ln -s "$outside/file" "$mine/$name"
	runs "$name is a symbolic link: not followed" 0 apply
	untouched "$name is a symbolic link"
	runs "$name is a symbolic link: then nothing to do" 0 apply
	has "$name is a symbolic link: then nothing to do, it says" "nothing to do" "$said"
	reverted "$name is a symbolic link"
done
mkdir "$mine/journal"
refused "journal is a directory" "$mine/journal" apply
rmdir "$mine/journal"
mkfifo "$mine/journal"
runs "journal is a pipe that nobody writes: no wait without end" 1 ce timeout -s KILL 5 "$MAPE" apply "${line[@]}" --state-dir "$D"
rm "$mine/journal"
unchanged "journal is a pipe: all as before"

phase "modes"
modes() { (cd "$D" && busybox find . -exec busybox stat -c '%n %a' {} + | sort | tr '\n' ' '); }
for mask in 000 077 027; do
	rm -rf "$D"
	runs "umask $mask: apply" 0 bash -c "umask $mask; exec ip netns exec ${LAB_NS}ce $MAPE apply ${line[*]} --state-dir $D"
	hasnt "umask $mask: files are 0600, the directory 0700" 6[1-7] "$(modes)"
	is "umask $mask: files are 0600, the directory 0700" "./mape0 700 ./mape0/journal 600 ./mape0/lock 600 ./mape0/ruleset 600 " \
		"$(modes | sed 's/^\. [0-7]* //')"
	reverted "umask $mask"
done
mkdir -p "$mine"
chmod 777 "$mine"
runs "an open directory is made private" 0 apply
is "an open directory is made private: 0700" 700 "$(busybox stat -c %a "$mine")"
reverted "an open directory"

phase "journals that do not speak of this box"
# Without its records nobody knows what a value was: on before, so that none has to be known.
ce sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
state "$tmp/before"
foreign() { # NAME PART COMMAND...: after apply the command changes the journal; it is ignored with a note, revert removes all
	local name=$1 part=$2
	shift 2
	runs "$name: apply" 0 apply
	"$@"
	case $name in
	*ruleset* | *directory*) runs "$name: status tells" 3 mape status "${line[@]}" --state-dir "$D" ;;
	*) runs "$name: status goes on" 0 mape status "${line[@]}" --state-dir "$D" ;;
	esac
	runs "$name: apply again" 0 apply
	runs "$name: revert" 0 revert
	[ -z "$part" ] || has "$name: it is told" "$part" "$said"
	unchanged "$name: revert removes all that is ours"
	holds "$name: the journal is gone" test ! -e "$mine/journal"
	rm -f "$mine/journal"
	revert >/dev/null 2>&1
}
header() { busybox sed -i "1s/$1/$2/" "$mine/journal"; }
foreign "another boot" "ignored the journal $mine/journal: it is of an earlier boot" header '"boot":"[^"]*"' '"boot":"6aa71b98-0000-0000-0000-000000000000"'
foreign "another namespace" "ignored the journal $mine/journal: it is of another network namespace" header '"netns":"[0-9]*"' '"netns":"1"'
foreign "another tunnel" "ignored the journal $mine/journal: it is of another tunnel" header '"tunnel":"mape0"' '"tunnel":"mape1"'
foreign "another version" "ignored the journal $mine/journal: it was written by another version" header '"journal":[0-9]*' '"journal":99'
write() { printf %b "$1" >"$mine/journal"; }
foreign "an empty journal" "" write ''
foreign "garbage" "ignored the journal $mine/journal: it is damaged" write 'garbage\n\0001\0377\n'
foreign "garbage without a line's end" "torn" write 'garbage'
foreign "zeros, as after a power cut" "" busybox dd if=/dev/zero of="$mine/journal" bs=4k count=1
foreign "a header of wrong types" "ignored" write '{"boot":1,"journal":"x","netns":[],"tunnel":null}\n'
foreign "a header that is a number" "ignored the journal" write '1\n'
foreign "no journal" "" rm "$mine/journal"
foreign "no ruleset" "" rm "$mine/ruleset"
foreign "a damaged ruleset" "" busybox sed -i 's/0/9/g' "$mine/ruleset"
foreign "no directory" "" rm -r "$mine"
damage() { busybox sed -i '3s/.*/{"settled":{"kind":"magic"}}/' "$mine/journal"; }
foreign "a damaged line in the middle" "$mine/journal:3: " damage
ce sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
ce sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/accept_redirects'
cp "$tmp/clean" "$tmp/before"
unchanged "journals: as in the beginning"

finish
