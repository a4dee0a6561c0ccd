# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests of env source this file: simulated machines, and what env prints there.
# shellcheck source=tests/cli/fixture.bash
source "$(dirname "${BASH_SOURCE[0]}")/fixture.bash"

# Starts rdmad on the scenario of standard input.
simulate() {
	local line
	[[ -z ${fake_pid:-} ]] || stop_fake
	cat >"$work/scenario.conf"
	rm -f "$work/log"
	mkfifo "$work/log"
	"$RDMAD" --simulate="$work/scenario.conf" 2>"$work/log" &
	fake_pid=$!
	exec {fake_log}<"$work/log"
	while read -r -t "$WAIT" -u "$fake_log" line; do
		[[ $line != *Serving* ]] || return 0
	done
	die "rdmad does not start"
}

run_simulator() {
	busctl --address="$DBUS_SYSTEM_BUS_ADDRESS" call org.rdma /org/rdma org.rdma.Simulator Run 'sa{sv}' "$1" 0 >/dev/null
}

# STATUS ARGUMENT...: runs rdmactl env, which must end with STATUS and print the lines of standard input, first those on standard output
gives() {
	local want=$1 got=0 expected
	shift
	expected=$(cat)
	"$RDMACTL" env "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
	[[ $got == "$want" ]] || fail "env $*: exit status $got instead of $want"
	diff -u <(echo "$expected") <(cat "$work/stdout" "$work/stderr") >&2 || fail "env $*"
}
