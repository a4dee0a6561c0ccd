#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# port-of-address.sh ADDRESS: which RDMA port has an IP address, at which index of its GID table, and whether it is up.
# Nothing but busctl and a shell. Exits with 1 if there is no such port, with 3 if there is and it is not active.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 ADDRESS" >&2; exit 2; }

# get PATH INTERFACE PROPERTY: prints a string or a number
get()
{
	busctl get-property org.rdma "$@" | sed 's/^[^ ]* //; s/^"\(.*\)"$/\1/'
}

# ou "/org/rdma/device/2/port/1" 3; what is wrong with the address busctl says itself
found=$(busctl call org.rdma /org/rdma org.rdma.Manager GetPortByAddress 'sa{sv}' "$1" 0) || exit 1
path=${found#*\"}
path=${path%\"*}
index=${found##* }
state=$(get "$path" org.rdma.Port State)

printf '%s/%s gid-index %s state %s mtu %s\n' \
	"$(get "$path" org.rdma.Port DeviceName)" "$(get "$path" org.rdma.Port PortNumber)" \
	"$index" "$state" "$(get "$path" org.rdma.Port ActiveMtu)"
[ "$state" = active ] || exit 3
