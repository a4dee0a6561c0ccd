# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests source this file. It runs lives of rdmad-simulate on a private bus: it starts, a port changes, clients call,
# it ends. A test can change $program, $limits and $use to have other lives.

set -Eeuo pipefail
trap 'echo "FAILED: $BASH_SOURCE:$LINENO: \"$BASH_COMMAND\" ended with status $?" >&2' ERR
ulimit -c 0
export LC_ALL=C.UTF-8

: "${SIMULATE:?is not set: run the tests with ctest}" "${FAULT:?}"
readonly WAIT=30 # seconds for anything that should happen
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
program=("$SIMULATE" "$here/scenario.conf")
limits=() # a command that executes its arguments
use=use_daemon
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

# Whether the last error says that the daemon has gone, or has lost its connection.
is_end() {
	[[ $answer == *"disconnected"* || $answer == *"not provided"* ]]
}

# VARIABLE=VALUE...: starts $program with these variables and $FAULT preloaded. When it serves, $serving is yes; when
# it has ended before that, no.
start_simulate() {
	local line
	: >"$work/said"
	: >"$work/answers"
	# A hang does not outlive the test. --foreground: signals reach the program once.
	timeout --foreground -s KILL 60 env LD_PRELOAD="$FAULT" "$@" "${limits[@]}" "${program[@]}" --config="$work/rdmad.conf" --bus="$address" \
		2>"$work/log" >/dev/null &
	simulate_pid=$!
	exec {log}<"$work/log"
	serving=no
	while [[ $serving == no ]] && read -r -t "$WAIT" -u "$log" line; do
		echo "$line" >>"$work/said"
		[[ $line != *"Serving "* ]] || serving=yes
	done
}

# Ends the program if it still runs. Its exit status is in $status; over 128, a signal has ended it.
end_simulate() {
	kill "$simulate_pid" 2>/dev/null || true
	cat <&"$log" >>"$work/said"
	exec {log}<&-
	status=0
	wait "$simulate_pid" 2>/dev/null || status=$?
}

# The rest is for lives in each of which something fails. The test defines
#     is_explained         whether the last error is one that the failure explains
#     is_abort_of_library  whether a library has ended the process, where nothing can be done about it here
#     check_rest           what must be true after the failure

check_error() {
	is_explained || fail "$which $at: $1: $answer"
}

use_daemon() {
	local path

	# A device that could not be read comes with the next look at all of them.
	if ! call /org/rdma org.rdma.Manager WaitFor "a{sv}t" 1 ports as 1 mlx5_0/1 20000000; then
		check_error "the first WaitFor"
		return 0
	fi
	if ! call /org/rdma org.rdma.Manager GetPort "sa{sv}" mlx5_0/1 0; then
		check_error "GetPort"
		return 0
	fi
	path=${answer#o \"}
	path=${path%\"}
	if ! call /org/rdma org.rdma.Simulator Set "sa{ss}asa{sv}" mlx5_0/1 1 state down 1 port-error 0; then
		check_error "Set"
		return 0
	fi
	if ! call /org/rdma org.rdma.Manager WaitFor "a{sv}t" 2 ports as 1 mlx5_0/1 state s down 20000000; then
		check_error "WaitFor"
		return 0
	fi
	if call "$path" org.freedesktop.DBus.Properties Get ss org.rdma.Port State; then
		[[ $answer == 'v s "down"' ]] || fail "$which $at: a wrong state: $answer"
	else
		check_error "Get"
	fi
	call /org/rdma org.freedesktop.DBus.ObjectManager GetManagedObjects || check_error "GetManagedObjects"
	call /org/rdma org.rdma.Manager OpenSnapshot "a{sv}" 0 || check_error "OpenSnapshot"
}

# WHICH NUMBER VARIABLE=VALUE...
live() {
	local which=$1 at=$2

	start_simulate FAIL_AT="$at" FAIL_COUNT="$work/count" "${@:3}"
	if [[ $serving == yes ]]; then
		"$use"
		check_rest
	fi
	end_simulate
	if [[ $status -gt 128 ]]; then
		is_abort_of_library || fail "$which $at: killed by signal $((status - 128)), serving: $serving"
		aborts=$((aborts + 1))
	elif [[ $status -ne 0 ]]; then
		answer=$(<"$work/said")
		is_explained || fail "$which $at: exit status $status without the reason"
		ends=$((ends + 1))
	fi
}

# WHICH LIVES VARIABLE=VALUE...: at most so many lives with these variables; 0: as many as there are things that can fail
live_all() {
	local which=$1 most=$2 step=1 all n

	shift 2
	live "$which" 0 "$@"
	[[ $status -eq 0 && $serving == yes ]] || fail "a life without failures ends with $status"
	all=$(<"$work/count")
	[[ $most -eq 0 ]] || step=$((all / most + 1))
	for ((n = 1; n <= all; n += step)); do
		live "$which" "$n" "$@"
		lives=$((lives + 1))
	done
	[[ $all -gt 0 ]] || fail "$which: nothing can fail"
}

finish() {
	if [[ $failures -gt 0 ]]; then
		echo "FAILED: $failures" >&2
		exit 1
	fi
	echo "$*"
}
