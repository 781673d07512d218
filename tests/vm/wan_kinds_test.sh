#!/usr/bin/env bash
# Every kind of WAN device, and two lines on one box.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

LINES_SEEN=15
all_modules
modprobe -a 8021q macvlan bridge ppp_generic ppp_async ppp_deflate bsd_comp 2>/dev/null

# A line over PPP: two pppd and a pty between them. lab.sh makes the other kinds.
eval "x_$(declare -f lab_wan)"
lab_wan() {
	[ "$LAB_WAN" = ppp ] || { x_lab_wan && return; }
	local common="nodetach noauth noccp nobsdcomp nodeflate novj noip +ipv6 mtu $LAB_WAN_MTU mru $LAB_WAN_MTU nodefaultroute"
	mkdir -p /etc/ppp /run/ppp /var/lock
	: >/etc/ppp/options
	cat >"$tmp/far" <<-FAR
		#!/bin/sh
		exec ip netns exec ${LAB_NS}br pppd $common notty ipv6 ::3,::2 ifname ce0
	FAR
	chmod +x "$tmp/far"
	# shellcheck disable=SC2086 # options, a word each
	ce pppd $common ipv6 ::2,::3 ifname wan0 pty "$tmp/far" >"$tmp/pppd" 2>&1 &
	LAB_FAR=ce0
	has_link_local() { ip -n "$LAB_NS$1" -6 addr show dev "$2" scope link | grep -q fe80; }
	if ! await 60 has_link_local ce wan0 || ! await 60 has_link_local br ce0; then
		cat "$tmp/pppd"
		return 1
	fi
}

# A few flows there and back.
works() { # NAME
	lab_listen br "$tmp/sniff.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE" --port-set "$LAB_PORT_SET"
	local sniff=$LAB_PID
	lab_listen br "$tmp/echo.json" echo-server --udp 5000 --tcp 5000
	local echo=$LAB_PID
	lan python3 "$traffic" ping-many --dst "$LAB_SERVER" --count 20 >"$tmp/ping.json"
	lan python3 "$traffic" udp-fill --dst "$LAB_SERVER:5000" --count 50 >"$tmp/udp.json"
	lan python3 "$traffic" tcp-fill --dst "$LAB_SERVER:5000" --count 20 >"$tmp/tcp.json"
	lab_stop "$sniff"
	lab_stop "$echo"
	is "$1: 20 pings, 50 UDP and 20 TCP flows" "20 50 20" "$(for f in ping udp tcp; do facts "$tmp/$f.json" 'd["answered"]'; done | xargs)"
	is "$1: all in the set, next header 4, overhead 40, MSS" "(0, True, ['4'], ['40'], ['$2'])" "$(facts "$tmp/sniff.json" \
		'd["outside"], d["inside"] >= 90, sorted(h for h in d["next_header"] if h != "58"), sorted(d["overhead"]), sorted(d["mss"])')"
}

kind() { # KIND WAN-MTU TUNNEL-MTU
	lab_isp ocn
	LAB_WAN=$1 LAB_WAN_MTU=$2
	phase "$1"
	lab_up || {
		not_ok "$1: the lab"
		lab_down
		return
	}
	snapshot "$tmp/before"
	runs "$1: apply" 0 mape apply
	has "$1: bound to WAN, MTU $3" "mape0@wan0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu $3 " "$(ip -n "${LAB_NS}ce" link show mape0)"
	works "$1" $(($3 - 40))
	runs "$1: status" 0 mape status
	runs "$1: revert" 0 mape revert
	snapshot "$tmp/after"
	same "$1: all as before" "$tmp/before" "$tmp/after"
	rm -r "$tmp/before" "$tmp/after"
	lab_down
}

kind ppp 1492 1452
kind vlan 1500 1460
kind macvlan 1500 1460
kind bridge 1500 1460
kind veth 1492 1452

phase "two lines"
lab_isp ocn
lab_up || exit 1
v6plus_ce=240b:10:3261:6400:6a:4832:6100:6400
v6plus_br=2404:9200:225:100::64
ip -n "${LAB_NS}br" -batch - <<-IP
	addr add $v6plus_br/128 dev lo nodad
	route add 240b:10:3261:6400::/56 dev $LAB_FAR
	link add map1 type ip6tnl mode ipip6 local $v6plus_br remote $v6plus_ce encaplimit none
	link set map1 mtu 1460 up
	route add 106.72.50.97/32 dev map1 src $LAB_SERVER
IP
ip -n "${LAB_NS}lan" addr add 192.168.1.200/24 dev eth0
snapshot "$tmp/before"
first=(mape0 --prefix 2400:4050:2ba1:ac00::/56 --table 300 --rule "from 192.168.1.0/25 pref 1000")
second=(mape1 --prefix 240b:10:3261:6400::/56 --table 301 --rule "from 192.168.1.128/25 pref 1001")
runs "two lines: apply the first" 0 mape apply "${first[@]}"
snapshot "$tmp/first"
runs "two lines: apply the second" 0 mape apply "${second[@]}"
lab_listen br "$tmp/echo.json" echo-server --udp 5000
echo=$LAB_PID
through() { # SOURCE FIRST-PORT: answered flows and the address they came from
	lan python3 "$traffic" udp-fill --dst "$LAB_SERVER:5000" --src "$1" --count 20 --first-port "$2" --wait 3 >"$tmp/udp.json"
	facts "$tmp/udp.json" 'd["answered"], d["addresses"]'
}
is "two lines: through the first" "(20, ['153.240.174.134'])" "$(through 192.168.1.10 21000)"
is "two lines: through the second" "(20, ['106.72.50.97'])" "$(through 192.168.1.200 22000)"
runs "two lines: status of the first" 0 mape status "${first[@]}"
runs "two lines: status of the second" 0 mape status "${second[@]}"
snapshot "$tmp/both"
runs "two lines: revert the second" 0 mape revert mape1
snapshot "$tmp/after"
same "two lines: the second reverted, all as when only the first was there" "$tmp/first" "$tmp/after"
rm -r "$tmp/after"
is "two lines: the second reverted, the first works" "(20, ['153.240.174.134'])" "$(through 192.168.1.10 23000)"
runs "two lines: apply the second again" 0 mape apply "${second[@]}"
runs "two lines: revert the first" 0 mape revert mape0
runs "two lines: the first reverted: status of the second" 0 mape status "${second[@]}"
is "two lines: the first reverted, the second works" "(20, ['106.72.50.97'])" "$(through 192.168.1.200 24000)"
hasnt "two lines: the first reverted: nothing of it is left" mape0 \
	"$(ce nft list tables; ip -n "${LAB_NS}ce" link; ip -n "${LAB_NS}ce" route show table all)"
lab_stop "$echo"
runs "two lines: revert the second as well" 0 mape revert mape1
snapshot "$tmp/after"
same "two lines: in the end all is as in the beginning" "$tmp/before" "$tmp/after"

finish
