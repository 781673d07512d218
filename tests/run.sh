#!/usr/bin/env bash
# Installs what the tests need, builds with sanitizers and runs every tier, QEMU included.
#
#   tests/run.sh [--long] [--no-install] [CTEST-ARGUMENT...]
#
# --long        the long loops whole, not in their short form; an hour for each fuzz target
# --no-install  apt is left alone
# The rest goes to ctest: `tests/run.sh -L unit`, `-R journal`, ...
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

long=OFF
fuzz_seconds=10
install=yes
while [ $# -gt 0 ]; do
	case $1 in
	--long) long=ON fuzz_seconds=3600 ;;
	--no-install) install=no ;;
	*) break ;;
	esac
	shift
done

say() { printf '== %s\n' "$*"; }

# Packages of all lists, those that are missing only.
install_packages() {
	local missing=() package
	for package in $(sort -u tests/packages tests/vm/packages); do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${#missing[@]} packages: ${missing[*]}"
	apt-get update -q=2
	DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends "${missing[@]}" >/dev/null
}

[ $install = no ] || install_packages

# The plain build is what QEMU's guest runs and what a user gets; the next one has the sanitizers; the last one is clang's.
say "building (plain: build/plain, with sanitizers: build/test, fuzz targets: build/fuzz)"
cmake -S . -B build/plain -G Ninja -DCMAKE_BUILD_TYPE=Release -DMAPE_WERROR=ON >/dev/null
cmake -S . -B build/test -G Ninja -DCMAKE_BUILD_TYPE=Debug -DMAPE_SANITIZE=ON -DMAPE_PRECOMPILE=ON -DMAPE_WERROR=ON \
	-DMAPE_PLAIN_BINARY="$PWD/build/plain/mape-gen" -DMAPE_PLAIN_NETNS="$PWD/build/plain/tests/netns" \
	-DMAPE_FUZZ_TREE="$PWD/build/fuzz" -DMAPE_LONG="$long" >/dev/null
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DMAPE_FUZZ=ON -DMAPE_PRECOMPILE=ON -DMAPE_WERROR=ON \
	-DMAPE_FUZZ_SECONDS="$fuzz_seconds" >/dev/null
tests/vm/vm prepare &
prepared=$!
trap 'kill "$prepared" 2>/dev/null || true' EXIT
cmake --build build/plain --target mape-gen netns_rtnl netns_kernel
cmake --build build/test
cmake --build build/fuzz
wait "$prepared"
trap - EXIT

say "testing"
exec ctest --test-dir build/test --parallel 2 --output-on-failure --no-tests=error "$@"
