/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the memory that only rdmad has (private and dirty): without devices, and for each port.
 */

#include <fcntl.h>

#include "names.h"
#include "stage.h"

#define FLOOR "org.rdma.Floor"

/* Waits until the file is on the disk. Right after a program was built its pages are dirty in every
 * process that has mapped them. */
static void write_back(const char *program)
{
	_cleanup_free_ char *path = stage_program(program);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		bench_die("%s: %m", path);
}

static double private_dirty_kb(pid_t pid)
{
	char path[64], line[256];
	_cleanup_fclose_ FILE *f = NULL;
	unsigned int kb;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Dirty: %u kB", &kb) == 1)
			return kb;
	bench_die("%s: no Private_Dirty", path);
}

typedef struct Use {
	double at_first, after_call; /* kB; the call is GetManagedObjects() */
} Use;

static Use use_of_rdmad(Stage *s, unsigned int n_ports)
{
	pid_t pid = stage_start_rdmad(s, n_ports, NULL);
	Raw *raw = stage_connect(s);
	RawMessage m;
	RawCall call;
	Use u;

	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	raw_roundtrip(raw, &call, &m);
	u.at_first = private_dirty_kb(pid);
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
		 "GetManagedObjects", "");
	raw_roundtrip(raw, &call, &m);
	u.after_call = private_dirty_kb(pid);
	raw_free(raw);
	stage_stop(pid);
	return u;
}

static double use_of_floor(Stage *s)
{
	_cleanup_free_ char *program = stage_program("floor-sdbus");
	pid_t pid = stage_start(s, FLOOR, (const char *const[]){program, s->address, FLOOR, NULL});
	Raw *raw = stage_connect(s);
	RawMessage m;
	RawCall call;
	double kb;

	raw_call(&call, FLOOR, "/floor", "org.freedesktop.DBus.Peer", "Ping", "");
	raw_roundtrip(raw, &call, &m);
	kb = private_dirty_kb(pid);
	raw_free(raw);
	stage_stop(pid);
	return kb;
}

int main(int argc, char *argv[])
{
	_cleanup_(stage_free_pointer) Stage *s = NULL;
	unsigned int few, many;
	Use at_few, at_many;

	bench_init(argc, argv);
	few = bench.quick ? 1 : 256;
	many = bench.quick ? 256 : 4096;
	write_back("../../daemon/rdmad");
	write_back("floor-sdbus");
	s = stage_new();
	bench_report(&(Figure){.figure = "memory-base",
			       .value = use_of_rdmad(s, 0).at_first,
			       .unit = "kB",
			       .floor_name = "empty sd-bus service",
			       .floor = use_of_floor(s),
			       .goal = 1.5,
			       .without_bus = true});
	at_few = use_of_rdmad(s, few);
	at_many = use_of_rdmad(s, many);
	bench_report(&(Figure){.figure = "memory-port",
			       .ports = many,
			       .value = (at_many.at_first - at_few.at_first) / (many - few),
			       .unit = "kB",
			       .goal = 3,
			       .without_bus = true});
	bench_report(&(Figure){.figure = "memory-port-after-call",
			       .ports = many,
			       .value = (at_many.after_call - at_few.after_call) / (many - few),
			       .unit = "kB",
			       .without_bus = true});
	return 0;
}
