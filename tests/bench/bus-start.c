/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the time from exec until the program has its bus name: rdmad on a machine without RDMA,
 * and the smallest service. */

#include <signal.h>
#include <sys/wait.h>

#include "names.h"
#include "stage.h"

#define FLOOR "org.rdma.Floor"

typedef struct Starter {
	Stage *stage;
	Raw *raw; /* the connection that hears when names get and lose an owner */
	const char *const *argv;
} Starter;

static void wait_owner_changed(Raw *raw)
{
	RawMessage m;

	do
		raw_receive(raw, &m);
	while (m.type != RAW_SIGNAL || !streq(m.member, "NameOwnerChanged"));
}

static uint64_t sample_start(void *userdata)
{
	Starter *s = userdata;
	uint64_t start = bench_now(), taken;
	pid_t pid = stage_spawn(s->stage, s->argv, false);

	wait_owner_changed(s->raw);
	taken = bench_now() - start;
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	wait_owner_changed(s->raw);
	return taken;
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *program = stage_program("floor-sdbus");
	_cleanup_(stage_free_pointer) Stage *s = NULL;
	Starter rdmad, floor;
	Subject subjects[] = {
		{.sample = sample_start, .userdata = &floor},
		{.sample = sample_start, .userdata = &rdmad},
	};

	bench_init(argc, argv);
	s = stage_new();
	floor.argv = (const char *const[]){program, s->address, FLOOR, NULL};
	rdmad.argv = stage_rdmad(s, 0);
	floor.stage = rdmad.stage = s;
	floor.raw = rdmad.raw = stage_connect(s);
	raw_match(floor.raw, "type='signal',member='NameOwnerChanged',arg0namespace='org.rdma'");
	bench_measure(subjects, ARRAY_SIZE(subjects));
	bench_report_ratio("start", 0, &subjects[1], "empty sd-bus service", &subjects[0], 1.5, 0);
	raw_free(floor.raw);
	return 0;
}
