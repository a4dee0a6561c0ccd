/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-processes describes processes to rdmad. The program is started by the bus, answers
 *
 *     org.rdma.Processes.Describe(au threads) -> a(uuutss)
 *
 * with the thread, its process, user, start (CLOCK_BOOTTIME in us), name and control group for each
 * thread that is there, and ends when nobody has asked for a while.
 *
 * The sandbox of rdmad hides the processes of other users from it (ProtectProc=invisible), because
 * it talks to everybody and to the hardware. This program does neither: it sees all of /proc, has
 * no capability, and the bus lets only rdmad and root call it.
 */

#include <fcntl.h>

#include "helper.h"
#include "process.h"
#include "util.h"

#define NAME	    "org.rdma.Processes"
#define PATH	    "/org/rdma/processes"
#define THREADS_MAX 4096U
#define IDLE_USEC   (30 * USEC_PER_SEC)

typedef struct Service {
	Helper helper;
	int proc;
} Service;

static int append_process(sd_bus_message *reply, uint32_t thread, Process *p)
{
	text_sanitize(p->name, sizeof(p->name));
	text_sanitize(p->cgroup, sizeof(p->cgroup));
	return sd_bus_message_append(reply, "(uuutss)", thread, p->pid, p->uid, p->started_usec,
				     p->name, p->cgroup);
}

static int answer_describe(Helper *h, sd_bus_message *call, sd_bus_message *reply,
			   sd_bus_error *error)
{
	const uint32_t *threads;
	size_t size;
	int r = sd_bus_message_read_array(call, 'u', (const void **)&threads, &size);

	if (r < 0)
		return r;
	if (size > THREADS_MAX * sizeof(*threads))
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "More than %u threads", THREADS_MAX);
	for (size_t i = 0; r >= 0 && i < size / sizeof(*threads); i++) {
		Process p;

		if (process_read(((const Service *)h)->proc, threads[i], &p) == 0)
			r = append_process(reply, threads[i], &p);
	}
	return r;
}

int main(int argc, char *argv[])
{
	Service s = {.helper = {.name = NAME,
				.path = PATH,
				.methods = {{"Describe", "au", "a(uuutss)", answer_describe}},
				.idle_usec = IDLE_USEC}};

	if (argc > 1)
		return helper_refuse_argument(argv[1]);
	s.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return helper_main(&s.helper, "rdmad-processes", s.proc < 0 ? -errno : 0);
}
