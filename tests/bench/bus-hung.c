/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what 8 healthy devices have of it when others hang, at the speed of this machine: the
 * core, its pool and the bus are real, the devices are not (hung.h). All processes share one CPU.
 * The devices that hang are the first to be asked. The test vm/hung-each-6.12 does the same in a guest,
 * with a kernel that hangs. Prints a table on stderr too.
 */

#include <linux/futex.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hung.h"
#include "names.h"
#include "stage.h"

#define PROPERTIES    "org.freedesktop.DBus.Properties"
#define CHANGES	      104U
#define CHANGES_QUICK 8U
#define GUARD_NSEC    UINT64_C(120000000000)
#define NSEC_PER_MSEC 1e6
/* A device may be queried ten times a second because of events. */
#define PAUSE_USEC (20 * USEC_PER_MSEC)

static Stage *stage;
static HungState *state;
static Raw *raw;
static int changes;
static pid_t core;
static unsigned int processes; /* the most that were seen */

static double since_ms(uint64_t begin)
{
	return (double)(bench_now() - begin) / NSEC_PER_MSEC;
}

static unsigned long pss_kib(int pid)
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

/* Returns the number of the children of the core, and adds their PSS to *RET_KIB, which may be
 * NULL.
 */
static unsigned int look_at_workers(unsigned long *ret_kib)
{
	_cleanup_fclose_ FILE *file = NULL;
	unsigned int n = 0;
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", core, core);
	file = fopen(path, "re");
	for (; file && fscanf(file, "%d", &pid) == 1; n++)
		if (ret_kib)
			*ret_kib += pss_kib(pid);
	processes = MAX(processes, n + 1);
	return n;
}

static void port_path(char path[RDMAD_PATH_MAX], uint32_t device)
{
	snprintf(path, RDMAD_PATH_MAX, RDMAD_DEVICE_PREFIX "/%u/port/1", device);
}

/* Whether the port of DEVICE is published, and is stale, or is not. */
static bool is_published(uint32_t device, bool stale)
{
	char path[RDMAD_PATH_MAX];
	RawMessage m;
	RawCall call;

	look_at_workers(NULL);
	port_path(path, device);
	raw_call(&call, RDMAD_BUS_NAME, path, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_PORT,
		 "Stale");
	/* a variant: 1 b 0, and the boolean, aligned */
	return raw_try(raw, &call, &m) && m.body_size == 8 && raw_u32(m.body + 4) == stale;
}

/* Waits until the devices FIRST to LAST are published and stale, or are not stale. */
static void wait_published(uint32_t first, uint32_t last, bool stale)
{
	uint64_t begin = bench_now();

	for (uint32_t i = first; i <= last; i++)
		while (!is_published(i, stale)) {
			if (bench_now() - begin > GUARD_NSEC)
				stage_fail(stage, "device %u should become %s", i,
					   stale ? "stale" : "fresh");
			usleep(1000);
		}
}

/* Whether M is the PropertiesChanged of PATH with this LID. */
static bool tells_lid(const RawMessage *m, const char *path, uint32_t lid)
{
	/* the length of the name, the name, then the signature of the variant: 1 u 0, aligned */
	static const char name[] = "\3\0\0\0Lid\0\1u\0";
	const uint8_t *found;

	if (m->type != RAW_SIGNAL || !streq(m->member, "PropertiesChanged") ||
	    !streq(m->path, path))
		return false;
	found = memmem(m->body, m->body_size, name, sizeof(name) - 1);
	return found && raw_u32(found + sizeof(name)) == lid;
}

/* One healthy device changes. Returns the ms until its signal. */
static double change(uint32_t i)
{
	uint8_t device = (uint8_t)(state->n_hung + 1 + i);
	char path[RDMAD_PATH_MAX];
	uint64_t begin;
	uint32_t lid;
	RawMessage m;

	port_path(path, device);
	begin = bench_now();
	lid = ++state->lid[i];
	if (write(changes, &device, 1) != 1)
		bench_die("%m");
	do
		raw_receive(raw, &m);
	while (!tells_lid(&m, path, lid));
	return since_ms(begin);
}

/* The others begin to hang: each sends an event, and at the same moment the healthy devices change.
 * Returns the ms until the last of these is signalled. */
static double hang_and_change(void)
{
	char paths[HUNG_HEALTHY][RDMAD_PATH_MAX];
	unsigned int missing = (1U << HUNG_HEALTHY) - 1;
	uint64_t begin = bench_now();
	uint8_t devices[256];
	RawMessage m;

	state->hang = 1;
	for (uint32_t i = 0; i < state->n_hung + HUNG_HEALTHY; i++)
		devices[i] = (uint8_t)(i + 1);
	for (uint32_t i = 0; i < HUNG_HEALTHY; i++) {
		state->lid[i]++;
		port_path(paths[i], state->n_hung + 1 + i);
	}
	if (write(changes, devices, state->n_hung + HUNG_HEALTHY) < 0)
		bench_die("%m");
	while (missing) {
		raw_receive(raw, &m);
		for (uint32_t i = 0; i < HUNG_HEALTHY; i++)
			if (tells_lid(&m, paths[i], state->lid[i]))
				missing &= ~(1U << i);
	}
	return since_ms(begin);
}

/* Starts the core. RET_NAME: until the name was on the bus; returns until the healthy ports were.
 */
static double start(double *ret_name)
{
	_cleanup_free_ char *program = stage_program("hung-core"),
			    *worker = stage_program("hung-worker");
	char bus[160], config[128], worker_option[PATH_MAX + 16];
	const char *const argv[] = {program, bus, worker_option, config, "--log-level=err", NULL};
	uint64_t begin = bench_now();

	snprintf(bus, sizeof(bus), "--bus=%s", stage->address);
	snprintf(config, sizeof(config), "--config=%s/rdmad.conf", stage->directory);
	snprintf(worker_option, sizeof(worker_option), "--worker=%s", worker);
	core = stage_spawn(stage, argv, false);
	bench_own(core);
	if (!raw_wait_name(raw, RDMAD_BUS_NAME, core))
		stage_fail(stage, "hung-core ended");
	*ret_name = since_ms(begin);
	wait_published(state->n_hung + 1, state->n_hung + HUNG_HEALTHY, false);
	return since_ms(begin);
}

static void set_hang(unsigned int hang)
{
	state->hang = hang;
	syscall(SYS_futex, &state->hang, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void report(const char *what, double value, const char *unit, double goal)
{
	char name[64];

	snprintf(name, sizeof(name), "hung-%u%s-%s", state->n_hung,
		 state->together ? "-together" : "", what);
	bench_report(&(Figure){.figure = name,
			       .ports = state->n_hung + HUNG_HEALTHY,
			       .value = value,
			       .unit = unit,
			       .goal = goal});
}

static void measure(unsigned int n_hung, bool together)
{
	size_t n = bench.quick ? CHANGES_QUICK : CHANGES;
	double name, healthy, all_change, healed, samples[CHANGES];
	unsigned long kib = 0, core_kib;
	uint64_t begin;

	state->n_hung = n_hung;
	state->together = together;
	processes = 0;
	set_hang(1);
	healthy = start(&name);
	if (n_hung > 0)
		wait_published(1, n_hung, true);
	for (size_t i = 0; i < n; i++) {
		samples[i] = change(i % HUNG_HEALTHY);
		usleep(PAUSE_USEC);
	}
	look_at_workers(&kib);
	core_kib = pss_kib(core);
	set_hang(0);
	begin = bench_now();
	if (n_hung > 0)
		wait_published(1, n_hung, false);
	healed = since_ms(begin);
	/* One worker serves them all again. */
	while (look_at_workers(NULL) > 1)
		usleep(10000);
	all_change = hang_and_change();
	fprintf(stderr,
		"       %3u hang%s: name %.0f ms, healthy %.0f ms, "
		"change p50 %.2f ms, p99 %.2f ms, %u processes, core %lu KiB, workers %lu KiB, "
		"healed %.0f ms, change when they begin %.1f ms\n",
		n_hung, together ? " together" : "", name, healthy,
		bench_percentile(samples, n, 0.5), bench_percentile(samples, n, 0.99), processes,
		core_kib, kib, healed, all_change);
	report("start", healthy, "ms", 3000);
	report("change-at-begin", all_change, "ms", 2000);
	report("change", bench_percentile(samples, n, 0.5), "ms", 0);
	report("change-p99", bench_percentile(samples, n, 0.99), "ms", 0);
	report("processes", processes, "", 0);
	report("memory-core", (double)core_kib, "KiB", 0);
	report("memory-workers", (double)kib, "KiB", 0);
	report("healed", healed, "ms", 0);
	stage_stop(core);
}

/* A file for the state, and a pipe for the changes, in the directory of the stage. */
static void make_files(void)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/hung", stage->directory);
	setenv(HUNG_STATE, path, 1);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(HungState)) < 0)
		bench_die("%s: %m", path);
	close(fd);
	state = hung_state();
	/* The defaults, but for reconciliation. */
	snprintf(path, sizeof(path), "%s/rdmad.conf", stage->directory);
	file = fopen(path, "we");
	if (!file || fputs("[Daemon]\nReconcileIntervalSec=0\n", file) < 0)
		bench_die("%s: %m", path);
	snprintf(path, sizeof(path), "%s/changes", stage->directory);
	setenv(HUNG_CHANGES, path, 1);
	if (!state || mkfifo(path, 0600) < 0)
		bench_die("%s: %m", path);
	changes = open(path, O_RDWR | O_CLOEXEC);
	for (unsigned int i = 0; i < HUNG_HEALTHY; i++)
		state->lid[i] = 1;
}

int main(int argc, char *argv[])
{
	static const unsigned int n_hung[] = {0, 1, 10, 64, 200};

	bench_init(argc, argv);
	stage = stage_new();
	make_files();
	raw = stage_connect(stage);
	raw_match(raw, "type='signal',path_namespace='" RDMAD_ROOT_PATH "'");
	for (size_t i = 0; i < (bench.quick ? 3 : ARRAY_SIZE(n_hung)); i++)
		for (unsigned int together = 0; together < (n_hung[i] > 1 ? 2 : 1); together++)
			measure(n_hung[i], together);
	raw_free(raw);
	stage_free(stage);
	return 0;
}
