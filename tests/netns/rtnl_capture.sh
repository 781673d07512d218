#!/bin/sh
# Prints what iproute2 sends for the commands of tests/unit/netlink/rtnl_build_test.cpp, as that test stores it: the command,
# then the bytes of its last netlink request in hex with the sequence number zeroed. Device indices are fixed: wan0 is 7,
# lan0 is 8. Needs root, strace and iproute2; the bytes are shown even where the kernel refuses them.
set -eu
if [ "${1-}" != inside ]; then
    exec unshare -n "$0" inside
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ip link add name wan0 index 7 type veth peer name lan0 index 8
ip link set wan0 up
ip link set lan0 up

capture() {
    echo "# $*"
    # The request is what is written to the first socket (descriptor 3); look-ups of a name go through the second.
    strace -o "$work/trace" -e trace=sendmsg -e write=3 "$@" >"$work/out" 2>&1 || true
    python3 - "$work/trace" <<'PYTHON'
import re, sys
requests, current = [], None
for line in open(sys.argv[1]):
    dumped = re.match(r" \| ([0-9a-f]{5})  ((?:[0-9a-f]{2} ?){1,8} {0,1}(?: ?[0-9a-f]{2})*)", line)
    if line.startswith("sendmsg("):
        current = None
    elif line.startswith(" * ") and "bytes in buffer" in line:
        current = bytearray()
        requests.append(current)
    elif dumped and current is not None:
        current += bytes.fromhex(line[9:59].strip())
request = requests[-1]
request[8:12] = bytes(4)
print(request.hex())
PYTHON
}

capture ip link add name mape0 mtu 1460 group 1835102309 type ip6tnl mode ipip6 local 2001:db8::1 remote 2001:db8:ffff::9 dev wan0 encaplimit none hoplimit 64
capture ip link add name mape0 mtu 1400 group 1835102309 type ip6tnl mode ipip6 local 2001:db8::1 remote 2001:db8:ffff::9 encaplimit none hoplimit 255
capture ip link set dev wan0 mtu 1400 type ip6tnl mode ipip6 local 2001:db8::1 remote 2001:db8:ffff::9 dev lan0 encaplimit none hoplimit 64
capture ip link set dev wan0 group default
capture ip link set dev wan0 up
capture ip link set dev wan0 down
capture ip link set dev wan0 alias mape-gen
capture ip link set dev wan0 addrgenmode none
capture ip -6 addr add 2001:db8::1/128 dev wan0 nodad noprefixroute preferred_lft 0 valid_lft forever
capture ip -6 addr add 2001:db8::2/64 dev wan0
capture ip -6 addr add 2001:db8::3/64 dev wan0 nodad
capture ip addr add 192.0.2.1/32 dev wan0
capture ip -6 addr del 2001:db8::1/128 dev wan0
capture ip addr del 192.0.2.1/32 dev wan0
capture ip route add default dev wan0 proto 77
capture ip route add default dev wan0 proto 77 metric 100 table 1000
capture ip route prepend default dev wan0 proto 77
capture ip route del default dev wan0 proto 77
capture ip route del default dev wan0 proto 77 metric 100 table 1000
capture ip rule add pref 1000 iif lan0 from 192.168.1.0/24 lookup 1000 protocol 77
capture ip rule add pref 1001 lookup 100 protocol 77
capture ip rule del pref 1000 iif lan0 from 192.168.1.0/24 lookup 1000 protocol 77
capture ip link del dev wan0
