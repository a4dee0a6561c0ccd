# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests source this file. It starts a private bus and fake-rdmad, and compares with golden files. A test always waits for a line of
# output, for at most WAIT seconds.

set -euo pipefail

: "${RDMACTL:?is not set: run the tests with ctest}" "${FAKE_RDMAD:?}"
readonly WAIT=30
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
failures=0
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR COLUMNS SYSTEMD_PAGER PAGER LESS

die() {
	echo "FAILED: $*" >&2
	exit 1
}

fail() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# PID: ends it. If it dies of a signal that a fault sends, the test fails. SIGCONT is only for a process that the test has stopped: it
# would take away the SIGSTOP with which LeakSanitizer stops a process that ends, and that waits for it without end.
end() {
	local status=0
	kill "$1" 2>/dev/null || true
	[[ $(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) != T ]] || kill -CONT "$1" || true
	wait "$1" 2>/dev/null || status=$?
	((status > 128)) || return 0
	case $(kill -l "$status") in
	ABRT | BUS | FPE | ILL | SEGV | SYS) die "process $1 died of a signal: $(kill -l "$status")" ;;
	esac
}

stop_all() {
	local pid
	rm -rf "$work"
	for pid in "${monitor_pid:-}" "${bus_pid:-}" "${fake_pid:-}"; do
		[[ -z $pid ]] || end "$pid"
	done
}
trap stop_all EXIT

start_bus() {
	local address
	mkfifo "$work/address"
	dbus-daemon --session --nofork --nosyslog --address="unix:path=$work/bus" \
		--print-address=1 >"$work/address" &
	bus_pid=$!
	read -r -t "$WAIT" address <"$work/address" || die "the bus does not start"
	export DBUS_SYSTEM_BUS_ADDRESS=$address
}

# ARGUMENT...: starts fake-rdmad; returns when it has its name
# shellcheck disable=SC2120 # without arguments it has its usual ports
start_fake() {
	rm -f "$work/log"
	mkfifo "$work/log"
	"$FAKE_RDMAD" "$@" >"$work/log" &
	fake_pid=$!
	exec {fake_log}<"$work/log"
	wait_for_call ready
}

stop_fake() {
	end "$fake_pid"
	fake_pid=
	exec {fake_log}<&-
}

# Returns when fake-rdmad has answered a call of MEMBER.
wait_for_call() {
	local line
	while read -r -t "$WAIT" -u "$fake_log" line; do
		[[ $line != "$1" ]] || return 0
	done
	die "fake-rdmad did not say $1"
}

# METHOD ARGUMENT...: tells fake-rdmad what to do
tell() {
	local method=$1 signature
	shift
	signature=$(printf 's%.0s' "$@")
	busctl --address="$DBUS_SYSTEM_BUS_ADDRESS" call org.rdma /org/rdma org.rdma.Test \
		"$method" "$signature" "$@" >/dev/null
}

# NAME FILE: compares FILE with golden/NAME, or with REGENERATE=1 replaces golden/NAME
golden() {
	if [[ -n ${REGENERATE:-} ]]; then
		cp "$2" "$here/golden/$1"
	elif ! diff -u "$here/golden/$1" "$2" >&2; then
		fail "golden/$1 differs"
	fi
}

# FILE [PATTERN]: the dates and times in FILE, of which a golden file has the form only, are of this run: none is before it began, and
# none is later than now. Those in lines with PATTERN are others.
began=$(date +%s%3N)
times_are_of_now() {
	local time now n=0
	now=$(date +%s%3N)
	while read -r time; do
		n=$((n + 1))
		time=$(date -d "$time" +%s%3N)
		((time >= began && time <= now)) || fail "the time $time is not from $began to $now, in ms"
	done < <(grep -v "${2:-^$}" "$1" | grep -oE '20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}')
	((n > 0)) || fail "no time is found: $(head -3 "$1")"
}

# STATUS PATTERN ARGUMENT...: runs rdmactl, which must end with STATUS and print a line on standard error that matches PATTERN
expect() {
	local want=$1 pattern=$2 got=0 said
	shift 2
	"$RDMACTL" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || got=$?
	said=$(<"$work/stderr")
	[[ $got == "$want" ]] || fail "rdmactl $*: exit status $got instead of $want: $said"
	# shellcheck disable=SC2053 # a pattern
	[[ $said == $pattern ]] || fail "rdmactl $*: said \"$said\" instead of \"$pattern\""
	[[ $(wc -l <"$work/stderr") -le 1 ]] || fail "rdmactl $*: more than one line of error"
}

finish() {
	[[ $failures == 0 ]] || die "$failures checks"
	echo "all checks passed"
}
