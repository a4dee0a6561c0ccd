# shellcheck shell=sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Starts the installed rdmad with a simulated fabric, on a bus of its own, which is the system bus of what the test starts next.
# The test has "trap fabric_stop EXIT".

fabric_start()
{
	directory=$(mktemp -d)
	mkfifo "$directory/address"
	dbus-daemon --session --nofork --nosyslog --print-address=3 --address="unix:dir=$directory" 3>"$directory/address" &
	bus=$!
	read -r DBUS_SYSTEM_BUS_ADDRESS <"$directory/address"
	export DBUS_SYSTEM_BUS_ADDRESS
	/usr/sbin/rdmad --simulate=/usr/share/rdmad/scenarios/fabric.conf &
	rdmad=$!
	gdbus wait --address "$DBUS_SYSTEM_BUS_ADDRESS" --timeout 60 org.rdma
}

fabric_stop()
{
	kill "$rdmad" "$bus" 2>/dev/null || true
	wait
	rm -rf "$directory"
}
