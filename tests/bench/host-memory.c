/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the memory that only rdmad has (private and dirty): without devices, and for each port.
 */

#include <sys/stat.h>

#include "hung.h"
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

/* Whether the port of DEVICE is published and has been read. */
static bool is_fresh(Raw *raw, unsigned int device)
{
	char path[RDMAD_PATH_MAX];
	RawMessage m;
	RawCall call;

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", device);
	raw_call(&call, RDMAD_BUS_NAME, path, "org.freedesktop.DBus.Properties", "Get", "ss",
		 RDMAD_INTERFACE_PORT, "Stale");
	/* a variant: 1 b 0, and the boolean, aligned */
	return raw_try(raw, &call, &m) && m.body_size == 8 && raw_u32(m.body + 4) == 0;
}

/* That of rdmad with N_DEVICES of one port, none of which is simulated: hung-core, of whose devices
 * none hangs, asks a worker. */
static double use_of_core(Stage *s, unsigned int n_devices)
{
	_cleanup_free_ char *core = stage_program("hung-core"), *worker = NULL;
	char state_path[96], changes[96], words[3][PATH_MAX];
	HungState state = {.n_hung = n_devices - HUNG_HEALTHY};
	const char *argv[] = {core, words[0], words[1], words[2], "--log-level=warning", NULL};
	_cleanup_fclose_ FILE *file = NULL;
	pid_t pid;
	Raw *raw;
	double kb;

	worker = stage_program("hung-worker");
	snprintf(state_path, sizeof(state_path), "%s/hung", s->directory);
	snprintf(changes, sizeof(changes), "%s/changes", s->directory);
	file = fopen(state_path, "we");
	if (!file || fwrite(&state, sizeof(state), 1, file) != 1 || fflush(file) != 0 ||
	    (mkfifo(changes, 0600) < 0 && errno != EEXIST))
		bench_die("%s: %m", state_path);
	setenv(HUNG_STATE, state_path, 1);
	setenv(HUNG_CHANGES, changes, 1);
	snprintf(words[0], sizeof(words[0]), "--worker=%s", worker);
	snprintf(words[1], sizeof(words[1]), "--bus=%s", s->address);
	/* of the last rdmad */
	snprintf(words[2], sizeof(words[2]), "--config=%s/rdmad.conf", s->directory);
	pid = stage_start(s, RDMAD_BUS_NAME, argv);
	raw = stage_connect(s);
	for (unsigned int i = 1; i <= n_devices; i++)
		while (!is_fresh(raw, i))
			usleep(1000);
	usleep(100000); /* until the judge has looked at the last one */
	kb = private_dirty_kb(pid);
	raw_free(raw);
	stage_stop(pid);
	return kb;
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
	unsigned int few, many, many_devices;
	Use at_few, at_many;

	bench_init(argc, argv);
	few = bench.quick ? 1 : 256;
	many = bench.quick ? 256 : 4096;
	many_devices = bench.quick ? 64 : 1024;
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
	few = bench.quick ? 16 : 256;
	s->per_device = 1;
	at_few = use_of_rdmad(s, few);
	at_many = use_of_rdmad(s, many_devices);
	bench_report(&(Figure){.figure = "memory-port-one",
			       .ports = many_devices,
			       .value = (at_many.at_first - at_few.at_first) / (many_devices - few),
			       .unit = "kB",
			       .without_bus = true});
	bench_report(&(Figure){.figure = "memory-port-core",
			       .ports = many_devices,
			       .value = (use_of_core(s, many_devices) - use_of_core(s, few)) /
					(many_devices - few),
			       .unit = "kB",
			       .goal = 3,
			       .without_bus = true});
	return 0;
}
