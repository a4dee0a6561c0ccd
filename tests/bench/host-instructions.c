/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the instructions that rdmad executes in user space for one call, one object, one change:
 * what callgrind counts in a run with many of them, minus what it counts in a run with few. The
 * same for a scrape of rdmad-exporter, and of rdmactl for a whole run. Unlike times, these numbers
 * are the same in every run.
 *
 *     host-instructions --what=THING --profile=FILE   writes the file of callgrind for one of them
 */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "names.h"
#include "scrape.h"
#include "stage.h"

#define N_PORTS 64
/* Each change is of the next device, so that no device has more changes than it may be queried
 * about without a pause (daemon/manager/schedule.c): each change is read and signalled by itself.
 */
#define N_CHANGED 64
#define N_CHANGES 500
/* Counters that are older than a second are read again: as when Prometheus asks. */
#define SCRAPE_PAUSE_USEC 1100000U

typedef struct Thing {
	const char *name;
	/* a call of rdmad */
	const char *path, *interface, *method, *signature, *first, *second;
	/* or COMMAND_MAX bytes for the simulator, which make change number I */
	void (*put)(unsigned int i, char *ret);
	const char *signal; /* this property is signalled before the next change; NULL: any time */
	const char *words[3];  /* or a rdmactl that executes this command */
	bool is_scrape;	       /* or a scrape of rdmad-exporter, before which PUT makes a change */
	unsigned int calls;    /* 0: the run is the figure */
	unsigned int per_call; /* objects, ports or changes in one call; divides the result */
	unsigned int n_ports;  /* 0: the devices of the kernel */
	const char *within;    /* count only in this function and what it calls; NULL: everywhere */
} Thing;

#define COMMAND_MAX 128

static void put_lid(unsigned int i, char *ret)
{
	snprintf(ret, COMMAND_MAX, "set %s lid=%u event=lid-change",
		 stage_port_name(i % N_CHANGED * STAGE_PORTS_PER_DEVICE), i / N_CHANGED + 100);
}

static void put_down(unsigned int i, char *ret)
{
	snprintf(ret, COMMAND_MAX, "set %s state=down event=port-error", stage_port_name(i));
}

#define PORT_0	   RDMAD_DEVICE_PREFIX "/0/port/1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define N_OBJECTS  (N_PORTS + N_PORTS / STAGE_PORTS_PER_DEVICE)
#define ALL_PORTS  (N_CHANGED * STAGE_PORTS_PER_DEVICE)

/* clang-format off */
static const Thing things[] = {
	{.name = "start"},
	{"ping", RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "", .calls = 1000, .per_call = 1, .n_ports = N_PORTS},
	{"get", PORT_0, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_PORT, "State", .calls = 1000, .per_call = 1, .n_ports = N_PORTS},
	{"get-all", PORT_0, PROPERTIES, "GetAll", "s", RDMAD_INTERFACE_PORT, .calls = 1000, .per_call = 1, .n_ports = N_PORTS},
	{"object", RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "",
	 .calls = 20, .per_call = N_OBJECTS, .n_ports = N_PORTS},
	{"listed-port", RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}",
	 .calls = 20, .per_call = N_PORTS, .n_ports = N_PORTS},
	{"change", .put = put_lid, .calls = N_CHANGES, .per_call = 1, .n_ports = ALL_PORTS},
	{"judgement", .put = put_down, .signal = "Health", .calls = N_PORTS, .per_call = 1, .n_ports = N_PORTS,
	 .within = "on_health"},
	{"rdmactl-show", .words = {"show", "sim0/1"}, .n_ports = N_PORTS},
	{"rdmactl-list", .words = {"list"}, .n_ports = N_PORTS},
	{"scrape", .is_scrape = true, .calls = 4, .per_call = 1, .n_ports = N_PORTS},
	{"scrape-changed", .put = put_lid, .is_scrape = true, .calls = 4, .per_call = 1, .n_ports = N_PORTS},
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

/* The words to put before a program. */
typedef struct Wrapper {
	char file[PATH_MAX + 32], within[64];
	const char *words[6];
} Wrapper;

static const char *const *wrap(const Thing *t, const char *file, Wrapper *ret)
{
	*ret = (Wrapper){.words = {"valgrind", "--tool=callgrind", "--quiet", ret->file}};
	snprintf(ret->file, sizeof(ret->file), "--callgrind-out-file=%s", file);
	snprintf(ret->within, sizeof(ret->within), "--toggle-collect=%s", t->within ?: "");
	ret->words[4] = t->within ? ret->within : NULL;
	return ret->words;
}

/* Receives messages up to the one that says that the property NAME of a port is another one. */
static void receive_signal(Raw *raw, const char *name)
{
	RawMessage m;

	do
		raw_receive(raw, &m);
	while (m.type != RAW_SIGNAL || !memmem(m.body, m.body_size, name, strlen(name) + 1));
}

/* Makes call number I. False: rdmad does not have that method. */
static bool make_call(const Thing *t, Raw *raw, unsigned int i)
{
	char command[COMMAND_MAX];
	RawMessage m;
	RawCall call;

	if (!t->put) {
		raw_call(&call, RDMAD_BUS_NAME, t->path, t->interface, t->method, t->signature,
			 t->first, t->second);
		return raw_try(raw, &call, &m);
	}
	t->put(i, command);
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}",
		 command);
	if (!raw_try(raw, &call, &m))
		return false;
	if (t->signal)
		receive_signal(raw, t->signal);
	return true;
}

/* Waits until rdmad has read all devices: valgrind is so slow that the start goes on without some.
 */
static void await_all(Raw *raw)
{
	RawMessage m;
	RawCall call;

	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
		 "a{sv}");
	raw_roundtrip(raw, &call, &m);
}

/* The instructions of a rdmad that gets CALLS calls. -1: it does not have that method. */
static double run_rdmad(const Thing *t, unsigned int calls, const char *file)
{
	_cleanup_(stage_free_pointer) Stage *s = stage_new();
	bool works = true;
	Wrapper wrapper;
	pid_t rdmad;
	Raw *raw;

	rdmad = stage_start_rdmad(s, t->n_ports, wrap(t, file, &wrapper));
	raw = stage_connect(s);
	if (calls > 0)
		await_all(raw);
	if (t->signal)
		raw_match(raw, "type='signal',sender='" RDMAD_BUS_NAME "',"
			       "member='PropertiesChanged',arg0='" RDMAD_INTERFACE_PORT "'");
	for (unsigned int i = 0; i < calls && works; i++)
		works = make_call(t, raw, i);
	raw_free(raw);
	stage_stop(rdmad);
	return works ? read_total(file) : -1;
}

/* Puts the words FIRST and MORE, which end with NULL, into RET. */
static void join(const char *const *first, const char *const *more, const char **ret)
{
	while (*first)
		*ret++ = *first++;
	while ((*ret++ = *more++))
		;
}

/* The instructions of a rdmactl. */
static double run_rdmactl(const Thing *t, const char *file)
{
	_cleanup_(stage_free_pointer) Stage *s = stage_new();
	_cleanup_free_ char *program = stage_program("../../cli/rdmactl"), *bus = NULL;
	const char *argv[16];
	Wrapper wrapper;
	pid_t rdmad;
	int status;

	if (asprintf(&bus, "--bus=%s", s->address) < 0)
		bench_die("no memory");
	join(wrap(t, file, &wrapper),
	     (const char *const[]){program, bus, t->words[0], t->words[1], NULL}, argv);
	rdmad = stage_start_rdmad(s, t->n_ports, NULL);
	if (waitpid(stage_spawn(s, argv, false), &status, 0) < 0 || status != 0)
		stage_fail(s, "rdmactl %s fails", t->words[0]);
	stage_stop(rdmad);
	return read_total(file);
}

/* Starts rdmad-exporter, as systemd does. The words of WRAPPER are put before it. */
static pid_t start_exporter(Stage *s, const char *const *wrapper, struct sockaddr_in *ret)
{
	_cleanup_free_ char *program = stage_program("../../exporter/rdmad-exporter");
	_cleanup_free_ char *bus = NULL, *shell = NULL;
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*ret);
	const char *argv[16], *words[16];

	*ret = scrape_address(0);
	if (bind(fd, (struct sockaddr *)ret, size) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)ret, &size) < 0)
		bench_die("a socket: %m");
	if (asprintf(&bus, "--bus=%s", s->address) < 0 ||
	    asprintf(&shell,
		     "exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=http exec \"$@\"",
		     fd) < 0)
		bench_die("no memory");
	join(wrapper, (const char *const[]){program, bus, NULL}, words);
	join((const char *const[]){"sh", "-c", shell, "sh", NULL}, words, argv);
	return stage_start(s, NULL, argv);
}

/* The instructions of a rdmad-exporter that serves CALLS scrapes after the first. */
static double run_exporter(const Thing *t, unsigned int calls, const char *file)
{
	_cleanup_(stage_free_pointer) Stage *s = stage_new();
	pid_t rdmad = stage_start_rdmad(s, t->n_ports, NULL), exporter;
	Raw *raw = stage_connect(s);
	struct sockaddr_in address;
	Wrapper wrapper;

	exporter = start_exporter(s, wrap(t, file, &wrapper), &address);
	for (unsigned int i = 0; i <= calls; i++) {
		if (i > 0 && t->put)
			make_call(t, raw, i);
		if (i > 0)
			usleep(SCRAPE_PAUSE_USEC);
		scrape((const struct sockaddr *)&address, sizeof(address), "rdma_port_state{",
		       NULL);
	}
	raw_free(raw);
	stage_stop(exporter);
	stage_stop(rdmad);
	return read_total(file);
}

static double run(const Thing *t, unsigned int calls, const char *file)
{
	return t->words[0]    ? run_rdmactl(t, file)
	       : t->is_scrape ? run_exporter(t, calls, file)
			      : run_rdmad(t, calls, file);
}

/* What one of T costs: a whole run, or what more calls cost than few. With few, all that comes with
 * the start and a little later is over, as it is with many. */
static double measure(const Thing *t, const char *file)
{
	unsigned int few = t->calls / 8;
	double all = run(t, t->calls, file);

	if (all < 0 || t->calls == 0)
		return all;
	return (all - run(t, few, file)) / (t->calls - few) / t->per_call;
}

static void report(const Thing *t, const char *file)
{
	double value = measure(t, file);
	char figure[64];

	if (value < 0)
		return;
	snprintf(figure, sizeof(figure), "instructions-%s", t->name);
	bench_report(&(Figure){
		.figure = figure, .value = value, .unit = "instructions", .without_bus = true});
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
				return run(&things[i], things[i].calls * (things[i].method ? 2 : 1),
					   bench.profile) < 0;
		bench_die("--what=%s: there is no figure instructions-%s", bench.what, bench.what);
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
