#!/usr/bin/env bash
# apply, status and revert: what was there before is there after, whatever happens in between; drift is named and mended.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

line=(--prefix "2400:4050:2ba1:ac00::/56")

all_modules
lab_up || exit 1
snapshot "$tmp/clean"

applied() { # NAME ARG...: apply, exit 0
	local name=$1
	shift
	runs "$name: apply" 0 mape apply "${line[@]}" "$@"
}

# apply OPTION...; CHANGE; revert: all as it was.
round() { # NAME CHANGE-COMMAND OPTION...
	local name=$1 change=$2
	shift 2
	snapshot "$tmp/before"
	applied "$name" "$@"
	# shellcheck disable=SC2086 # a command and its words
	[ "$change" = : ] || holds "$name: $change" $change
	runs "$name: revert" 0 mape revert
	snapshot "$tmp/after"
	same "$name: all as before" "$tmp/before" "$tmp/after"
	rm -r "$tmp/after"
}

phase "apply and revert, twice each"
runs "nothing is applied: status says so" 3 mape status "${line[@]}"
has "nothing is applied: status says so in words" "nothing is applied: \`mape-gen apply\` does" "$said"
runs "nothing to revert: exit 0" 0 mape revert
is "nothing to revert: it says so" "mape0: nothing to do, nothing of ours is here" "$said"
applied plain
has "plain: 7 steps" "mape0: done, 7 steps" "$said"
has "plain: verdict" "IPv4 is ready: 0 sent, 0 received so far" "$said"
holds "plain: ping" lan ping -c 1 -W 5 "$LAB_SERVER"
runs "plain: status" 0 mape status "${line[@]}"
has "plain: status counts what it sent and received" "IPv4 works: 1 sent, 1 received" "$said"

# Silence: monitors see the change that this script makes after the second apply, and nothing before it.
ip -n "${LAB_NS}ce" monitor link address route rule >"$tmp/ip.monitor" 2>&1 &
ip_monitor=$!
ce nft monitor >"$tmp/nft.monitor" 2>&1 &
nft_monitor=$!
probes=$tmp/probes
heard() { # both listen already
	local probe
	probe=$(wc -l <"$probes")
	echo >>"$probes"
	ip -n "${LAB_NS}ce" addr add "192.0.2.$probe/32" dev lo
	ce nft add table ip "probe$probe"
	grep -q 192.0.2 "$tmp/ip.monitor" && grep -q "table ip probe" "$tmp/nft.monitor"
}
echo >"$probes"
holds "the monitors listen" await 20 heard
: >"$tmp/ip.monitor"
: >"$tmp/nft.monitor"
values() { ce busybox find /proc/sys/net -type f -perm -0200 -exec busybox grep -s "" {} +; }
values >"$tmp/values.1"
runs "second apply" 0 mape apply "${line[@]}"
values >"$tmp/values.2"
has "second apply: nothing to do" "mape0: nothing to do, everything is as wanted" "$said"
ip -n "${LAB_NS}ce" addr add 192.0.2.201/32 dev lo
ce nft add table ip sentinel
holds "the monitors heard what came after" await 20 grep -q 192.0.2.201 "$tmp/ip.monitor"
holds "the nft monitor heard what came after" await 20 grep -q sentinel "$tmp/nft.monitor"
kill $ip_monitor $nft_monitor
is "second apply: no netlink change of links, addresses, routes, rules" "" \
	"$(grep -v -e 192.0.2. -e '^ *valid_lft' "$tmp/ip.monitor")"
is "second apply: no change of rulesets" "" "$(grep -v -e sentinel -e probe -e '^# new generation' "$tmp/nft.monitor")"
is "second apply: the ruleset's generation moved for this script's own changes only" "$(grep -c -e 'add table' "$tmp/nft.monitor")" \
	"$(grep -c '^# new generation' "$tmp/nft.monitor")"
same "second apply: no value written" "$tmp/values.1" "$tmp/values.2"
mape apply "${line[@]}" --json >"$tmp/second.json" 2>"$tmp/second.err"
is "second apply in JSON: changed is false, diff empty" "(False, [])" "$(facts "$tmp/second.json" 'd["changed"], d["diff"]')"
ip -n "${LAB_NS}ce" addr flush dev lo to 192.0.2.0/24
for ((i = 1; i < $(wc -l <"$probes"); ++i)); do ce nft delete table ip probe$i; done
ce nft delete table ip sentinel
runs "plain: revert" 0 mape revert
snapshot "$tmp/after"
same "plain: all as before" "$tmp/clean" "$tmp/after"
rm -r "$tmp/after"
hasnt "plain: no state is left" journal "$(ls /run/mape-gen/mape0 2>/dev/null)"

phase "values that an admin has set"
value() { ce sh -c "echo $2 >/proc/sys/net/ipv4/conf/$1"; }
value lan0/forwarding 1
value all/accept_redirects 0
value default/forwarding 1
round "per-device forwarding set" :
value all/accept_redirects 1
value wan0/accept_redirects 0
round "other redirects" :
ce sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
value lan0/forwarding 0
round "ip_forward on already, off for a device" :
# Without the journal nobody knows what a value was: here none had to be changed.
round "state directory gone" "rm -r /run/mape-gen/mape0"
ce sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
value lan0/forwarding 1
value all/accept_redirects 0

snapshot "$tmp/before"
applied "an admin's change after apply"
value all/accept_redirects 1
value wan0/forwarding 0
value lan0/forwarding 0
runs "an admin's change after apply: revert" 0 mape revert
has "an admin's change is reported" "net/ipv4/conf/all/accept_redirects is 1, set by somebody since: left alone (it was 0)" "$said"
has "an admin's change of one device is reported" "net/ipv4/conf/lan0/forwarding is 0, set by somebody since: left alone (it was 1)" "$said"
hasnt "what was reset to its old value by hand is not reported" "wan0/forwarding" "$said"
snapshot "$tmp/after"
sed -i -e 's|\(conf/all/accept_redirects:\)0|\11|' -e 's|\(ipv4/conf/lan0/forwarding:\)1|\10|' "$tmp/before/sysctl"
same "an admin's change is left alone, all else as before" "$tmp/before" "$tmp/after"
rm -r "$tmp/after"

applied "forwarding turned off by hand"
ce sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
runs "forwarding turned off by hand: revert" 0 mape revert
has "forwarding turned off by hand is reported" "net/ipv4/ip_forward is 0 already" "$said"
is "forwarding stays off" 0 "$(ce cat /proc/sys/net/ipv4/ip_forward)"
value all/accept_redirects 1

phase "other places for the route"
round "a table of its own and a rule" : --table 300 --rule "iif lan0 pref 1000" --rule "from 192.168.7.0/24 pref 1001"
round "no default route" : --default-route no
round "a metric" : --metric 100
round "a table, its journal gone" "rm -r /run/mape-gen/mape0" --forwarding no --table 300 --rule "iif lan0 pref 1000"

phase "tables of others"
cat >"$tmp/user.nft" <<'NFT'
table ip user_before {
	set blocked { type ipv4_addr; flags interval; elements = { 192.0.2.0/24 } }
	chain forward {
		type filter hook forward priority filter; policy accept;
		ip saddr @blocked counter drop comment "mine"
	}
}
table inet mape_lookalike {
	chain post { type filter hook postrouting priority srcnat; policy accept; }
}
NFT
cat >"$tmp/late.nft" <<'NFT'
table ip user_after {
	chain post {
		type nat hook postrouting priority srcnat; policy accept;
		masquerade
	}
}
NFT
ce nft -f "$tmp/user.nft"
snapshot "$tmp/before"
applied "tables of others"
ce nft -f "$tmp/late.nft"
theirs() { ce nft -s list ruleset | awk '/^table / { ours = $3 == "mape_mape0" } !ours'; }
theirs >"$tmp/theirs"
ce nft delete table ip user_after
theirs >"$tmp/theirs.before"
same "tables of others: as before under apply" "$tmp/before/nft" "$tmp/theirs.before"
ce nft -f "$tmp/late.nft"

# The masquerade came later than ours, at srcnat, where of two chains the last one loaded comes first.
lab_listen br "$tmp/sniff.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE" --port-set "$LAB_PORT_SET"
sniff=$LAB_PID
lab_listen br "$tmp/echo.json" echo-server --udp 5000 --tcp 5000
echo=$LAB_PID
lan python3 "$traffic" udp-fill --dst "$LAB_SERVER:5000" --count 100 >"$tmp/fill.json"
lan python3 "$traffic" tcp-fill --dst "$LAB_SERVER:5000" --count 20 >"$tmp/tcp.json"
lan python3 "$traffic" ping-many --dst "$LAB_SERVER" --count 20 >"$tmp/ping.json"
lab_stop "$sniff"
lab_stop "$echo"
is "a masquerade loaded after ours: UDP, TCP, ping work" "100 20 20" \
	"$(facts "$tmp/fill.json" 'd["answered"]') $(facts "$tmp/tcp.json" 'd["answered"]') $(facts "$tmp/ping.json" 'd["answered"]')"
is "a masquerade loaded after ours wins nothing: 0 outside the set" "(0, [], True)" \
	"$(facts "$tmp/sniff.json" 'd["outside"], d["outside_ports"], d["inside"] >= 140')"
runs "tables of others: status" 0 mape status "${line[@]}"
runs "tables of others: revert" 0 mape revert
theirs >"$tmp/theirs.after"
same "tables of others, loaded before and after: byte for byte as before revert" "$tmp/theirs" "$tmp/theirs.after"
ce nft delete table ip user_after
snapshot "$tmp/after"
same "tables of others: all as before" "$tmp/before" "$tmp/after"
rm -r "$tmp/after"
ce nft delete table ip user_before
ce nft delete table inet mape_lookalike

phase "objects deleted by hand before revert"
no_tunnel() { ip -n "${LAB_NS}ce" link del mape0; }
no_ce() { ip -n "${LAB_NS}ce" addr del "$LAB_CE/128" dev wan0; }
no_route() { ip -n "${LAB_NS}ce" route del default dev mape0; }
no_ipv4() { ip -n "${LAB_NS}ce" addr del "$LAB_IPV4/32" dev mape0; }
no_table() { ce nft delete table ip mape_mape0; }
no_table6() { ce nft delete table ip6 mape_mape0; }
down() { ip -n "${LAB_NS}ce" link set mape0 down; }
all_of_it() { no_tunnel && no_ce && no_table && no_table6; }
for change in no_tunnel no_ce no_route no_table all_of_it; do
	round "deleted by hand" $change
done

phase "drift"
applied drift
other_mtu() { ip -n "${LAB_NS}ce" link set mape0 mtu 1400; }
no_forwarding() { ce sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'; }
other_br() { ip -n "${LAB_NS}ce" link set mape0 type ip6tnl mode ipip6 local "$LAB_CE" remote 2001:db8::9 dev wan0 encaplimit none hoplimit 64; }
no_rule() { ce nft flush chain ip mape_mape0 out_guard; }
no_element() { ce nft delete element ip mape_mape0 turn "{ 0 }"; }
one_rule_more() { ce nft insert rule ip mape_mape0 out_guard accept; }
ce_preferred() { ip -n "${LAB_NS}ce" addr change "$LAB_CE/128" dev wan0 preferred_lft forever valid_lft forever; }

drift() { # CHANGE STEPS PART...: status exits 3 and says each PART; apply does STEPS, then all is as applied
	local change=$1 steps=$2 part
	shift 2
	holds "drift: $change" "$change"
	runs "drift: $change: status" 3 mape status "${line[@]}"
	for part in "$@"; do
		has "drift: $change: it is named" "$part" "$said"
	done
	is "drift: $change: as many differ" "$steps" "$(grep -c '^  differs' <<<"$said")"
	runs "drift: $change: apply" 0 mape apply "${line[@]}"
	has "drift: $change: it is mended" "mape0: done, $steps step" "$said"
	runs "drift: $change: status again" 0 mape status "${line[@]}"
	hasnt "drift: $change: nothing differs" differ "$said"
}
mape status "${line[@]}" >/dev/null
snapshot "$tmp/before"
drift no_ce 1 "apply would add the CE address $LAB_CE/128 on wan0"
drift down 2 "apply would set the tunnel mape0 up" "apply would add the IPv4 default route through mape0 (table main, metric 0)"
drift other_mtu 1 "apply would change the tunnel mape0"
drift other_br 1 "apply would change the tunnel mape0: $LAB_CE to border relay $LAB_BR, MTU 1460"
drift no_route 1 "apply would add the IPv4 default route through mape0 (table main, metric 0)"
# With the last IPv4 address of a device the kernel drops its routes.
drift no_ipv4 2 "apply would add the IPv4 address $LAB_IPV4/32 on mape0" \
	"apply would add the IPv4 default route through mape0 (table main, metric 0)"
drift no_forwarding 1 "apply would turn IPv4 forwarding on"
drift no_rule 1 "apply would replace the nftables ruleset mape_mape0" "missing: " "out_guard"
drift no_element 1 "apply would replace the nftables ruleset mape_mape0" "missing: " "turn"
drift one_rule_more 1 "apply would replace the nftables ruleset mape_mape0" "not ours: " "out_guard"
drift no_table6 1 "apply would" "ip6"
drift ce_preferred 1 "apply would correct the CE address $LAB_CE/128 on wan0"
drift no_tunnel 4 "apply would create the tunnel mape0"
snapshot "$tmp/after"
# A tunnel made anew has another index and hardware address.
sed -i -e 's/^[0-9]*: mape0/N: mape0/' -e 's/permaddr [0-9a-f:]*/permaddr X/' "$tmp"/before/{link,addr} "$tmp"/after/{link,addr}
same "drift: mended, all is as first applied" "$tmp/before" "$tmp/after"
rm -r "$tmp/after"
holds "drift: mended, IPv4 works" lan ping -c 1 -W 5 "$LAB_SERVER"
runs "drift: revert" 0 mape revert
value lan0/forwarding 0
value default/forwarding 0
value wan0/accept_redirects 1
snapshot "$tmp/after"
same "in the end all is as in the beginning" "$tmp/clean" "$tmp/after"

finish
