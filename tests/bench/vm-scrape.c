/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures a scrape of rdmad-exporter and one of node_exporter's infiniband collector, for the same
 * devices, in turns: the time, the bytes, and the calls of the driver, which rdma_sim counts.
 *
 * rdmad reads counters again when they are older than a second. So there are two figures: "scrape"
 * after a pause of more than a second, as Prometheus does it, and "scrape-again" right after that.
 */

#include <signal.h>
#include <sys/socket.h>

#include "scrape.h"

#define NODE_EXPORTER_PORT 9100
#define EXPORTER_PORT	   14791
#define PAUSE_USEC	   1100000U
#define SAMPLES_MAX	   16U

/* The words of rdma_sim for what a scrape may cause. */
static const char *const kinds[] = {"query.user", "query.kernel", "dv", "pkey", "gid", "hw", "pma"};
#define KINDS ARRAY_SIZE(kinds)

typedef struct Calls {
	uint64_t n[KINDS];
} Calls;

/* One of the two exporters and what was measured. */
typedef struct Exporter {
	const char *name, *expected;
	uint16_t port;
	double usec[SAMPLES_MAX], again[SAMPLES_MAX]; /* of each scrape */
	double calls[KINDS][SAMPLES_MAX];
	double all_calls[SAMPLES_MAX];
	size_t bytes;
} Exporter;

/* The sums of all ports. */
static Calls read_calls(void)
{
	_cleanup_fclose_ FILE *f = fopen("/dev/rdma_sim", "re");
	char line[4096];
	Calls c = {};

	if (!f)
		bench_die("/dev/rdma_sim: %m");
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "calls ", 6) != 0)
			continue;
		for (size_t i = 0; i < KINDS; i++) {
			char key[32];
			const char *at;

			snprintf(key, sizeof(key), " %s=", kinds[i]);
			at = strstr(line, key);
			if (!at)
				bench_die("rdma_sim does not count %s", kinds[i]);
			c.n[i] += strtoull(at + strlen(key), NULL, 10);
		}
	}
	return c;
}

static uint64_t scrape_once(Exporter *e)
{
	struct sockaddr_in address = scrape_address(e->port);

	return scrape((const struct sockaddr *)&address, sizeof(address), e->expected, &e->bytes);
}

static void sample(Exporter *e, size_t i)
{
	Calls before, after;

	usleep(PAUSE_USEC);
	before = read_calls();
	e->usec[i] = (double)scrape_once(e) / 1000;
	after = read_calls();
	e->all_calls[i] = 0;
	for (size_t k = 0; k < KINDS; k++) {
		e->calls[k][i] = (double)(after.n[k] - before.n[k]);
		e->all_calls[i] += e->calls[k][i];
	}
	e->again[i] = (double)scrape_once(e) / 1000;
}

/* Reports the medians, ours against theirs. If theirs is 0, there is no ratio. */
static void report(const char *figure, unsigned int ports, const char *unit, double *ours,
		   double *theirs, size_t n, double goal)
{
	double floor = bench_percentile(theirs, n, 0.5);

	bench_report(&(Figure){.figure = figure,
			       .ports = ports,
			       .value = bench_percentile(ours, n, 0.5),
			       .unit = unit,
			       .floor_name = floor > 0 ? "node_exporter" : NULL,
			       .floor = floor,
			       .goal = goal,
			       .without_bus = true});
}

static void measure(unsigned int ports)
{
	static Exporter ours = {
		.name = "rdmad-exporter", .expected = "rdma_port_state{", .port = EXPORTER_PORT};
	static Exporter theirs = {.name = "node_exporter",
				  .expected = "node_infiniband_",
				  .port = NODE_EXPORTER_PORT};
	size_t n = bench.quick ? 3 : SAMPLES_MAX;
	char figure[64];

	/* without counting: the first scrape of each */
	sample(&ours, 0);
	sample(&theirs, 0);
	for (size_t i = 0; i < n; i++) {
		sample(&ours, i);
		sample(&theirs, i);
	}
	report("scrape", ports, "us", ours.usec, theirs.usec, n, 0.2);
	report("scrape-again", ports, "us", ours.again, theirs.again, n, 0);
	report("scrape-bytes", ports, "B", &(double){(double)ours.bytes},
	       &(double){(double)theirs.bytes}, 1, 0);
	report("scrape-calls", ports, "calls", ours.all_calls, theirs.all_calls, n, 0);
	for (size_t k = 0; k < KINDS; k++) {
		snprintf(figure, sizeof(figure), "scrape-calls-%s", kinds[k]);
		report(figure, ports, "calls", ours.calls[k], theirs.calls[k], n, 0);
	}
}

static void run(const char *command)
{
	if (system(command) != 0)
		bench_die("failed: %s", command);
}

static void add_devices(unsigned int first, unsigned int n)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "for i in $(seq %u %u); do echo add sim$i driver=mlx5 link=ib; done > "
		 "/dev/rdma_sim && udevadm settle",
		 first, first + n - 1);
	run(command);
}

/* Waits until rdmad has published that many ports and has read each of them for the last time,
 * which is a second after it was added. */
static void wait_ports(unsigned int n)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "for i in $(seq 200); do busctl get-property org.rdma /org/rdma org.rdma.Manager "
		 "PortCount | grep -qx 'u %u' && exec sleep 3; sleep 0.1; done; exit 1",
		 n);
	run(command);
}

int main(int argc, char *argv[])
{
	pid_t exporter;

	bench_init(argc, argv);
	run("modprobe rdma_sim && ip link set lo up");
	add_devices(0, 8);
	run("systemctl start rdmad rdmad-exporter.socket");
	exporter = scrape_start_node_exporter(NODE_EXPORTER_PORT);
	wait_ports(8);
	measure(8);
	add_devices(8, 120);
	wait_ports(128);
	measure(128);
	kill(exporter, SIGKILL);
	return 0;
}
