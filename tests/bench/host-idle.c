/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts how often rdmad wakes up while nobody calls it and nothing changes: with simulated ports,
 * and on the kernel of this machine. Both run without reconciliation and without watchdog.
 */

#include <dirent.h>

#include "stage.h"

static unsigned long count_switches(pid_t pid)
{
	char path[64];
	unsigned long sum = 0, n;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		bench_die("%s: %m", path);
	while ((e = readdir(d))) {
		char status[352], line[256];
		_cleanup_fclose_ FILE *f = NULL;

		snprintf(status, sizeof(status), "%s/%s/status", path, e->d_name);
		f = fopen(status, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1)
				sum += n;
	}
	closedir(d);
	return sum;
}

/* Waits until rdmad sleeps: after it took its name it may still have something to do. */
static unsigned long settle(pid_t pid)
{
	unsigned long before, now = count_switches(pid);

	do {
		before = now;
		usleep(200000);
		now = count_switches(pid);
	} while (now != before);
	return now;
}

int main(int argc, char *argv[])
{
	static const char *const figures[] = {"idle-kernel", "idle-simulated"};
	static const unsigned int ports[] = {0, 16};
	Stage *stages[2];
	pid_t pids[2];
	unsigned long switches[2];

	bench_init(argc, argv);
	for (size_t i = 0; i < 2; i++) {
		stages[i] = stage_new();
		pids[i] = stage_start_rdmad(stages[i], ports[i], NULL);
	}
	for (size_t i = 0; i < 2; i++)
		switches[i] = settle(pids[i]);
	sleep(bench.idle_sec);
	for (size_t i = 0; i < 2; i++) {
		bench_report(&(Figure){.figure = figures[i],
				       .ports = ports[i],
				       .value = (double)(count_switches(pids[i]) - switches[i]),
				       .unit = "wake-ups",
				       .goal_zero = true,
				       .without_bus = true});
		stage_stop(pids[i]);
		stage_free(stages[i]);
	}
	return 0;
}
