#!/usr/bin/env bash
# Changed in place: the same command with another prefix, border relay, MTU, reservation or protocol list.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

all_modules
lab_up || exit 1
line=(--prefix "2400:4050:2ba1:ac00::/56")

# Another line that ends at the same border relay.
other_line=(--prefix "240b:10:3262:6500::/56" --br "$LAB_BR")
other_ce=240b:10:3262:6500:6a:4832:6200:6500
other_ipv4=106.72.50.98
ip -n "${LAB_NS}br" -batch - <<-IP || exit 1
	link add map1 type ip6tnl mode ipip6 local $LAB_BR remote $other_ce encaplimit none
	link set map1 mtu 1460 up
	route add 240b:10:3262:6500::/56 dev $LAB_FAR
	route add $other_ipv4/32 dev map1 src $LAB_SERVER
IP

entries() { # PATTERN: how many conntrack entries have it
	ce conntrack -L 2>/dev/null | grep -c -e "$1"
}
outer_port() { # of the UDP flow from that port
	ce conntrack -L -p udp --orig-port-src "$1" 2>/dev/null | sed -n 's/.*dport=\([0-9]*\) .*/\1/p' | head -n 1
}
lab_listen br "$tmp/echo.json" echo-server --udp 5000 --tcp 5000
echo=$LAB_PID

# A UDP socket that asks, answers to "again" on its input by asking once more: prints what came back.
cat >"$tmp/flow.py" <<'PY'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", int(sys.argv[2])))
s.connect((sys.argv[1], 5000))
s.settimeout(3)
for line in sys.stdin:
    try:
        s.send(b"x")
        s.recv(100)
        print("answered", flush=True)
    except OSError as error:
        print("lost:", error, flush=True)
PY
coproc FLOW { lan python3 "$tmp/flow.py" "$LAB_SERVER" 40001; }
ask() { # the flow once more: what came back
	echo again >&"${FLOW[1]}"
	read -r -t 20 answer <&"${FLOW[0]}" || answer="no answer"
	echo "$answer"
}

phase "a change that does not concern a flow"
runs "apply" 0 mape apply "${line[@]}"
hasnt "the first apply speaks of no interruption" "interrupted" "$said"
is "the flow works" answered "$(ask)"
port=$(outer_port 40001)
ce ip route add 203.0.113.0/24 dev mape0
user_route() { ip -n "${LAB_NS}ce" route show 203.0.113.0/24; }
routes=$(user_route)
unconcerned() { # NAME STEPS OPTION...
	local name=$1 steps=$2
	shift 2
	runs "$name: apply" 0 mape apply "${line[@]}" "$@"
	has "$name: its own steps alone" "mape0: done, $steps" "$said"
	is "$name: the flow goes on" answered "$(ask)"
	is "$name: with the same port" "$port" "$(outer_port 40001)"
	is "$name: a route of the user's through the tunnel is still there" "$routes" "$(user_route)"
	runs "$name: nothing differs" 0 mape status "${line[@]}" "$@"
	runs "$name: again, nothing to do" 0 mape apply "${line[@]}" "$@"
	has "$name: again, it says so" "nothing to do" "$said"
}
unconcerned "reservation" "1 step" --reserve "last-ranges 2"

runs "reservation off: apply" 0 mape apply "${line[@]}"
has "reservation off: not interrupted" "IPv4 was not interrupted" "$said"
unconcerned "protocols" "1 step" --protocols "tcp udp icmp"
unconcerned "open port" "1 step" --open "tcp 65216"
unconcerned "log rate" "1 step" --log-rate 1/minute
# With the MTU the clamp changes, too.
unconcerned "MTU" "2 steps" --mtu 1400
is "MTU: the tunnel has it" 1400 "$(ce cat /sys/class/net/mape0/mtu)"
runs "back: apply" 0 mape apply "${line[@]}"

phase "another border relay"
other_br=2001:380:a120::a
ip -n "${LAB_NS}br" addr add "$other_br/128" dev lo nodad
ip -n "${LAB_NS}br" link add map2 type ip6tnl mode ipip6 local "$other_br" remote "$LAB_CE" encaplimit none
ip -n "${LAB_NS}br" link set map2 mtu 1460 up
runs "border relay: apply" 0 mape apply "${line[@]}" --br "$other_br"
has "border relay: its interruption is told" "IPv4 was interrupted for" "$said"
ip -n "${LAB_NS}br" route replace "$LAB_IPV4/32" dev map2 src "$LAB_SERVER"
is "border relay: the flow goes on through it" answered "$(ask)"
is "border relay: a route of the user's is still there" "$routes" "$(user_route)"
ip -n "${LAB_NS}br" route replace "$LAB_IPV4/32" dev map0 src "$LAB_SERVER"
runs "border relay: back" 0 mape apply "${line[@]}"

phase "another prefix"
lan python3 "$traffic" udp-fill --dst "$LAB_SERVER:5000" --count 20 >/dev/null
lan python3 "$traffic" ping-many --dst "$LAB_SERVER" --count 3 >/dev/null
# Flows that have nothing to do with the line: of the LAN with the router.
lan ping -c 1 -W 5 "$LAB_ROUTER" >/dev/null
is "another prefix: flows of the line there are" yes "$([ "$(entries "dst=$LAB_IPV4 ")" -ge 22 ] && echo yes)"
others=$(entries "dst=$LAB_ROUTER ")
lab_listen br "$tmp/sniff.json" sniff --dev "$LAB_FAR" --outer-src "$other_ce" --port-set 4,8,101
sniff=$LAB_PID
ip netns exec "${LAB_NS}br" python3 "$LAB_SUPPORT/gap.py" receive --port 6000 --ready "$tmp/gap.ready" >"$tmp/gap.json" &
gap=$!
ip netns exec "${LAB_NS}lan" python3 "$LAB_SUPPORT/gap.py" send --dst "$LAB_SERVER" --port 6000 &
sender=$!
holds "another prefix: a stream runs" await 20 test -e "$tmp/gap.ready"
runs "another prefix: apply" 0 mape apply "${other_line[@]}" --json
printf '%s\n' "$said" | sed -n '/^{/,$p' >"$tmp/change.json"
await 20 grep -q . "$tmp/change.json"
kill $sender $gap
wait $sender $gap 2>/dev/null
outage=$(facts "$tmp/change.json" 'd["outage_us"]')
measured=$(facts "$tmp/gap.json" 'round(d["longest_gap"] * 1e6)')
echo "# outage: told $outage us, measured from outside $measured us"
holds "another prefix: an outage is told" test "$outage" -gt 0
# Packets come in turns with apply on one processor: what they miss is the outage and a turn or two.
holds "another prefix: what is told is what the traffic sees ($outage, $measured us)" \
	test "$measured" -ge $((outage / 2)) -a "$measured" -le $((outage + 50000))
is "another prefix: no entry of the old address is left" 0 "$(entries "dst=$LAB_IPV4 ")"
is "another prefix: entries of others are left alone" "$others" "$(entries "dst=$LAB_ROUTER ")"
is "another prefix: the old IPv4 address is gone" "" "$(ip -n "${LAB_NS}ce" -o addr show to "$LAB_IPV4")"
is "another prefix: the old CE address is gone" "" "$(ip -n "${LAB_NS}ce" -o addr show to "$LAB_CE")"
is "another prefix: the flow goes on with a new translation" answered "$(ask)"
is "another prefix: a route of the user's is still there" "$routes" "$(user_route)"
hasnt "another prefix: the way into the tunnel is open again" "inet mape_mape0" "$(ce nft list tables)"
lab_stop "$sniff"
is "another prefix: what left with the new CE address has the new address and ports only" "(0, [])" \
	"$(facts "$tmp/sniff.json" 'd["outside"], d["outside_ports"]')"
runs "another prefix: nothing differs" 0 mape status "${other_line[@]}"

phase "a fixed address, and other ports of one address"
fixed=(--ipv4 "$other_ipv4" --ce "$other_ce" --br "$LAB_BR")
runs "the same address, not shared: apply" 0 mape apply "${fixed[@]}"
is "the same address, not shared: the flow goes on" answered "$(ask)"
lan python3 "$traffic" udp-fill --dst "$LAB_SERVER:5000" --count 200 >/dev/null
runs "shared again: apply" 0 mape apply "${other_line[@]}"
has "shared again: flows with ports of others are forgotten" "forget the flows of $other_ipv4 that have ports of others now" "$said"
in_set=$(ce conntrack -L -p udp 2>/dev/null | sed -n "s/.*dst=$other_ipv4 sport=5000 dport=\([0-9]*\).*/\1/p" |
	awk '{ if (int($1 / 16) % 256 != 101) n++ } END { print n + 0 }')
is "shared again: every entry that is left has a port of the set" 0 "$in_set"

runs "revert" 0 mape revert
kill "$echo"
finish
