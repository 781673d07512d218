#!/usr/bin/env bash
# From a fresh Debian 12 to a customer edge that works, without touching this system's network:
#
#   examples/quickstart.sh [--no-install] [--vm]
#
# 1. installs what is missing with apt (--no-install: does not)
# 2. builds mape-gen in build/quickstart
# 3. shows what it computes from examples/seeds.conf
# 4. runs it for real between a LAN and a border relay made of network namespaces: dry-run, apply, ping, UDP and TCP through
#    the tunnel, status, revert. Where this kernel has no ip6tnl (or with --vm) that happens in QEMU, with Debian's kernel.
#
# Changes packages and build/, nothing else. Exit code: 0 all checks passed, 1 not, 130 interrupted.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
unset MAPE_GEN_DATA MAPE_GEN_CONFIG_DIR

to_build=(build-essential cmake ninja-build pkg-config libmnl-dev libnftnl-dev libboost-program-options-dev libfmt-dev
	libexpected-dev nlohmann-json3-dev scdoc)
for_lab=(iproute2 iputils-ping kmod nftables procps python3 util-linux)
build=build/quickstart
program=$build/mape-gen

install=yes vm=no
for argument; do
	case $argument in
	--no-install) install=no ;;
	--vm) vm=yes ;;
	*) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; [ "$argument" = --help ] && exit 0 || exit 2 ;;
	esac
done

say() { printf '\n== [%s] %s\n' "$step" "$*"; }
die() {
	printf 'quickstart: %s\n' "$*" >&2
	exit 1
}

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

# Long work is a child that is waited for, so that Ctrl-C is acted on at once; here it is told to end, with its children.
child='' step=start
descendants() {
	local each IFS=$' \t\n' # it may be called in the middle of a `read` with another IFS
	echo "$1"
	for each in $(pgrep -P "$1"); do descendants "$each"; done
}
stop_child() {
	[ -n "$child" ] || return 0
	local -a processes
	mapfile -t processes < <(descendants "$child")
	"${as_root[@]}" kill -TERM "${processes[@]}" 2>/dev/null || :
	wait "$child" 2>/dev/null || :
	child=
}
finish() {
	local code=$?
	trap '' INT TERM
	stop_child
	rm -rf "$work"
	[ $code -lt 128 ] || printf '\nquickstart: interrupted at step %s; nothing of it is left running\n' "$step" >&2
}
work=$(mktemp -d)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

run() { # COMMAND...: in the background, its output passed on line by line
	local line
	mkfifo "$work/output"
	"$@" </dev/null >"$work/output" 2>&1 &
	child=$!
	while IFS= read -r line; do
		case $line in
		'['[0-9]*/[0-9]*'] '*) # ninja: in place on a terminal, now and then elsewhere
			if [ -t 1 ]; then
				printf '\r   %s\033[K' "${line%%]*}]"
			else
				case $line in '['*[05]/*) printf '   %s\n' "${line%%]*}]" ;; esac
			fi
			continue
			;;
		'ok      '*) passed=$((passed + 1)) ;;
		esac
		printf '%s\n' "$line"
	done <"$work/output"
	rm "$work/output"
	local code=0
	wait "$child" || code=$?
	child=
	return $code
}
passed=0

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
need() { # PACKAGE...
	local package
	local -a missing=()
	for package; do installed "$package" || missing+=("$package"); done
	[ ${#missing[@]} -gt 0 ] || { echo "all packages are there" && return; }
	[ $install = yes ] || die "missing packages: ${missing[*]}"
	echo "installing ${missing[*]}"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null || die "neither root nor sudo: as root, apt-get install ${missing[*]}"
	# Not a child that is stopped: dpkg must not be cut short.
	"${as_root[@]}" apt-get update -q=2 </dev/null
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends "${missing[@]}" \
		</dev/null >"$work/apt" 2>&1 || { cat "$work/apt" >&2 && die "apt-get failed"; }
}

show() { # ARG...
	printf '\n$ mape-gen %s\n' "$*"
	MAPE_GEN_DATA=profiles MAPE_GEN_CONFIG_DIR=/nonexistent "$program" "$@"
}

SECONDS=0
step=1/4
say "packages"
need "${to_build[@]}" "${for_lab[@]}"

step=2/4
say "building $program (a few minutes the first time)"
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF >"$work/cmake" 2>&1 ||
	{ cat "$work/cmake" >&2 && die "cmake failed"; }
run ninja -C $build || die "the build failed"
[ ! -t 1 ] || echo
"$program" --version

step=3/4
say "what the configuration of examples/seeds.conf means"
show check --quiet examples/seeds.conf
show calc --config examples/seeds.conf --explain

step=4/4
where="network namespaces on this kernel, $(uname -r)"
if [ $vm = no ] && ! "${as_root[@]}" examples/lab/run --probe; then
	echo "this kernel, $(uname -r), has no ip6tnl or no nf_tables, or does not let us make namespaces"
	vm=yes
fi
if [ $vm = yes ]; then
	where="QEMU, with Debian's kernel"
	say "the lab, in $where (2 to 6 minutes; the first time it is downloaded)"
	# shellcheck disable=SC2046 # a word a package
	need $(grep -v '^#' tests/vm/packages)
	run tests/vm/vm prepare || die "the virtual machine could not be made"
	lab=(tests/vm/vm run --timeout 1200 --file "$program:mape-gen" --file profiles --file examples
		--file /usr/bin/unshare:/usr/bin/unshare examples/lab/run mape-gen)
else
	say "the lab, in $where"
	lab=("${as_root[@]}" examples/lab/run "$program")
fi
result="all passed"
run "${lab[@]}" || result="NOT all passed"

printf '\n== quickstart: %s\n' "$result"
printf '   %d checks passed, in %s\n   %d s; the program: %s\n' "$passed" "$where" "$SECONDS" "$program"
printf '   next: README.md, "On your own box"\n'
[ "$result" = "all passed" ]
