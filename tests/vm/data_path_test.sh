#!/usr/bin/env bash
# What passes an applied CE, and what does not: every port of the set used, nothing outside it, both directions.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

LINES_SEEN=15
all_modules

# A line: its lab, a sniffer at the border relay for all of its time, servers there.
begin() { # ISP
	lab_isp "$1"
	phase "$1"
	lab_up || exit 1
	# A slow machine must not lose a flow before the last one is there (the kernel gives a new one 30 s).
	ce sh -c 'echo 3600 >/proc/sys/net/netfilter/nf_conntrack_udp_timeout'
	lab_listen br "$tmp/sniff.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE" --port-set "$LAB_PORT_SET"
	sniff=$LAB_PID
	lab_listen br "$tmp/echo.json" echo-server --udp 5000 --tcp 5000
	echo=$LAB_PID
}

end() {
	lab_stop "$echo"
	lab_stop "$sniff"
	is "$1: 0 packets outside the port set" "(0, [])" "$(facts "$tmp/sniff.json" 'd["outside"], d["outside_ports"]')"
	is "$1: the sniffer missed nothing" 0 "$(facts "$tmp/sniff.json" 'd["missed"]')"
	is "$1: every packet has our address" "['$LAB_IPV4']" "$(facts "$tmp/sniff.json" 'sorted(d["address"])')"
	# 58: ICMPv6, by which the CE address is found on the link
	is "$1: outer next header 4" "['4']" "$(facts "$tmp/sniff.json" 'sorted(h for h in d["next_header"] if h != "58")')"
	is "$1: 40 bytes of overhead" "['40']" "$(facts "$tmp/sniff.json" 'sorted(d["overhead"])')"
	is "$1: at least as many packets as flows" True "$(facts "$tmp/sniff.json" "d['inside'] >= $2")"
	lab_down
}

# Every port to one destination, and the flows after them.
fill() { # NAME KIND PORTS MORE
	local file=$tmp/fill.json
	lan python3 "$traffic" "$2" --dst "$LAB_SERVER:5000" --count $(($3 + $4)) --wait 2 >"$file"
	is "$1: $2: $3 of $(($3 + $4)) flows answered" "$3" "$(facts "$file" 'd["answered"]')"
	is "$1: $2: the first one refused is the next" "$3" "$(facts "$file" 'd["first_refused"]')"
	is "$1: $2: the next are refused" "$(seq -s ', ' "$3" $(($3 + $4 - 1)))" "$(facts "$file" 'str(d["refused"]).strip("[]")')"
	is "$1: $2: all from our address" "['$LAB_IPV4']" "$(facts "$file" 'd["addresses"]')"
	is "$1: $2: the whole set and nothing else" True "$(facts "$file" "d['ports'] == $5")"
}

# RFC 7597 5.1, written once more.
ports() { # A K PSID FIRST-A LAST-A
	echo "[a << (16 - $1) | $3 << (16 - $1 - $2) | j for a in range($4, $5 + 1) for j in range(1 << (16 - $1 - $2))]"
}

pings() { # NAME SET
	lab_listen br "$tmp/ids.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE"
	local ids=$LAB_PID
	lan python3 "$traffic" ping-many --dst "$LAB_SERVER" --count 40 >"$tmp/ping.json"
	lab_stop "$ids"
	is "$1: 40 pings at once, all answered" "(40, [])" "$(facts "$tmp/ping.json" 'd["answered"], d["unanswered"]')"
	is "$1: their ids outside: 40 different ones, all of the set" "({'8': 40}, 40, True)" \
		"$(facts "$tmp/ids.json" "d['icmp_type'], len(d['ports']), set(d['ports']) <= set($2)")"
}

# 3000 bytes there and back, the server checks what came.
big() { # NAME NS-OF-SERVER NS-OF-CLIENT ADDRESS PORT SERVER-PORT
	local ready=$tmp/big.ready
	ip netns exec "$LAB_NS$2" python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", int(sys.argv[1])))
open(sys.argv[2], "w").close()
s.settimeout(60)
data, source = s.recvfrom(9000)
s.sendto(data[::-1], source)' "$6" "$ready" &
	local server=$!
	await 30 test -e "$ready"
	rm "$ready"
	is "$1: 3000 bytes of UDP there and back" "True" "$(ip netns exec "$LAB_NS$3" python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
sent = bytes(i * 7 % 251 for i in range(3000))
s.sendto(sent, (sys.argv[1], int(sys.argv[2])))
try:
    print(s.recv(9000) == sent[::-1])
except OSError as error:
    print(error)' "$4" "$5")"
	kill $server 2>/dev/null
	wait $server 2>/dev/null
}

counts() { # NAME COUNTER WANTED [FAMILY]: since the last look
	local now
	now=$(counter "$2" "${4:-ip}")
	is "$1: counted by $2" "$3" "$((now - ${seen[$2]:-0}))"
	seen[$2]=$now
}
look() { # counters as they are now
	local name
	for name in in_closed in_invalid in_not_ours in_outside_set other_protocol out_outside_set out_wrong_source; do
		seen[$name]=$(counter $name)
	done
	seen[in_ipv6]=$(counter in_ipv6 ip6)
}
declare -A seen

raw() { # NS SRC DST ARG...
	local ns=$1 src=$2 dst=$3
	shift 3
	ip netns exec "$LAB_NS$ns" python3 "$traffic" raw --src "$src" --dst "$dst" "$@"
}

one() { # NS KIND ADDRESS:PORT [COUNT]: that many flows, each from a port that was not used before; how many were answered
	local first
	first=$(cat "$tmp/one.port" 2>/dev/null || echo 30000)
	echo $((first + ${4:-1})) >"$tmp/one.port"
	ip netns exec "$LAB_NS$1" python3 "$traffic" "$2" --dst "$3" --count "${4:-1}" --first-port "$first" --wait 2 >"$tmp/one.json"
	facts "$tmp/one.json" 'd["answered"]'
}

# ---- OCN: the seeds' line

begin ocn
set_of_ocn=$(ports 6 6 44 1 63)
# 1728-1743 is the first range, 65216-65231 the last
runs "ocn: apply" 0 mape apply --prefix 2400:4050:2ba1:ac00::/56 --open "tcp 65217"
has "ocn: address and ports" "IPv4 153.240.174.134, 1008 ports (PSID 44, shared by 64)" "$said"
pings ocn "$set_of_ocn"

# The user's own table: a server in the LAN, reachable from outside and by hairpin.
ce nft -f - <<NFT
table ip user {
	chain pre {
		type nat hook prerouting priority dstnat; policy accept;
		ip daddr $LAB_IPV4 tcp dport 65216 dnat to $LAB_HOST:8080
		ip daddr $LAB_IPV4 udp dport 65216 dnat to $LAB_HOST:8080
	}
	chain post {
		type nat hook postrouting priority srcnat; policy accept;
		iifname lan0 oifname lan0 ip daddr $LAB_HOST masquerade
	}
}
NFT
lab_listen lan "$tmp/lan-echo.json" echo-server --tcp 8080 --udp 8080
lan_echo=$LAB_PID
lab_listen ce "$tmp/ce-echo.json" echo-server --tcp 65217 --tcp 65218 --udp 65217
ce_echo=$LAB_PID

is "ocn: LAN to internet, TCP" 5 "$(one lan tcp-fill "$LAB_SERVER:5000" 5)"
is "ocn: LAN to internet, UDP" 5 "$(one lan udp-fill "$LAB_SERVER:5000" 5)"
is "ocn: internet to a LAN host, TCP" 1 "$(one br tcp-fill "$LAB_IPV4:65216")"
is "ocn: internet to a LAN host: the source is unchanged" "['$LAB_SERVER']" "$(facts "$tmp/one.json" 'd["addresses"]')"
is "ocn: internet to a LAN host, UDP" 1 "$(one br udp-fill "$LAB_IPV4:65216")"
is "ocn: hairpin, TCP" 1 "$(one lan tcp-fill "$LAB_IPV4:65216")"
is "ocn: hairpin: from the router's address in the LAN" "['$LAB_ROUTER']" "$(facts "$tmp/one.json" 'd["addresses"]')"
is "ocn: hairpin, UDP" 1 "$(one lan udp-fill "$LAB_IPV4:65216")"
is "ocn: the router's own TCP" 5 "$(one ce tcp-fill "$LAB_SERVER:5000" 5)"
is "ocn: the router's own UDP" 5 "$(one ce udp-fill "$LAB_SERVER:5000" 5)"
is "ocn: the router's own ports are of the set" True "$(facts "$tmp/one.json" "set(d['ports']) <= set($set_of_ocn)")"
holds "ocn: the router's own ping" ce ping -c 1 -W 5 "$LAB_SERVER"

big "ocn: from the LAN" br lan "$LAB_SERVER" 5001 5001
ce nft flush chain ip user pre
ce nft add rule ip user pre ip daddr "$LAB_IPV4" udp dport 65216 dnat to "$LAB_HOST:8081"
ce nft add rule ip user pre ip daddr "$LAB_IPV4" tcp dport 65216 dnat to "$LAB_HOST:8080"
ce conntrack -F 2>/dev/null
big "ocn: from outside" lan br "$LAB_IPV4" 65216 8081

# MSS: the border relay offers 1460 as if it knew of no tunnel, the LAN host 1460 by its MTU.
ip -n "${LAB_NS}br" route replace "$LAB_IPV4/32" dev map0 src "$LAB_SERVER" advmss 1460
ip -n "${LAB_NS}br" route replace default dev map0 src "$LAB_SERVER" advmss 1460
mss() { # NAME WANTED
	ce conntrack -F 2>/dev/null
	lab_listen br "$tmp/mss-out.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE"
	local out=$LAB_PID
	lab_listen lan "$tmp/mss-in.json" sniff --dev eth0 --direction in
	local in=$LAB_PID
	is "$1: a connection from the LAN" 1 "$(one lan tcp-fill "$LAB_SERVER:5000")"
	is "$1: a connection from outside" 1 "$(one br tcp-fill "$LAB_IPV4:65216")"
	lab_stop "$out"
	lab_stop "$in"
	# one SYN and one SYN-ACK each way
	is "$1: SYN and SYN-ACK that leave" "{'$2': 2}" "$(facts "$tmp/mss-out.json" 'd["mss"]')"
	is "$1: SYN and SYN-ACK that come in" "{'$2': 2}" "$(facts "$tmp/mss-in.json" 'd["mss"]')"
}
mss "ocn: MSS with MTU 1460" 1420

# What must not leave (reference T6): from the LAN, of flows that nobody knows.
ce conntrack -F 2>/dev/null
look
lab_listen br "$tmp/t6.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE" --port-set "$LAB_PORT_SET"
t6=$LAB_PID
raw lan "$LAB_HOST" "$LAB_SERVER" --sport 41000 --case leaks >"$tmp/raw.json"
is "ocn: T6: all 9 packets were sent" "(9, {})" "$(facts "$tmp/raw.json" 'len(d["sent"]), d["failed"]')"
raw lan "$LAB_HOST" "$LAB_SERVER" --sport 41001 --case icmp-timestamp >/dev/null
holds "ocn: T6: the ping behind them arrives" lan ping -c 1 -W 5 "$LAB_SERVER"
lab_stop "$t6"
# 6.1 translates SCTP (132) and DCCP (33); UDP-Lite (136) it calls invalid, as nf_conntrack_checksum is 1.
is "ocn: T6: only what is translated leaves" "['1', '132', '33']" "$(facts "$tmp/t6.json" 'sorted(d["protocol"])')"
is "ocn: T6: it leaves from the set" "0" "$(facts "$tmp/t6.json" 'd["outside"]')"
counts "ocn: T6: GRE, ESP and IP in IP" other_protocol 3
counts "ocn: T6: RST, FIN-ACK, RST-ACK and UDP-Lite" out_wrong_source 4
counts "ocn: T6: an ICMP timestamp" out_outside_set 1

# What must not come in.
lab_listen br "$tmp/in.json" sniff --dev "$LAB_FAR" --outer-src "$LAB_CE"
in=$LAB_PID
raw br "$LAB_SERVER" 192.0.2.99 --case udp >/dev/null
raw br "$LAB_SERVER" "$LAB_HOST" --case udp >/dev/null
counts "ocn: to an address that is not ours, to one of the LAN" in_not_ours 2
raw br "$LAB_SERVER" "$LAB_IPV4" --dport 65232 --case udp --case tcp-syn >/dev/null
counts "ocn: to a port outside the set" in_outside_set 2
raw br "$LAB_SERVER" "$LAB_IPV4" --dport 65219 --case tcp-rst --case tcp-fin-ack --case tcp-rst-ack >/dev/null
counts "ocn: RST, FIN-ACK and RST-ACK of no connection" in_invalid 3
# A bare ACK is new to conntrack (nf_conntrack_tcp_loose), and so falls under closed.
raw br "$LAB_SERVER" "$LAB_IPV4" --dport 65219 --case tcp-ack >/dev/null
counts "ocn: an ACK of no connection" in_closed 1
raw br "$LAB_BR" "$LAB_CE" --case outer-ipv6 >/dev/null
counts "ocn: IPv6 in the tunnel" in_ipv6 1 ip6
is "ocn: a service of the router that is not open" 0 "$(one br tcp-fill "$LAB_IPV4:65218")"
is "ocn: it was counted by in_closed" True "$([ "$(counter in_closed)" -gt "${seen[in_closed]}" ] && echo True)"
look
is "ocn: UDP to a service of the router that is open for TCP" 0 "$(one br udp-fill "$LAB_IPV4:65217")"
counts "ocn: UDP where only TCP is open" in_closed 1
holds "ocn: the ping behind them arrives" lan ping -c 1 -W 5 "$LAB_SERVER"
lab_stop "$in"
is "ocn: nothing was answered, no RST, no ICMP error" "['1']" "$(facts "$tmp/in.json" 'sorted(d["protocol"])')"
is "ocn: nothing was answered but by the ping's one request" "{'8': 1}" "$(facts "$tmp/in.json" 'd["icmp_type"]')"
is "ocn: a service of the router that is open" 1 "$(one br tcp-fill "$LAB_IPV4:65217")"
br python3 "$traffic" ping-many --dst "$LAB_IPV4" --first-id 65216 --count 16 >"$tmp/ping.json"
is "ocn: pings from outside with ids of the set" 16 "$(facts "$tmp/ping.json" 'd["answered"]')"
look
br python3 "$traffic" ping-many --dst "$LAB_IPV4" --first-id 65232 --count 4 --wait 1 >"$tmp/ping.json"
is "ocn: pings from outside with other ids" 0 "$(facts "$tmp/ping.json" 'd["answered"]')"
counts "ocn: pings from outside with other ids" in_outside_set 4

lab_stop "$lan_echo"
lab_stop "$ce_echo"
phase "ocn: the set"
ce conntrack -F 2>/dev/null
fill ocn udp-fill 1008 10 "$set_of_ocn"
fill ocn tcp-fill 1008 10 "$set_of_ocn"
pings "ocn, the set full of others" "$set_of_ocn"

runs "ocn: apply with another MTU and reserved ranges" 0 \
	mape apply --prefix 2400:4050:2ba1:ac00::/56 --mtu 1452 --reserve "last-ranges 2"
ce conntrack -F 2>/dev/null
fill "ocn, 2 ranges reserved" udp-fill 976 10 "$(ports 6 6 44 1 61)"
lab_listen lan "$tmp/lan-echo.json" echo-server --tcp 8080
lan_echo=$LAB_PID
mss "ocn: MSS with MTU 1452" 1412
lab_stop "$lan_echo"
runs "ocn: revert" 0 mape revert
end ocn 3000

# ---- v6plus: everything found by itself

begin v6plus
set_of_v6plus=$(ports 4 8 100 1 15)
runs "v6plus: apply, nothing said" 0 mape apply
has "v6plus: address and ports" "IPv4 106.72.50.97, 240 ports (PSID 100, shared by 256)" "$said"
has "v6plus: WAN and CE address" "inet6 $LAB_CE/128" "$(ip -n "${LAB_NS}ce" addr show wan0)"
runs "v6plus: apply again: the CE address is not taken for a prefix" 0 mape apply
has "v6plus: nothing to do" "nothing to do" "$said"
pings v6plus "$set_of_v6plus"
fill v6plus udp-fill 240 10 "$set_of_v6plus"
fill v6plus tcp-fill 240 10 "$set_of_v6plus"
holds "v6plus: the router's own ping" ce ping -c 1 -W 5 "$LAB_SERVER"
runs "v6plus: status" 0 mape status
runs "v6plus: revert" 0 mape revert
end v6plus 500

finish
