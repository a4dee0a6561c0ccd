# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests source this file. It runs lives of rdmad-simulate on a private bus: it starts, a port changes, clients call,
# it ends.

set -euo pipefail
ulimit -c 0
export LC_ALL=C.UTF-8

: "${SIMULATE:?is not set: run the tests with ctest}" "${FAULT:?}"
readonly WAIT=30 # seconds for anything that should happen
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
bus_pid=
failures=0

stop_all() {
	[[ -z $bus_pid ]] || kill "$bus_pid" 2>/dev/null || true
	rm -rf "$work"
}
trap stop_all EXIT

start_bus() {
	mkfifo "$work/address"
	dbus-daemon --session --nofork --nosyslog --address="unix:path=$work/bus" --print-address=1 >"$work/address" &
	bus_pid=$!
	read -r -t "$WAIT" address <"$work/address" || { echo "the bus does not start" >&2; exit 1; }
	# what a failure spoils is read again within a second
	printf '[Daemon]\nReconcileIntervalSec=1\n' >"$work/rdmad.conf"
	mkfifo "$work/log"
}

fail() {
	failures=$((failures + 1))
	{
		echo "FAILED: $*"
		sed 's/^/    /' "$work/said" "$work/answers" 2>/dev/null
	} >&2
}

# OBJECT INTERFACE METHOD ARGUMENT...: the answer of rdmad, in $answer; the status says whether it is an error
call() {
	local object=$1 interface=$2 status=0
	shift 2
	answer=$(busctl --address="$address" --timeout="$WAIT" call org.rdma "$object" "$interface" "$@" 2>&1) || status=$?
	echo "$interface.$1: $answer" | cut -c1-200 >>"$work/answers"
	return "$status"
}

# Whether the last error is one that a lack of memory explains: it says so, or the connection or the daemon has gone.
is_lack_of_memory() {
	[[ $answer == *[Mm]emory* || $answer == *"disconnected"* || $answer == *"not provided"* ]]
}

# VARIABLE=VALUE...: starts rdmad-simulate with these variables and $FAULT preloaded. When it serves, $serving is yes; when
# it has ended before that, no.
start_simulate() {
	local line
	: >"$work/said"
	: >"$work/answers"
	# A hang does not outlive the test. --foreground: signals reach the program once.
	timeout --foreground -s KILL 60 env LD_PRELOAD="$FAULT" "$@" "$SIMULATE" --config="$work/rdmad.conf" --bus="$address" \
		"$here/scenario.conf" 2>"$work/log" >/dev/null &
	simulate_pid=$!
	exec {log}<"$work/log"
	serving=no
	while [[ $serving == no ]] && read -r -t "$WAIT" -u "$log" line; do
		echo "$line" >>"$work/said"
		[[ $line != *"Serving "* ]] || serving=yes
	done
}

# Ends rdmad-simulate if it still runs. Its exit status is in $status; over 128, a signal has ended it.
end_simulate() {
	kill "$simulate_pid" 2>/dev/null || true
	cat <&"$log" >>"$work/said"
	exec {log}<&-
	status=0
	wait "$simulate_pid" 2>/dev/null || status=$?
}

finish() {
	if [[ $failures -gt 0 ]]; then
		echo "FAILED: $failures" >&2
		exit 1
	fi
	echo "$*"
}
