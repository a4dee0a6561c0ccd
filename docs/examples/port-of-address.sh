#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# port-of-address.sh ADDRESS: prints which RDMA port has an IP address, the index of the address in the GID table of the
# port, and the state of the port. It needs only busctl and a shell. The exit status is 1 if no port has the address, and 3
# if the port is not active.
set -eu

[ $# -eq 1 ] || { printf 'usage: %s ADDRESS\n' "$0" >&2; exit 2; }

# get PATH INTERFACE PROPERTY: prints a string or a number
get()
{
	busctl get-property org.rdma "$@" | sed 's/^[^ ]* //; s/^"\(.*\)"$/\1/'
}

# busctl prints: ou "/org/rdma/device/2/port/1" 3. If there is an error, busctl prints that too.
found=$(busctl -- call org.rdma /org/rdma org.rdma.Manager GetPortByAddress 'sa{sv}' "$1" 0) || exit 1
path=${found#*\"}
path=${path%\"*}
index=${found##* }
state=$(get "$path" org.rdma.Port State)

printf '%s/%s gid-index %s state %s mtu %s\n' \
	"$(get "$path" org.rdma.Port DeviceName)" "$(get "$path" org.rdma.Port PortNumber)" \
	"$index" "$state" "$(get "$path" org.rdma.Port ActiveMtu)"
[ "$state" = active ] || exit 3
