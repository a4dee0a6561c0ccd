/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "trace.h"

#include <fcntl.h>
#include <sys/mount.h>

#include "bench.h"

#define TRACING "/sys/kernel/tracing/"

static void put(const char *file, const char *text)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, TRACING "%s", file) < 0)
		bench_die("no memory");
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
}

void trace_init(void)
{
	static const char *const events[] = {
		"events/sched/sched_switch/enable",
		"events/sched/sched_wakeup/enable",
		"events/workqueue/workqueue_execute_start/enable",
		"events/raw_syscalls/sys_enter/enable",
		"events/raw_syscalls/sys_exit/enable",
	};

	/* -EBUSY: it is mounted */
	mount("tracefs", TRACING, "tracefs", 0, NULL);
	put("tracing_on", "0");
	/* the clock of fixture_now_ms() */
	put("trace_clock", "mono");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		put(events[i], "1");
}

void trace_begin(void)
{
	put("trace", "");
	put("tracing_on", "1");
}

void trace_end(void)
{
	put("tracing_on", "0");
}

/* A line is "PROCESS-PID [CPU] FLAGS SECONDS: EVENT: ARGUMENTS". */
static void print_line(const char *line, double begin_ms)
{
	char process[64], rest[256];
	double seconds;

	if (sscanf(line, " %63s [%*d] %*s %lf: %255[^\n]", process, &seconds, rest) == 3)
		printf("  %8.0f  %-24s %s\n", seconds * 1e6 - begin_ms * 1000, process, rest);
}

void trace_print(double begin_ms)
{
	_cleanup_fclose_ FILE *file = fopen(TRACING "trace", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		if (line[0] != '#')
			print_line(line, begin_ms);
}
