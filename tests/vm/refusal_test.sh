#!/usr/bin/env bash
# What apply refuses: the exit code, the sentence, and nothing changed.
# shellcheck disable=SC2317 # functions are called by way of others
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

line=(--prefix 2400:4050:2ba1:ac00::/56)
release=$(uname -r)
network_modules=/lib/modules/$release/kernel/net
package="on Debian it is in the package linux-image-$release"

# COMMAND must leave with STATUS, say each PART, and change nothing.
refused() { # NAME STATUS PART... -- COMMAND...
	local name=$1 status=$2 parts=() part
	shift 2
	while [ "$1" != -- ]; do
		parts+=("$1")
		shift
	done
	shift
	snapshot "$tmp/before"
	runs "$name: exit $status" "$status" "$@"
	for part in "${parts[@]}"; do
		has "$name: it says so" "$part" "$said"
	done
	snapshot "$tmp/after"
	same "$name: nothing changed" "$tmp/before" "$tmp/after"
	rm -r "$tmp/before" "$tmp/after"
}

drop_privilege() { # nobody|no-net-admin COMMAND...
	ce python3 -c '
import ctypes, os, sys
if sys.argv[1] == "nobody":
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
elif ctypes.CDLL(None).prctl(24, 12, 0, 0, 0):  # PR_CAPBSET_DROP, CAP_NET_ADMIN
    sys.exit("prctl failed")
os.execvp(sys.argv[2], sys.argv[2:])' "$@"
}

hide() { mv "$1" "$tmp/hidden.${1##*/}"; }
unhide() { mv "$tmp/hidden.${1##*/}" "$1"; }

phase "a kernel that lacks a module, while neither is loaded"
export without_nft=1
is "neither nf_tables nor ip6_tunnel is loaded yet" "" "$(lsmod | grep -e '^nf_tables' -e '^ip6_tunnel')"
hide "$network_modules/netfilter/nf_tables.ko"
modprobe ip6_tunnel
LAB_LINK=veth
LAB_TUNNEL=far0
lab_up || exit 1
LAB_TUNNEL=mape0
# CE address and tunnel are there by then: a step that fails in the middle.
refused "no nf_tables" 1 \
	"mape-gen: cannot load the nftables ruleset mape_mape0: " \
	"this kernel ($release) lacks nf_tables: \`modprobe nf_tables\` says why; $package" \
	-- mape apply "${line[@]}"
runs "no nf_tables: status" 3 mape status "${line[@]}"
has "no nf_tables: status says what is there" "nothing is applied: \`mape-gen apply\` does" "$said"
runs "no nf_tables: revert" 0 mape revert
unhide "$network_modules/netfilter/nf_tables.ko"
# Kernels are made without parts of it as well.
hide "$network_modules/netfilter/nft_chain_nat.ko"
modprobe -a nf_tables nf_conntrack nft_ct nft_log nf_log_syslog nft_limit nft_numgen nft_hash
refused "no nft_chain_nat" 1 \
	"mape-gen: cannot load the nftables ruleset mape_mape0: " "nft_chain_nat" -- mape apply "${line[@]}"
unhide "$network_modules/netfilter/nft_chain_nat.ko"
rmmod ip6_tunnel
hide "$network_modules/ipv6/ip6_tunnel.ko"
refused "no ip6_tunnel" 1 \
	"mape-gen: cannot create the tunnel mape0: $LAB_CE to border relay $LAB_BR, MTU 1460: Operation not supported" \
	"this kernel ($release) lacks ip6_tunnel: \`modprobe ip6_tunnel\` says why; $package" \
	-- mape apply "${line[@]}"
unhide "$network_modules/ipv6/ip6_tunnel.ko"
lab_down
unset without_nft
LAB_LINK=ip6tnl

phase "WAN and prefix"
all_modules
lab_up || exit 1
ip -n "${LAB_NS}ce" link add down0 type dummy
ip -n "${LAB_NS}ce" link add noipv6 type dummy
ce sh -c 'echo 1 >/proc/sys/net/ipv6/conf/noipv6/disable_ipv6'
ip -n "${LAB_NS}ce" link set noipv6 up
refused "missing WAN" 1 "mape-gen: there is no device eth9 (wan)" "devices here: " "lan0, " "wan0" \
	-- mape apply "${line[@]}" --wan eth9
refused "missing WAN and no prefix" 1 "mape-gen: wan = eth9: there is no such device" -- mape apply --wan eth9
refused "WAN down" 1 "mape-gen: the WAN device down0 is down" \
	"\`ip link set down0 up\`, or let the network manager bring it up first" -- mape apply "${line[@]}" --wan down0
refused "WAN without IPv6" 1 "mape-gen: the WAN device noipv6 has no IPv6 address, not even a link-local one" \
	"is IPv6 turned off there? (net/ipv6/conf/noipv6/disable_ipv6)" -- mape apply "${line[@]}" --wan noipv6
refused "no border relay" 2 "mape-gen: no border relay: neither br nor a rule table gives one" \
	"state \`br = ADDRESS\` (--br ADDRESS) as the provider names it" \
	-- mape apply --prefix 2001:db8:1002:3400::/56 --rule-ipv6 2001:db8:1000::/44 --rule-ipv4 203.0.113.0/24 \
	--ea-length 12 --psid-offset 6
refused "in no table" 2 "2001:db8:1002:3400::/56" ".tsv" -- mape apply --prefix 2001:db8:1002:3400::/56
ip -n "${LAB_NS}ce" -6 addr add 240b:10:3261:6400::1/64 dev wan0 nodad
refused "two prefixes that tables know" 1 "mape-gen: prefix = auto: more than one prefix that a rule knows: " \
	"240b:10:3261:6400::/64" "2400:4050:2ba1:ac00::/64" "state it with --prefix or prefix = ... in [map]" -- mape apply
ip -n "${LAB_NS}ce" -6 addr del 240b:10:3261:6400::1/64 dev wan0
own=2400:4050:2ba1:ac00:5054:ff:fe12:3456/64
ip -n "${LAB_NS}ce" -6 addr del $own dev wan0
refused "prefix auto, none" 1 \
	"mape-gen: prefix = auto: no global IPv6 address or delegated prefix on WAN and LAN devices" -- mape apply
ip -n "${LAB_NS}ce" -6 addr add 2001:db8:7:8::9/64 dev wan0 nodad
refused "prefix auto, none of a table" 1 "mape-gen: prefix = auto: none of the prefixes seen is in a rule table (searched: " \
	"seen: 2001:db8:7:8::/64 (address 2001:db8:7:8::9/64 on wan0)" -- mape apply
ip -n "${LAB_NS}ce" -6 addr del 2001:db8:7:8::9/64 dev wan0
ip -n "${LAB_NS}ce" -6 addr add $own dev wan0 nodad preferred_lft 0
refused "prefix auto, a deprecated one" 1 "mape-gen: prefix = auto: no global IPv6 address" -- mape apply
ip -n "${LAB_NS}ce" -6 addr del $own dev wan0
ip -n "${LAB_NS}ce" -6 addr add $own dev wan0 nodad
ip -n "${LAB_NS}ce" -6 route del default
refused "wan auto, no IPv6 default route" 1 \
	"mape-gen: no WAN device: wan is not stated and there is no IPv6 default route" \
	"wait for the router advertisement, or state \`wan = DEVICE\` (--wan DEVICE)" -- mape apply "${line[@]}"
ip -n "${LAB_NS}ce" -6 route add default via fe80::1 dev wan0 proto ra metric 1024

phase "privilege"
privilege="mape-gen: capability CAP_NET_ADMIN is missing"
for command in apply revert; do
	arguments=()
	[ $command = revert ] || arguments=("${line[@]}")
	refused "$command as nobody" 5 "$privilege" "run it as root" -- drop_privilege nobody "$MAPE" $command "${arguments[@]}"
	refused "$command as root without CAP_NET_ADMIN" 5 "$privilege" "run it as root" \
		-- drop_privilege no-net-admin "$MAPE" $command "${arguments[@]}"
done
refused "calc as nobody works" 0 153.240.174.134 -- drop_privilege nobody "$MAPE" calc 2400:4050:2ba1:ac00::/56

phase "names and objects of others"
ip -n "${LAB_NS}ce" link add mape0 type dummy
refused "tunnel name taken by a dummy" 1 \
	"mape-gen: the name of the tunnel, mape0, is taken by a device that is not ours (kind dummy)" \
	"delete that device, or state another name: \`tunnel = NAME\` (--tunnel NAME)" -- mape apply "${line[@]}"
refused "revert leaves the dummy" 0 "mape0: nothing to do, nothing of ours is here" -- mape revert
ip -n "${LAB_NS}ce" link del mape0
refused "ip6tnl0 as an option" 2 "--tunnel" "\"ip6tnl0\" is the device that the ip6_tunnel module makes for itself" \
	-- mape apply "${line[@]}" --tunnel ip6tnl0
refused "ip6tnl0 as NAME" 2 "\"ip6tnl0\" is the device that the ip6_tunnel module makes for itself" \
	-- mape apply ip6tnl0 "${line[@]}"

foreign() { ip -n "${LAB_NS}ce" link add foreign0 type ip6tnl mode "$1" local "$LAB_CE" remote "$LAB_BR" encaplimit none "${@:2}"; }
foreign ipip6 dev wan0
ce nft 'add table ip theirs; add chain ip theirs post { type nat hook postrouting priority 100; }'
refused "a foreign tunnel with our endpoints" 1 \
	"mape-gen: a tunnel that is not ours, foreign0, has the endpoints $LAB_CE and $LAB_BR already" \
	"chain post of table ip theirs translates" "\`ip link del foreign0\` removes it" -- mape apply "${line[@]}"
ip -n "${LAB_NS}ce" link del foreign0
# The kernel allows these two side by side. What comes in goes to the one that is bound to WAN.
foreign any
runs "a foreign tunnel with our endpoints, bound to no device" 0 mape apply "${line[@]}"
has "a foreign tunnel with our endpoints, bound to no device: a warning names it" \
	"mape-gen: warning: a tunnel that is not ours, foreign0, has the endpoints $LAB_CE and $LAB_BR as well" "$said"
holds "a foreign tunnel with our endpoints, bound to no device: IPv4 works" lan ping -c 1 -W 5 "$LAB_SERVER"
runs "a foreign tunnel with our endpoints, bound to no device: revert" 0 mape revert
ip -n "${LAB_NS}ce" link del foreign0
foreign any dev wan0
refused "a foreign tunnel that is bound to WAN, ours is not" 1 \
	"mape-gen: a tunnel that is not ours, foreign0, has the endpoints $LAB_CE and $LAB_BR already" \
	-- mape apply "${line[@]}" --bind-device no
ip -n "${LAB_NS}ce" link del foreign0
ce nft delete table ip theirs

ip -n "${LAB_NS}ce" route add default via 192.168.1.254 dev lan0
refused "a foreign default route of our metric" 1 \
	"mape-gen: there is another IPv4 default route of metric 0: default via 192.168.1.254 dev lan0 metric 0" \
	"remove it, or state another \`metric = N\`, \`default-route = prepend\` (ours goes first) or \`default-route = no\`" \
	-- mape apply "${line[@]}"
snapshot "$tmp/foreign"
runs "beside it with metric 100" 0 mape apply "${line[@]}" --metric 100
has "beside it with metric 100: a warning names it" \
	"mape-gen: warning: another IPv4 default route is preferred to ours (metric 100): default via 192.168.1.254 dev lan0 metric 0" "$said"
has "beside it with metric 100: both are there" "default dev mape0 proto 77 scope link metric 100" \
	"$(ip -n "${LAB_NS}ce" route)"
runs "beside it with metric 100: revert" 0 mape revert
snapshot "$tmp/after"
same "beside it with metric 100: the foreign one is left" "$tmp/foreign" "$tmp/after"
rm -r "$tmp/after"
runs "before it with prepend" 0 mape apply "${line[@]}" --default-route prepend
is "before it with prepend: ours is first" "default dev mape0" "$(ip -n "${LAB_NS}ce" route | head -n 1 | cut -d' ' -f1-3)"
holds "before it with prepend: IPv4 works" lan ping -c 1 -W 5 "$LAB_SERVER"
runs "before it with prepend: status" 0 mape status "${line[@]}" --default-route prepend
runs "before it with prepend: revert" 0 mape revert
snapshot "$tmp/after"
same "before it with prepend: the foreign one is left" "$tmp/foreign" "$tmp/after"
rm -r "$tmp/after"
ip -n "${LAB_NS}ce" route del default via 192.168.1.254 dev lan0

ce nft 'add table ip mape_mape0; add chain ip mape_mape0 theirs'
refused "a foreign table of our name" 1 "mape-gen: a table of our name, mape_mape0, is not ours: its comment is not our mark" \
	"\`nft delete table ip mape_mape0\` removes it" -- mape apply "${line[@]}"
refused "revert leaves a foreign table of our name" 0 "mape0: nothing to do" -- mape revert
ce nft delete table ip mape_mape0

ce nft 'add table ip theirs; add chain ip theirs post { type nat hook postrouting priority 100; };
	add rule ip theirs post oifname "mape0" masquerade;
	add chain ip theirs early { type nat hook postrouting priority 50; }'
snapshot "$tmp/foreign"
runs "foreign nat chains" 0 mape apply "${line[@]}"
has "foreign nat chains: one for our device is named" \
	"mape-gen: warning: chain post of table ip theirs has a rule for packets that leave through mape0; ours come first" "$said"
has "foreign nat chains: one before ours is named" \
	"mape-gen: warning: chain early of table ip theirs translates before ours (priority 50 before 99)" "$said"
runs "foreign nat chains: revert" 0 mape revert
snapshot "$tmp/after"
same "foreign nat chains: left as they are" "$tmp/foreign" "$tmp/after"
rm -r "$tmp/after"
ce nft delete table ip theirs

phase "steps that fail"
# All but the last two steps are done when forwarding cannot be switched on.
# shellcheck disable=SC2016 # expanded by that shell
read_only() {
	ce sh -c 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"' - "$@"
}
refused "sysctl cannot be written" 1 \
	"mape-gen: cannot write sysctl net/ipv4/ip_forward = 1: Read-only file system" -- read_only "$MAPE" apply "${line[@]}"
refused "sysctl cannot be written: nothing is left for revert" 0 "nothing to do" -- mape revert
refused "the state directory cannot be made" 1 "/proc/nowhere" -- mape apply "${line[@]}" --state-dir /proc/nowhere
mkdir -p /run/mape-gen/mape0
locked() {
	python3 -c '
import fcntl, subprocess, sys
with open("/run/mape-gen/mape0/lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    sys.exit(subprocess.run(sys.argv[1:]).returncode)' "$@"
}
refused "another one at work" 1 "holds the lock of mape0 (/run/mape-gen/mape0/lock)" \
	"another mape-gen is at work; waited 0 s (--lock-timeout)" -- locked ip netns exec "${LAB_NS}ce" "$MAPE" apply "${line[@]}" --lock-timeout 0
runs "after all this apply works" 0 mape apply "${line[@]}"
holds "after all this IPv4 works" lan ping -c 1 -W 5 "$LAB_SERVER"

finish
