#!/usr/bin/env bash
# guest.sh MAPE-GEN: in the virtual machine, the lab of examples/quickstart.sh interrupted, README's lab blocks, the lab whole.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
program=$1
# shellcheck source-path=SCRIPTDIR source=../support/lab.sh
. tests/support/lab.sh

everything() { lsmod | cut -d' ' -f1 | sort; ip -o link | cut -d: -f2; ls /run; } # what a lab might leave behind
before=$(everything)
unchanged() { [ "$(everything)" = "$before" ] || { printf '%s\n' "$1 changed this system from" "$before" to "$(everything)" && exit 1; }; }

examples/lab/run --probe
unchanged "the probe"
examples/lab/run "$program" >lab.log 2>&1 &
lab=$!
until grep -q 'a second apply' lab.log; do
	kill -0 $lab
	sleep 0.2
done
kill -TERM $lab
code=0
wait $lab || code=$?
[ $code = 143 ] || { cat lab.log && echo "exit code $code after SIGTERM" && exit 1; }
unchanged "an interrupted lab"
if pgrep -af 'traffic.py|examples/lab/demo'; then exit 1; fi

# shellcheck disable=SC2034 # for lab.sh
LAB_ROUTER=192.168.1.2
lab_modules
lab_up
python3 tests/docs/readme.py --lab "$program"
lab_down

before=$(everything)
examples/lab/run "$program"
unchanged "the lab"
