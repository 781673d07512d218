#!/usr/bin/env bash
# What `apply --dry-run` prints, run by sh, gives the same as apply; and the dry run itself changes nothing.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

ocn=(--prefix 2400:4050:2ba1:ac00::/56)
all_modules

# Two labs side by side: a- for apply, s- for sh.
for LAB_NS in a- s-; do
	lab_up || exit 1
done

# What differs between two namespaces by itself: hardware addresses and the link-local ones made of them, names of the
# namespaces at the other ends. And two marks that ip has no words for (iproute2 6.1): the protocol of an address, which
# it does not show either.
alike() { # DIR
	sed -i -E -e 's/link\/ether [0-9a-f:]+/link\/ether MAC/' -e 's/permaddr [0-9a-f:]+/permaddr MAC/' \
		-e 's/fe80::[0-9a-f]+:[0-9a-f:]+/fe80::MAC/g' -e 's/link-netns(id)? [as]?-?/link-netns\1 /' "$1"/*
	# the kernel lists them by address, so the link-local ones come in any order
	sort -o "$1/route" "$1/route"
}

pair() { # NAME ARG...
	local name=$1
	shift
	LAB_NS=s-
	mape apply --dry-run "$@" >"$tmp/script" 2>"$tmp/errors" || not_ok "$name: dry run" "$(cat "$tmp/errors")"
	holds "$name: sh runs it" ce sh -e "$tmp/script"
	snapshot "$tmp/s"
	LAB_NS=a-
	runs "$name: apply" 0 mape apply "$@"
	snapshot "$tmp/a"
	alike "$tmp/s"
	alike "$tmp/a"
	same "$name: links, addresses, routes, rules, rulesets, values are the same" "$tmp/a" "$tmp/s"
	holds "$name: and it works: apply" lan ping -c 1 -W 5 "$LAB_SERVER"
	holds "$name: something was compared" test "$(wc -l <"$tmp/a/nft")" -gt 20
	# After apply a dry run has nothing to do.
	is "$name: dry run after apply" "# nothing to do: everything is as wanted" \
		"$(mape apply --dry-run "$@" 2>"$tmp/errors" | sed -n 3p)"
	runs "$name: revert" 0 mape revert
	# What sh made is ours by its marks but for the CE address: revert finds it.
	LAB_NS=s-
	runs "$name: revert of what sh made" 0 mape revert
	ip -n "${LAB_NS}ce" -6 addr flush dev wan0 deprecated
	ce sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
	snapshot "$tmp/s"
	alike "$tmp/s"
	same "$name: after revert of what sh made only its forwarding and CE address were left" "$tmp/clean" "$tmp/s"
	rm -r "$tmp/s" "$tmp/a"
}

LAB_NS=s-
snapshot "$tmp/clean"
alike "$tmp/clean"

phase "the dry run itself"
snapshot "$tmp/before"
runs "dry run" 0 mape apply --dry-run "${ocn[@]}"
is "it opens with three lines: what and for whom" "# mape0: this box as a MAP-E customer edge; nothing is changed by this dry run
# IPv4 153.240.174.134, 1008 ports (PSID 44, shared by 64), from $LAB_CE on wan0 to border relay $LAB_BR" "$(head -n 2 <<<"$said")"
has "it opens with three lines: how many steps" "# 7 steps: " "$(sed -n 3p <<<"$said")"
is "each step in words" 7 "$(sed 1,3d <<<"$said" | grep -c '^# ')"
snapshot "$tmp/after"
same "it changes nothing" "$tmp/before" "$tmp/after"
rm -r "$tmp/before" "$tmp/after"
holds "it makes no state" test ! -e /run/mape-gen
ce "$MAPE" apply --dry-run "${ocn[@]}" >"$tmp/as-root" 2>/dev/null
ce python3 -c '
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.execv(sys.argv[1], sys.argv[1:])' "$MAPE" apply --dry-run "${ocn[@]}" >"$tmp/as-nobody" 2>"$tmp/errors"
is "as nobody: exit 0" 0 $?
same "as nobody: the same text" "$tmp/as-root" "$tmp/as-nobody"

phase plain
pair plain "${ocn[@]}"
phase "reserve, notrack, open"
pair "reserve, notrack, open" "${ocn[@]}" --reserve "last-ranges 2" --lan-notrack "192.168.1.0/24 192.168.1.1" \
	--open "tcp 65216" --open "udp 1728-1730" --mtu 1452
phase "table, rule, metric"
pair "table, rule, metric" "${ocn[@]}" --table 300 --rule "iif lan0 pref 1000" --rule "from 192.168.7.0/24 pref 1001" \
	--metric 5 --log-rate off
phase "a fixed address"
# The lab's border relay sends to this CE: only its address is another.
pair "a fixed address" --ipv4 "$LAB_IPV4" --ce "$LAB_CE" --br "$LAB_BR" --protocols all --inbound open
phase "an assigned prefix, a rule of its own"
# The lab's border relay knows nothing of this line: no ping. r + o = 24: the EA bits 1234 make 203.18.52.0/24.
lan() { :; }
pair "an assigned prefix" --prefix 2001:db8:1234:5600::/56 --rule-ipv6 2001:db8::/32 --rule-ipv4 203.0.0.0/8 \
	--ea-length 16 --psid-offset 0 --iid rfc7597 --br 2001:db8:ffff::1 --wan wan0 --tunnel mape0 --default-route prepend

finish
