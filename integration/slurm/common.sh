# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
#
# What the programs of this directory have in common. They source it.

# slurmd may give its programs no PATH.
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C.UTF-8

node=${SLURMD_NODENAME:-$(hostname -s)}
# How the reason of each drain begins that one of these programs has made
mark='rdmad: '
directory=/run/rdmad-slurm
# This file says that the ports were healthy, and that the node was not drained by these programs after that.
clean=$directory/clean
finding=

# TEXT: for the log of slurmd and for the system log
say()
{
	# The echo of some shells obeys backslashes, which the name of an interface may have.
	printf '%s\n' "$1"
	logger -t rdmad-slurm -- "$1" 2>/dev/null || :
}

make_directory()
{
	[ -d "$directory" ] || mkdir -m 700 "$directory"
}

# ARGUMENT of "rdmactl check"...: 0 if the ports are healthy, 1 if they are not, 2 if that is not known. FINDING is the worst
# finding, or why it is not known.
check_ports()
{
	finding=$(timeout 15 rdmactl check --format=npd "$@" </dev/null 2>/dev/null)
	case $? in
	0) return 0 ;;
	1) return 1 ;;
	124) finding='rdmactl check has not ended within 15 s' ;;
	127) finding='rdmactl is not installed' ;;
	*) finding=${finding:-rdmactl check has failed} ;;
	esac
	return 2
}

# Sets STATE and REASON, as "scontrol show node" prints them.
read_node()
{
	shown=$(timeout 15 scontrol show node "$node" </dev/null) || return 1
	state=$(printf '%s\n' "$shown" | sed -n 's/^ *State=\([^ ]*\).*/\1/p')
	reason=$(printf '%s\n' "$shown" | sed -n 's/^ *Reason=//p')
	[ -n "$state" ]
}

# Drains the node, unless it is out of use already: then whoever did that has said why.
drain_node()
{
	read_node || { say "$node is not drained ($finding): scontrol shows no such node"; return 1; }
	case $state in
	DOWN* | *+DRAIN* | *+FAIL*) ;;
	*)
		timeout 15 scontrol update NodeName="$node" State=DRAIN Reason="$mark$finding" </dev/null ||
			{ say "$node is not drained ($finding): scontrol has failed"; return 1; }
		say "$node is drained: $finding"
		;;
	esac
	# after the drain: see resume_node
	rm -f "$clean" "$clean".*
}

# Resumes the node if one of these programs has drained it. slurmctld is asked only if that may be so: a cluster whose ports are
# healthy asks it nothing. That the node is clean counts only if no drain has come between, which removes the file that was made
# before the node was read.
resume_node()
{
	[ ! -e "$clean" ] || return 0
	{ make_directory && : >"$clean.$$"; } || return 1
	if confirm_in_use; then
		mv "$clean.$$" "$clean" 2>/dev/null
	else
		rm -f "$clean.$$"
		return 1
	fi
}

confirm_in_use()
{
	read_node || return 1
	case $state/$reason in
	*+DRAIN*/"$mark"*) ;;
	*) return 0 ;;
	esac
	# Unlike RESUME, UNDRAIN leaves a node down that is down.
	timeout 15 scontrol update NodeName="$node" State=UNDRAIN </dev/null || return 1
	say "$node is in use again: its RDMA ports are healthy"
}
