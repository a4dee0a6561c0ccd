# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the tests of Slurm have in common, on this machine and in the guest. They source it. It starts munged, slurmctld and slurmd
# with a configuration of its own; whoever sources it has set WORK (a directory), SCRIPTS (integration/slurm, where it is
# installed), INTERVAL (seconds between two health checks), and defines sim() and clear_faults().

readonly WAIT node=$(hostname -s)
failed=0
slurm_pids=()

check()
{
	local what=$1

	shift
	if "$@"; then
		echo "ok: $what"
	else
		echo "FAIL: $what"
		((failed++)) || show_logs
	fi
}

show_logs()
{
	local log

	scontrol show node "$node" | sed 's/^/  | node: /'
	for log in "$WORK"/*.log; do
		tail -n 15 "$log" | sed "s,^,  | ${log##*/}: ,"
	done
}

# wait_until COMMAND...: repeats it until it succeeds, for WAIT seconds at most
wait_until()
{
	local deadline=$((SECONDS + WAIT))

	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 0.2
	done
}

# The daemons must believe that the directories of the key and of the socket are safe.
start_munge()
{
	install -d -m 700 "$WORK/munge-key"
	install -d -m 755 "$WORK/munge"
	head -c 1024 /dev/urandom >"$WORK/munge-key/key"
	chmod 600 "$WORK/munge-key/key"
	munged --foreground --force --key-file="$WORK/munge-key/key" --socket="$WORK/munge/socket" --pid-file="$WORK/munge/pid" \
		--log-file="$WORK/munged.log" --seed-file="$WORK/munge-key/seed" --num-threads=1 &>"$WORK/munged.out" &
	slurm_pids+=($!)
	wait_until munge --no-input --socket="$WORK/munge/socket" --output=/dev/null 2>/dev/null
}

# The health check is not done while WORK/paused exists. A line of WORK/runs is one run that has ended. slurmd does not wait for one
# before it starts the next, and here the interval is short.
write_configuration()
{
	local environment step

	export SLURM_CONF=$WORK/slurm.conf
	environment="export PATH=$PATH SLURM_CONF=$SLURM_CONF DBUS_SYSTEM_BUS_ADDRESS=${DBUS_SYSTEM_BUS_ADDRESS:-unix:path=/run/dbus/system_bus_socket}"
	cat >"$WORK/health-check" <<-END
	#!/bin/sh
	$environment
	exec 9>"$WORK/lock"
	flock --nonblock 9 || exit 0
	[ -e "$WORK/paused" ] || "$SCRIPTS/health-check" --flap="\$(cat "$WORK/flap")" >>"$WORK/health-check.log" 2>&1
	echo >>"$WORK/runs"
	END
	for step in prolog epilog; do
		printf '#!/bin/sh\n%s\nexec "%s" >>"%s" 2>&1\n' "$environment" "$SCRIPTS/$step" "$WORK/$step.log" >"$WORK/$step"
	done
	chmod +x "$WORK"/{health-check,prolog,epilog}
	: >"$WORK/runs"
	echo 3/1h >"$WORK/flap"
	mkdir -p "$WORK/state" "$WORK/spool"
	cat >"$SLURM_CONF" <<-END
	ClusterName=test
	SlurmctldHost=$node(127.0.0.1)
	SlurmUser=root
	AuthType=auth/munge
	AuthInfo=socket=$WORK/munge/socket
	CryptoType=crypto/munge
	StateSaveLocation=$WORK/state
	SlurmdSpoolDir=$WORK/spool
	SlurmctldPidFile=$WORK/slurmctld.pid
	SlurmdPidFile=$WORK/slurmd.pid
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SwitchType=switch/none
	MpiDefault=none
	JobAcctGatherType=jobacct_gather/none
	SchedulerType=sched/builtin
	SelectType=select/linear
	PrologFlags=Alloc
	SlurmdParameters=config_overrides
	ReturnToService=2
	KillWait=1
	HealthCheckInterval=$INTERVAL
	HealthCheckProgram=$WORK/health-check
	Prolog=$WORK/prolog
	Epilog=$WORK/epilog
	NodeName=$node NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
	PartitionName=all Nodes=$node Default=YES State=UP
	END
}

start_slurm()
{
	write_configuration
	start_munge || { cat "$WORK"/munged.*; return 1; }
	slurmctld -D -c &>"$WORK/slurmctld.log" &
	slurm_pids+=($!)
	slurmd -D &>"$WORK/slurmd.log" &
	slurm_pids+=($!)
	wait_until node_is 'IDLE'
}

stop_slurm()
{
	local i

	for ((i = ${#slurm_pids[@]} - 1; i >= 0; i--)); do
		kill "${slurm_pids[i]}" 2>/dev/null
		wait "${slurm_pids[i]}" 2>/dev/null
	done
	slurm_pids=()
}

# node_is STATE [REASON]: patterns. The state is as scontrol shows it, such as IDLE+DRAIN.
node_is()
{
	local shown state reason

	shown=$(scontrol show node "$node" 2>/dev/null) || return 1
	state=$(sed -n 's/^ *State=\([^ ]*\).*/\1/p' <<<"$shown")
	reason=$(sed -n 's/^ *Reason=//p' <<<"$shown")
	# shellcheck disable=SC2053 # patterns
	[[ $state == $1 && $reason == ${2:-} ]]
}

# The health check that runs now may have begun before the last change: the one after it has not.
two_more_runs()
{
	local before

	before=$(wc -l <"$WORK/runs")
	wait_until eval '(($(wc -l <"$WORK/runs") >= before + 2))'
}

# Returns when no health check runs any more.
pause_health_check()
{
	: >"$WORK/paused"
	two_more_runs
}

job_is()
{
	# shellcheck disable=SC2053 # a pattern
	[[ $(scontrol show job "$1" 2>/dev/null | sed -n 's/^ *JobState=\([^ ]*\).*/\1/p') == $2 ]]
}

link_down()
{
	sim set mlx5_1/1 "$DOWN"
}

link_up()
{
	sim set mlx5_1/1 "$UP"
}

# Goes down and comes back, once more
flap()
{
	link_down
	wait_until eval '[[ $(rdmactl list --no-legend -o Port,State mlx5_1/1) == *down* ]]'
	link_up
	wait_until eval '[[ $(rdmactl list --no-legend -o Port,State mlx5_1/1) == *active* ]]'
}

# What the mark of the scripts is, and what check has found
readonly DRAINED_BY_US='rdmad: mlx5_1/1: '
readonly IS_DOWN="${DRAINED_BY_US}the port is down*"

test_flaps()
{
	# No health check sees the port while it is down.
	pause_health_check
	flap && flap && flap
	rm "$WORK/paused"
	check "a link has gone down three times in an hour, and the node is drained" wait_until node_is 'IDLE+DRAIN' '*'
	check "its reason is what was found" node_is 'IDLE+DRAIN' "${DRAINED_BY_US}the link went down 3 times in 1h*"
	check "sinfo -R says the same" eval '[[ $(sinfo -R -h -o "%E %N") == "${DRAINED_BY_US}the link went down "*" $node" ]]'
	sinfo -R -o '%60E %19H %N %T'
	scontrol show node "$node" | grep -E '^ *(State|Reason)='
	# The test does not wait for an hour.
	echo 3/5s >"$WORK/flap"
	check "the link has stayed up for long enough, and the node is resumed" wait_until node_is 'IDLE'
}

test_administrator()
{
	pause_health_check
	scontrol update NodeName="$node" State=DRAIN Reason="bad dimm"
	rm "$WORK/paused"
	check "health checks run on" two_more_runs
	check "a healthy node that somebody has drained stays drained" node_is 'IDLE+DRAIN' 'bad dimm*'
	link_down
	check "rdmactl finds it" wait_until eval '! rdmactl check >/dev/null'
	check "health checks run on" two_more_runs
	check "a bad port does not change the reason" node_is 'IDLE+DRAIN' 'bad dimm*'
	clear_faults
	check "health checks run on" two_more_runs
	check "nor does the port that is healthy again resume the node" node_is 'IDLE+DRAIN' 'bad dimm*'
	scontrol update NodeName="$node" State=RESUME
	check "the administrator resumes it" wait_until node_is 'IDLE'

	link_down
	check "a port goes down" wait_until node_is 'IDLE+DRAIN' "$IS_DOWN"
	scontrol update NodeName="$node" Reason="cable is ordered"
	clear_faults
	check "health checks run on" two_more_runs
	check "who gives another reason has taken over" node_is 'IDLE+DRAIN' 'cable is ordered*'
	scontrol update NodeName="$node" State=RESUME
	check "the administrator resumes it" wait_until node_is 'IDLE'
}

test_jobs()
{
	local job

	job=$(sbatch --parsable --chdir=/ --output=/dev/null --wrap 'exit 0')
	check "a job runs where the ports are healthy" wait_until job_is "$job" COMPLETED
	pause_health_check
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --wrap "touch '$WORK/begun'; until [ -e '$WORK/go' ]; do sleep 0.1; done")
	check "a job runs" wait_until test -e "$WORK/begun"
	flap
	touch "$WORK/go"
	check "a link has gone down meanwhile, and the job ends" wait_until job_is "$job" COMPLETED
	check "its epilog says so" wait_until grep -q \
		"while job $job ran on $node: counters of all ports: .*; links that went down: mlx5_1/1 1 time$" "$WORK/epilog.log"

	link_down
	check "rdmactl finds it" wait_until eval '! rdmactl check --severity=critical >/dev/null'
	check "the node is not drained yet" node_is 'IDLE'
	job=$(sbatch --parsable --chdir=/ --output=/dev/null --wrap "touch '$WORK/job-ran'")
	check "the prolog drains the node" wait_until node_is '*+DRAIN' "$IS_DOWN"
	check "the job goes back into the queue" wait_until job_is "$job" PENDING
	check "the job has not run" test ! -e "$WORK/job-ran"
	check "the reason is still what was found" node_is '*+DRAIN' "$IS_DOWN"
	rm "$WORK/paused"
	clear_faults
	check "the node is resumed" wait_until node_is 'IDLE'
	# Slurm holds such a job, and lets it wait for two minutes.
	scontrol release "$job"
	scontrol update JobId="$job" StartTime=now
	check "the job runs" wait_until job_is "$job" COMPLETED
	check "it has run" test -e "$WORK/job-ran"
}

# stop_rdmad and start_rdmad are those of the caller.
test_without_rdmad()
{
	stop_rdmad
	check "health checks run on" two_more_runs
	check "a node whose rdmad is away stays as it is" node_is 'IDLE'
	start_rdmad
	link_down
	check "a port goes down" wait_until node_is 'IDLE+DRAIN' "$IS_DOWN"
	stop_rdmad
	check "health checks run on" two_more_runs
	check "a node that was drained stays drained while rdmad is away" node_is 'IDLE+DRAIN' "$IS_DOWN"
	start_rdmad
	clear_faults
	check "the node is resumed" wait_until node_is 'IDLE'
}
