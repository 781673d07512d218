# shellcheck shell=bash
# A home line in three network namespaces, to be sourced: lan -(lan0)- ce -(wan0)- br.
#
#   lab_isp ocn|v6plus        choose a line (default ocn); then any LAB_ variable below may be changed
#   lab_up, lab_down          make and remove the namespaces
#   lan|ce|br COMMAND...      run in one of them
#   lab_ce_by_hand FILE.nft   set the CE up with ip and nft, as mape-gen apply would
#   lab_modules               load what rulesets need at once: left to itself the kernel asks for each module
#                             several times, which emulated takes seconds
#   lab_listen NS FILE ARG... start traffic.py ARG... there, its output to FILE; waits until it is ready; sets LAB_PID
#   lab_stop [PID]            end it (default LAB_PID) so that FILE is complete
#
# BR is the border relay and the internet: all of 198.51.100.0/24 and 203.0.113.0/24 answers there.

LAB_SUPPORT=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

lab_isp() {
	LAB_NS=${LAB_NS:-}  # put before the names of the namespaces, so that two labs can stand side by side
	LAB_TUNNEL=mape0    # the CE's tunnel device
	LAB_WAN=veth        # veth, vlan, macvlan or bridge: what wan0 is
	LAB_WAN_MTU=1500
	LAB_LINK=ip6tnl     # veth: the "tunnel" is a plain link set up by lab_up, for kernels without ip6tnl
	LAB_HOST=192.168.1.10
	LAB_ROUTER=192.168.1.1
	LAB_SERVER=198.51.100.1
	case $1 in
	ocn)
		LAB_PREFIX=2400:4050:2ba1:ac00::/64
		LAB_CE=2400:4050:2ba1:ac00:99:f0ae:8600:2c00
		LAB_BR=2001:380:a120::9
		LAB_IPV4=153.240.174.134
		LAB_PORT_SET=6,6,44 # a, k, PSID
		;;
	v6plus)
		LAB_PREFIX=240b:10:3261:6400::/56
		LAB_CE=240b:10:3261:6400:6a:4832:6100:6400
		LAB_BR=2404:9200:225:100::64
		LAB_IPV4=106.72.50.97
		# shellcheck disable=SC2034 # for those who source this
		LAB_PORT_SET=4,8,100
		;;
	*)
		echo "lab_isp: ocn or v6plus, not '$1'" >&2
		return 2
		;;
	esac
}
lab_isp ocn

lan() { ip netns exec "${LAB_NS}lan" "$@"; }
ce() { ip netns exec "${LAB_NS}ce" "$@"; }
br() { ip netns exec "${LAB_NS}br" "$@"; }

lab_up() {
	local ns
	for ns in lan ce br; do
		ip netns add "$LAB_NS$ns" || return
		# No duplicate address detection, no addresses but ours: the lab is ready when lab_up returns.
		# shellcheck disable=SC2016 # expanded by that shell
		ip netns exec "$LAB_NS$ns" sh -e -c '
			cd /proc/sys/net/ipv6/conf
			for c in all default; do echo 0 >$c/accept_dad; echo 0 >$c/accept_ra; done
			ip link set lo up' || return
	done
	lab_lan && lab_wan && lab_ce && lab_br
}

lab_lan() {
	ip -n "${LAB_NS}ce" -batch - <<-IP || return
		link add lan0 type veth peer name eth0 netns ${LAB_NS}lan
		addr add $LAB_ROUTER/24 dev lan0
		link set lan0 up
	IP
	ip -n "${LAB_NS}lan" -batch - <<-IP
		addr add $LAB_HOST/24 dev eth0
		link set eth0 up
		route add default via $LAB_ROUTER
	IP
}

# The device below wan0 is eth0 where wan0 is made of something; BR's end is ce0, or a VLAN on it.
lab_wan() {
	local port=eth0 far=ce0
	[ "$LAB_WAN" != veth ] || port=wan0
	ip -n "${LAB_NS}ce" link add $port mtu "$LAB_WAN_MTU" type veth peer name ce0 mtu "$LAB_WAN_MTU" netns "${LAB_NS}br" || return
	ip -n "${LAB_NS}ce" link set $port up && ip -n "${LAB_NS}br" link set ce0 up || return
	case $LAB_WAN in
	veth) ;;
	vlan)
		far=ce0.10
		ip -n "${LAB_NS}ce" link add link eth0 name wan0 type vlan id 10 &&
			ip -n "${LAB_NS}br" link add link ce0 name ce0.10 type vlan id 10
		;;
	macvlan) ip -n "${LAB_NS}ce" link add link eth0 name wan0 type macvlan mode private ;;
	bridge) ip -n "${LAB_NS}ce" link add wan0 type bridge && ip -n "${LAB_NS}ce" link set eth0 master wan0 ;;
	*) echo "LAB_WAN '$LAB_WAN': veth, vlan, macvlan or bridge" >&2; return 2 ;;
	esac || return
	LAB_FAR=$far # BR's device towards the CE: where packets are counted
	ip -n "${LAB_NS}ce" link set wan0 mtu "$LAB_WAN_MTU" up && ip -n "${LAB_NS}br" link set "$far" up
}

lab_ce() {
	ip -n "${LAB_NS}ce" -batch - <<-IP
		addr add ${LAB_PREFIX%::*}:5054:ff:fe12:3456/64 dev wan0 nodad
		route add ::/0 via fe80::1 dev wan0 proto ra metric 1024
	IP
}

lab_br() {
	ip -n "${LAB_NS}br" -batch - <<-IP || return
		addr add fe80::1/64 dev $LAB_FAR nodad
		addr add $LAB_BR/128 dev lo nodad
		route add $LAB_PREFIX dev $LAB_FAR
		addr add 198.51.100.1/24 dev lo
		addr add 203.0.113.1/24 dev lo
	IP
	case $LAB_LINK in
	ip6tnl) ip -n "${LAB_NS}br" link add map0 type ip6tnl mode ipip6 local "$LAB_BR" remote "$LAB_CE" encaplimit none ;;
	veth)
		ip -n "${LAB_NS}br" link add map0 type veth peer name "$LAB_TUNNEL" netns "${LAB_NS}ce" &&
			ip -n "${LAB_NS}br" link set map0 arp off &&
			ip -n "${LAB_NS}ce" link set "$LAB_TUNNEL" arp off &&
			lab_same_mac
		;;
	esac || return
	# Everything goes to the CE, also what is not for it: tests send that on purpose.
	ip -n "${LAB_NS}br" -batch - <<-IP
		link set map0 mtu $((LAB_WAN_MTU - 40)) up
		route add $LAB_IPV4/32 dev map0 src $LAB_SERVER
		route add default dev map0 src $LAB_SERVER
	IP
}

# Without ARP both ends send to the address of their own device: give both the same one.
lab_same_mac() {
	ip -n "${LAB_NS}br" link set map0 address 02:00:00:00:00:01 &&
		ip -n "${LAB_NS}ce" link set "$LAB_TUNNEL" address 02:00:00:00:00:01
}

lab_modules() {
	modprobe -a nf_tables nft_chain_nat nft_nat nft_numgen nft_hash nft_ct nft_log nft_limit nft_flow_offload \
		nf_flow_table_inet ip6_tunnel
}

lab_ce_by_hand() { # FILE.nft
	if [ "$LAB_LINK" = ip6tnl ]; then
		ip -n "${LAB_NS}ce" -batch - <<-IP || return
			addr add $LAB_CE/128 dev wan0 preferred_lft 0 nodad noprefixroute
			link add $LAB_TUNNEL type ip6tnl mode ipip6 local $LAB_CE remote $LAB_BR encaplimit none dev wan0
		IP
	fi
	ip -n "${LAB_NS}ce" -batch - <<-IP || return
		link set $LAB_TUNNEL mtu $((LAB_WAN_MTU - 40)) up
		addr add $LAB_IPV4/32 dev $LAB_TUNNEL
	IP
	[ -z "${1:-}" ] || ce nft -f "$1" || return
	ce sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' && ip -n "${LAB_NS}ce" route add default dev "$LAB_TUNNEL"
}

lab_down() {
	local ns pids
	for ns in lan ce br; do
		pids=$(ip netns pids "$LAB_NS$ns" 2>/dev/null) || continue
		# shellcheck disable=SC2086 # one word a process
		[ -z "$pids" ] || kill -9 $pids 2>/dev/null
		ip netns del "$LAB_NS$ns"
	done
}

lab_listen() { # NS FILE ARG...
	local ns=$1 file=$2 ready
	shift 2
	ready=$(mktemp -u)
	ip netns exec "$LAB_NS$ns" python3 "$LAB_SUPPORT/traffic.py" "$@" --ready "$ready" >"$file" &
	LAB_PID=$!
	until [ -e "$ready" ]; do
		kill -0 "$LAB_PID" 2>/dev/null || return 1
		sleep 0.05
	done
	rm "$ready"
}

lab_stop() { # [PID]
	kill -TERM "${1:-$LAB_PID}"
	wait "${1:-$LAB_PID}"
}
