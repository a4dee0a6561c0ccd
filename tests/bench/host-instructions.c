/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the instructions that rdmad executes in user space for one call, one object, one change:
 * what callgrind counts in a run with many of them, minus what it counts in a run with none. Unlike
 * times, these numbers are the same in every run.
 *
 *     host-instructions --what=THING --profile=FILE   writes the file of callgrind for one of them
 */

#include "names.h"
#include "stage.h"

#define N_PORTS 64
/* Each change is of the next device, so that no device has more changes than it may be queried
 * about without a pause (daemon/manager/schedule.c): each change is read and signalled by itself.
 */
#define N_CHANGED 64
#define N_CHANGES 500

typedef struct Thing {
	const char *name;
	const char *path, *interface, *method, *signature, *first, *second;
	unsigned int calls;
	unsigned int per_call; /* objects, ports or changes in one call; divides the result */
	unsigned int n_ports;  /* 0: the devices of the kernel */
} Thing;

#define PORT_0 RDMAD_DEVICE_PREFIX "/0/port/1"

/* clang-format off */
static const Thing things[] = {
	{"start", NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 0},
	{"ping", RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "", NULL, NULL, 500, 1, N_PORTS},
	{"get", PORT_0, "org.freedesktop.DBus.Properties", "Get", "ss", RDMAD_INTERFACE_PORT, "State", 500, 1, N_PORTS},
	{"get-all", PORT_0, "org.freedesktop.DBus.Properties", "GetAll", "s", RDMAD_INTERFACE_PORT, NULL, 500, 1, N_PORTS},
	{"object", RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", NULL, NULL, 20,
	 N_PORTS + N_PORTS / STAGE_PORTS_PER_DEVICE, N_PORTS},
	{"listed-port", RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", NULL, NULL, 20, N_PORTS, N_PORTS},
	{"change", RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}", NULL, NULL, N_CHANGES, 1,
	 N_CHANGED * STAGE_PORTS_PER_DEVICE},
};
/* clang-format on */

/* Reads "totals: N" from the file of callgrind. */
static double read_total(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[4096];
	double total;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "totals: %lf", &total) == 1)
			return total;
	bench_die("%s: there are no totals; valgrind may be missing", path);
}

/* The instructions of a run with CALLS calls of the thing. -1: rdmad does not have that method. */
static double run(const Thing *t, unsigned int n_ports, unsigned int calls, const char *file)
{
	_cleanup_(stage_free_pointer) Stage *s = stage_new();
	_cleanup_free_ char *out = NULL;
	bool works = true;
	pid_t rdmad;
	RawMessage m;
	RawCall call;
	Raw *raw;

	if (asprintf(&out, "--callgrind-out-file=%s", file) < 0)
		bench_die("no memory");
	rdmad = stage_start_rdmad(
		s, n_ports,
		(const char *const[]){"valgrind", "--tool=callgrind", out, "--quiet", NULL});
	raw = stage_connect(s);
	for (unsigned int i = 0; i < calls && works && t->method; i++) {
		char command[128];

		snprintf(command, sizeof(command), "set %s lid=%u event=lid-change",
			 stage_port_name(i % N_CHANGED * STAGE_PORTS_PER_DEVICE),
			 i / N_CHANGED + 100);
		raw_call(&call, RDMAD_BUS_NAME, t->path, t->interface, t->method, t->signature,
			 t->first ? t->first : command, t->second);
		works = raw_try(raw, &call, &m);
	}
	raw_free(raw);
	stage_stop(rdmad);
	return works ? read_total(file) : -1;
}

static void report(const Thing *t, const char *file)
{
	static double none;
	static unsigned int n_ports;
	double all = run(t, t->n_ports, t->calls, file);
	char figure[64];

	if (all < 0)
		return;
	if (t->n_ports != n_ports) {
		n_ports = t->n_ports;
		none = run(&things[0], n_ports, 0, file);
	}
	snprintf(figure, sizeof(figure), "instructions-%s", t->name);
	bench_report(&(Figure){.figure = figure,
			       .value = t->method ? (all - none) / t->calls / t->per_call : all,
			       .unit = "instructions",
			       .without_bus = true});
}

int main(int argc, char *argv[])
{
	char file[] = "/tmp/rdmad-callgrind.XXXXXX";
	int fd;

	bench_init(argc, argv);
	if (bench.what) {
		if (!bench.profile)
			bench_die("--what needs --profile=FILE");
		for (size_t i = 0; i < ARRAY_SIZE(things); i++)
			if (streq(things[i].name, bench.what))
				/* More calls, so that the start is a small part. There cannot be
				 * more changes. */
				return run(&things[i], things[i].n_ports,
					   things[i].calls * (things[i].n_ports == N_PORTS ? 4 : 1),
					   bench.profile) < 0;
		bench_die("--what=%s: expected start, ping, get, get-all, object, listed-port or "
			  "change",
			  bench.what);
	}
	fd = mkstemp(file);
	if (fd < 0)
		bench_die("%s: %m", file);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		report(&things[i], file);
	unlink(file);
	return 0;
}
