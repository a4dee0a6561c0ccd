/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "crowd.h"

#include <sys/wait.h>

#define CGROUP "/sys/fs/cgroup/system.slice/rdmad.service/"

/* A number that the kernel counts for the service. */
static unsigned long read_number(const char *name)
{
	_cleanup_fclose_ FILE *file = NULL;
	unsigned long number = 0;
	char path[128];

	snprintf(path, sizeof(path), CGROUP "%s", name);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%lu", &number) != 1)
		fail_msg("%s has no number", path);
	return number;
}

static void count_processes(Crowd *c)
{
	c->processes = MAX(c->processes, fabric_processes());
}

Crowd *crowd_new(Fixture *f, unsigned int n_hung, unsigned int n_healthy, bool together,
		 const char *configuration)
{
	_cleanup_fclose_ FILE *file = fopen("/etc/rdmad.conf", "w");
	Crowd *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	assert_non_null(file);
	fputs(configuration, file);
	fflush(file);
	*c = (Crowd){.f = f, .n_hung = n_hung, .n_healthy = n_healthy, .lid = 1000};
	sim("del all");
	/* udev would start it with the first device. */
	run("systemctl stop rdmad && systemctl mask -q --runtime rdmad");
	if (n_hung > 0)
		sim("add hung%%d count=%u driver=mlx5 link=ib%s", n_hung,
		    together ? " image_guid=0x77" : "");
	sim("add sim%%d count=%u driver=mlx5 link=ib", n_healthy);
	run("udevadm settle -t 300 && systemctl unmask -q --runtime rdmad");
	c->first_hung = n_hung > 0 ? (uint32_t)sim_number("device", "hung0", "index") : 0;
	c->first_healthy = (uint32_t)sim_number("device", "sim0", "index");
	c->healthy = fabric_new();
	c->healthy->bus = fixture_client(c->healthy);
	for (unsigned int i = 0; i < n_healthy; i++) {
		char paths[80];

		snprintf(paths, sizeof(paths), "path='%s'", path_of(c->first_healthy + i, 1).text);
		fixture_listen(c->healthy, paths);
	}
	return c;
}

void crowd_free(Crowd *c)
{
	fixture_forget(c->healthy);
	sd_bus_close_unref(c->healthy->bus);
	free(c->healthy->signals);
	free(c->healthy);
	free(c);
}

void crowd_stop(Crowd *c)
{
	run("systemctl stop rdmad");
	c->processes = 0;
}

void crowd_hang(const Crowd *c, bool event)
{
	for (unsigned int i = 0; i < c->n_hung; i++)
		sim("set hung%u/1 hang=2 user_only=1%s", i, event ? " event=SM_CHANGE" : "");
}

void crowd_heal(const Crowd *c)
{
	for (unsigned int i = 0; i < c->n_hung; i++)
		sim("set hung%u/1 hang=0 user_only=0", i);
}

/* Whether the port of the device INDEX is published, and is stale, or is not. */
static bool is_published(Crowd *c, uint32_t index, bool stale)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ char *error = NULL;
	int now;

	count_processes(c);
	reply = fixture_call(c->f, path_of(index, 1).text, "org.freedesktop.DBus.Properties", "Get",
			     &error, "ss", PORT, "Stale");
	return reply && sd_bus_message_read(reply, "v", "b", &now) >= 0 && now == stale;
}

/* When systemd did something with the service: ms of CLOCK_MONOTONIC */
static double service_time(const char *property)
{
	char command[96];
	double usec = 0;
	FILE *p;

	snprintf(command, sizeof(command), "systemctl show --value -p %s rdmad", property);
	p = popen(command, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%lf", &usec), 1);
	pclose(p);
	return usec / USEC_PER_MSEC;
}

CrowdStart crowd_start(Crowd *c)
{
	CrowdStart s;
	double begin;
	pid_t pid;

	fixture_connect(c->f);
	pid = fork();
	if (pid == 0) {
		execlp("systemctl", "systemctl", "start", "rdmad", NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	fixture_wait_name(c->f);
	s.name = fixture_now_ms();
	for (unsigned int i = 0; i < c->n_healthy; i++)
		while (!is_published(c, c->first_healthy + i, false))
			fixture_wait_more(c->f);
	s.healthy = fixture_now_ms();
	for (unsigned int i = 0; i < c->n_healthy; i++)
		fixture_assert_property(c->f, path_of(c->first_healthy + i, 1).text, PORT, "State",
					"active");
	assert_int_equal(fixture_wait_process(pid), 0);
	begin = service_time("ExecMainStartTimestampMonotonic");
	s.started = service_time("ActiveEnterTimestampMonotonic") - begin;
	s.name -= begin;
	s.healthy -= begin;
	fixture_forget(c->f);
	return s;
}

void crowd_change(Crowd *c, unsigned int i)
{
	sim("set sim%u/1 lid=%u event=LID_CHANGE", i, c->lid);
}

/* Whether the recorded signals from FROM on have said that the device INDEX has the last LID. */
static bool has_told(const Crowd *c, size_t from, uint32_t index)
{
	Path path = path_of(index, 1);
	_cleanup_free_ char *lid = NULL;
	char last[16];
	size_t i = from;

	while (i < c->healthy->n_signals &&
	       !(streq(sd_bus_message_get_path(c->healthy->signals[i]), path.text) &&
		 streq(sd_bus_message_get_member(c->healthy->signals[i]), "PropertiesChanged") &&
		 fixture_changed(c->healthy->signals[i], INFINIBAND, "Lid")))
		i++;
	if (i == c->healthy->n_signals)
		return false;
	lid = fixture_property(c->healthy, path.text, INFINIBAND, "Lid");
	snprintf(last, sizeof(last), "%u", c->lid);
	return streq(lid, last);
}

void crowd_wait_changes(Crowd *c, unsigned int mask, double begin, double *ret_ms)
{
	size_t from = 0, n = c->healthy->n_signals;
	double now = fixture_now_ms();

	while (mask) {
		for (unsigned int i = 0; i < c->n_healthy; i++) {
			if (!(mask >> i & 1) || !has_told(c, from, c->first_healthy + i))
				continue;
			mask &= ~(1U << i);
			if (ret_ms)
				ret_ms[i] = now - begin;
		}
		from = n;
		if (!mask)
			break;
		count_processes(c);
		if (c->healthy->n_signals == from)
			fixture_wait_more(c->healthy);
		now = fixture_now_ms();
		n = c->healthy->n_signals;
	}
	fixture_forget(c->healthy);
	c->lid++;
}

void crowd_wait_stale(Crowd *c, bool stale)
{
	for (unsigned int i = 0; i < c->n_hung; i++)
		while (!is_published(c, c->first_hung + i, stale))
			fixture_wait_more(c->f);
	fixture_forget(c->f);
}

/* The proportional share of the memory of a process in KiB; 0 if it has ended. */
static unsigned long pss_kib(pid_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[128];
	unsigned long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	file = fopen(path, "re");
	while (file && kib == 0 && fgets(line, sizeof(line), file))
		sscanf(line, "Pss: %lu kB", &kib);
	return kib;
}

CrowdUsage crowd_usage(Crowd *c)
{
	_cleanup_fclose_ FILE *file = fopen(CGROUP "cgroup.procs", "re");
	CrowdUsage u = {.peak = read_number("memory.peak") / 1024};
	pid_t core = fabric_pid();
	int pid;

	assert_non_null(file);
	while (fscanf(file, "%d", &pid) == 1) {
		u.processes++;
		if (pid == core)
			u.core = pss_kib(pid);
		else
			u.workers += pss_kib(pid);
	}
	count_processes(c);
	return u;
}
