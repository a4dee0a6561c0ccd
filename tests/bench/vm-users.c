/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what people run, and what they would run without rdmad, for the same one-port devices of
 * rdma_sim: rdmactl, rdmad-exporter and librdmad beside the tools of verbs and of iproute2,
 * node_exporter's infiniband collector, and the files of sysfs.
 *
 * The guest has one CPU and runs with --icount, so that a time is the number of the instructions of
 * all processes and of the kernel. Of a command only what it costs more than /bin/true is reported.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdmad.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "scrape.h"

#define NODE_EXPORTER_PORT 9100
#define EXPORTER_PORT	   14791
/* rdmad reads counters again when they are older than a second. Prometheus asks less often. */
#define PAUSE_USEC 1100000U
#define SAMPLES	   7U
#define READS	   1000U
#define PORT	   "/sys/class/infiniband/sim0/ports/1/"

/* What a monitoring agent reads of a port. */
#define FILES                                                                                      \
	PORT "link_layer", PORT "state", PORT "phys_state", PORT "rate", PORT "lid",               \
		PORT "sm_lid", PORT "sm_sl", PORT "lid_mask_count", PORT "cap_mask",               \
		PORT "gids/0", PORT "gids/1", PORT "gids/2", PORT "gids/3", PORT "pkeys/0",        \
		PORT "pkeys/1", PORT "pkeys/2", PORT "pkeys/3", PORT "pkeys/4", PORT "pkeys/5",    \
		PORT "pkeys/6"

static const char *const files[] = {FILES};
static unsigned int n_devices;
static struct rdmad *snapshot;
static struct rdmad_handle handle;

static void run(const char *command)
{
	if (system(command) != 0)
		bench_die("failed: %s", command);
}

static pid_t start(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &actions, NULL, CONST_CAST(char **, argv), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		bench_die("%s: %s", argv[0], strerror(r));
	return pid;
}

static uint64_t sample_command(void *userdata)
{
	const char *const *argv = userdata;
	uint64_t begin = bench_now();
	pid_t pid = start(argv);
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		bench_die("%s failed", argv[0]);
	return bench_now() - begin;
}

static uint64_t scrape_port(uint16_t port, const char *expected)
{
	struct sockaddr_in address = scrape_address(port);

	return scrape((const struct sockaddr *)&address, sizeof(address), expected, NULL);
}

static uint64_t sample_exporter(_unused_ void *userdata)
{
	usleep(PAUSE_USEC);
	return scrape_port(EXPORTER_PORT, "rdma_port_state{");
}

/* The change came some time before the scrape, as it mostly does. Each is of the next device: one
 * that gets another LID each second has a finding (daemon/health), which is another change. */
static uint64_t sample_changed(_unused_ void *userdata)
{
	static unsigned int lid = 100;
	_cleanup_fclose_ FILE *f = fopen("/dev/rdma_sim", "we");

	lid++;
	if (!f || fprintf(f, "set sim%u/1 lid=%u event=LID_CHANGE", lid % n_devices, lid) < 0 ||
	    fflush(f) != 0)
		bench_die("rdma_sim: %m");
	/* after a second rdmad looks again, and judges what it has seen */
	usleep(2 * PAUSE_USEC);
	return scrape_port(EXPORTER_PORT, "rdma_port_state{");
}

static uint64_t sample_node_exporter(_unused_ void *userdata)
{
	usleep(PAUSE_USEC);
	return scrape_port(NODE_EXPORTER_PORT, "node_infiniband_");
}

static uint64_t sample_read(_unused_ void *userdata)
{
	struct ibv_port_attr attr;
	uint64_t begin = bench_now();

	for (unsigned int i = 0; i < READS; i++)
		if (rdmad_query_port(snapshot, handle, &attr) < 0)
			bench_die("the snapshot cannot be read");
	return (bench_now() - begin) / READS;
}

/* What a program does that asks once. */
static uint64_t sample_open(_unused_ void *userdata)
{
	struct ibv_port_attr attr;
	struct rdmad_handle port;
	uint64_t begin = bench_now();
	struct rdmad *r;

	if (rdmad_open(NULL, &r) < 0 || rdmad_find(r, "sim0/1", &port) < 0 ||
	    rdmad_query_port(r, port, &attr) < 0)
		bench_die("the snapshot cannot be read");
	rdmad_close(r);
	return bench_now() - begin;
}

static uint64_t sample_sysfs(_unused_ void *userdata)
{
	uint64_t begin = bench_now();
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_close_ int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, text, sizeof(text)) < 0)
			bench_die("%s: %m", files[i]);
	}
	return bench_now() - begin;
}

static uint64_t sample_verbs(_unused_ void *userdata)
{
	uint64_t begin = bench_now();
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr attr;

	if (!context || ibv_query_port(context, 1, &attr) != 0)
		bench_die("libibverbs: %m");
	ibv_close_device(context);
	ibv_free_device_list(list);
	return bench_now() - begin;
}

/* One thing that somebody does. AGAINST is the figure that it is compared with, and GOAL how many
 * times as much it may cost with 16 devices. */
typedef struct Use {
	const char *figure;
	uint64_t (*sample)(void *userdata);
	const char *const *argv; /* of a command */
	const char *against;
	double goal;
	double usec; /* what was measured */
} Use;

#define COMMAND(...)                                                                               \
	.sample = sample_command, .argv = (const char *const[])                                    \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* clang-format off */
static Use uses[] = {
	{.figure = "true", COMMAND("/bin/true")},
	{.figure = "ibv_devinfo-one", COMMAND("ibv_devinfo", "-v", "-d", "sim0")},
	{.figure = "ibstat-one", COMMAND("ibstat", "sim0", "1")},
	{.figure = "rdma-one", COMMAND("rdma", "-d", "link", "show", "sim0/1")},
	{.figure = "cat", COMMAND("cat", FILES)},
	{.figure = "busctl", COMMAND("busctl", "get-property", "org.rdma", "/org/rdma", "org.rdma.Manager", "PortCount")},
	{.figure = "rdmactl-show", COMMAND("rdmactl", "show", "sim0/1"), .against = "ibv_devinfo-one", .goal = 1.2},
	{.figure = "ibv_devinfo-all", COMMAND("ibv_devinfo")},
	{.figure = "ibstat-all", COMMAND("ibstat")},
	{.figure = "rdma-all", COMMAND("rdma", "link", "show")},
	{.figure = "rdmactl-list", COMMAND("rdmactl", "list"), .against = "ibstat-all", .goal = 0.8},
	{.figure = "node_exporter", .sample = sample_node_exporter},
	{.figure = "scrape", .sample = sample_exporter, .against = "node_exporter", .goal = 0.2},
	{.figure = "scrape-changed", .sample = sample_changed, .against = "node_exporter", .goal = 0.2},
	{.figure = "sysfs", .sample = sample_sysfs},
	{.figure = "verbs", .sample = sample_verbs},
	{.figure = "librdmad-open", .sample = sample_open, .against = "verbs"},
	{.figure = "librdmad-read", .sample = sample_read, .against = "sysfs"},
};
/* clang-format on */

static void measure(Use *u)
{
	double samples[SAMPLES];
	unsigned int n = bench.quick ? 1 : SAMPLES;

	u->sample(CONST_CAST(void *, u->argv)); /* not counted: it fills the caches */
	for (unsigned int i = 0; i < n; i++)
		samples[i] = (double)u->sample(CONST_CAST(void *, u->argv)) / 1000;
	u->usec = bench_percentile(samples, n, 0.5);
}

static double cost(const Use *u)
{
	return u->usec - (u->sample == sample_command && u != uses ? uses->usec : 0);
}

static void report(const Use *u, unsigned int ports)
{
	const Use *other = NULL;
	char figure[64];

	for (size_t i = 0; u->against && i < ARRAY_SIZE(uses); i++)
		if (streq(uses[i].figure, u->against))
			other = &uses[i];
	snprintf(figure, sizeof(figure), "users-%s", u->figure);
	bench_report(&(Figure){.figure = figure,
			       .ports = ports,
			       .value = cost(u),
			       .unit = "us",
			       .floor_name = u->against,
			       .floor = other ? cost(other) : 0,
			       .goal = ports == 16 ? u->goal : 0,
			       .without_bus = true});
}

/* Adds devices until there are PORTS. Each has a LID of its own, as on a fabric: two that have the
 * same have a finding, which a change of the LID would end on both. */
static void add_devices(unsigned int first, unsigned int ports)
{
	char command[192];

	snprintf(command, sizeof(command),
		 "for i in $(seq %u %u); do echo add sim$i driver=mlx5 link=ib; "
		 "echo set sim$i/1 lid=$((i + 1000)); done > /dev/rdma_sim && udevadm settle",
		 first, ports - 1);
	run(command);
}

/* Waits until rdmad has the last port, and has read each for the last time, which is a second after
 * it was added. */
static void wait_ports(unsigned int ports)
{
	char command[128];

	snprintf(command, sizeof(command), "rdmactl wait --timeout=60 sim%u/1 && sleep 3",
		 ports - 1);
	run(command);
}

int main(int argc, char *argv[])
{
	static const unsigned int ports[] = {1, 16, 128};
	pid_t exporter;
	int r;

	bench_init(argc, argv);
	run("modprobe rdma_sim && ip link set lo up");
	add_devices(0, 1);
	run("systemctl start rdmad rdmad-exporter.socket");
	exporter = scrape_start_node_exporter(NODE_EXPORTER_PORT);
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		if (i > 0)
			add_devices(ports[i - 1], ports[i]);
		wait_ports(ports[i]);
		n_devices = ports[i];
		r = rdmad_open(NULL, &snapshot);
		if (r == 0)
			r = rdmad_find(snapshot, "sim0/1", &handle);
		if (r < 0)
			bench_die("%s", rdmad_strerror(r));
		for (size_t k = 0; k < ARRAY_SIZE(uses); k++)
			measure(&uses[k]);
		for (size_t k = 0; k < ARRAY_SIZE(uses); k++)
			report(&uses[k], ports[i]);
		rdmad_close(snapshot);
	}
	kill(exporter, SIGKILL);
	return 0;
}
