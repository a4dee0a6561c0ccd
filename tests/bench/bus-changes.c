/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the time from a change until a subscriber receives PropertiesChanged: when nothing else
 * happens, and while another client calls GetManagedObjects() again and again. Each change is one
 * of another port, of thousands, so that the limit on the signals of one port has no effect.
 */

#include <math.h>

#include "names.h"
#include "stage.h"

#define FLOOR	       "org.rdma.Floor"
#define INTERVAL       UINT64_C(5000000) /* ns between changes */
#define GUARD	       UINT64_C(10000000000)
#define IDLE_CHANGES   400 /* in a round */
#define LOADED_CHANGES 2000

typedef struct Changes {
	Raw *raw;
	unsigned int n_ports, n_devices;
	unsigned int n; /* changes made so far */

	RawCall floor; /* the call that makes the bare emitter send its signal */
} Changes;

static void receive_signal(Raw *raw)
{
	RawMessage m;

	do
		raw_receive(raw, &m);
	while (m.type != RAW_SIGNAL);
}

/* Makes the next change, on the next device. */
static void post_change(Changes *c)
{
	char command[128];
	RawCall call;

	snprintf(command, sizeof(command), "set sim%u/1 lid=%u event=lid-change",
		 c->n % c->n_devices, c->n / c->n_devices % 30000 + 1);
	c->n++;
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}",
		 command);
	raw_post(c->raw, &call);
}

static uint64_t sample_rdmad(void *userdata)
{
	Changes *c = userdata;
	uint64_t start = bench_now();

	post_change(c);
	receive_signal(c->raw);
	return bench_now() - start;
}

static uint64_t sample_floor(void *userdata)
{
	Changes *c = userdata;
	uint64_t start = bench_now();

	raw_post(c->raw, &c->floor);
	receive_signal(c->raw);
	return bench_now() - start;
}

/*
 * Makes N changes, one every INTERVAL, and does not wait for the signal of one before it makes the
 * next: if it did, it would measure a blocked bus only once, however long the bus is blocked. The
 * samples are in microseconds.
 */
static void sample_paced(Changes *c, double *samples, size_t n)
{
	uint64_t *sent = calloc(c->n_devices, sizeof(uint64_t));
	uint64_t next = bench_now();
	size_t n_sent = 0, n_seen = 0;

	if (!sent)
		bench_die("no memory");
	while (n_seen < n) {
		uint64_t now = bench_now();
		unsigned int device;
		RawMessage m;

		if (n_sent < n && now >= next) {
			sent[c->n % c->n_devices] = next;
			post_change(c);
			next += INTERVAL;
			n_sent++;
		} else if (raw_wait(c->raw, n_sent < n ? next - now : GUARD)) {
			raw_receive(c->raw, &m);
			if (m.type != RAW_SIGNAL || !m.path ||
			    sscanf(m.path, RDMAD_DEVICE_PREFIX "/%u/", &device) != 1)
				continue;
			samples[n_seen++] = (double)(bench_now() - sent[device]) / 1000;
		} else if (n_sent == n) {
			bench_die("%zu of %zu changes are not signalled", n - n_seen, n);
		}
	}
	free(sent);
}

typedef struct Paced {
	double p50, p99;
} Paced;

static void paced_round(Changes *c, size_t n, Paced *best)
{
	double samples[LOADED_CHANGES];

	n = bench.quick ? 10 : n;
	sample_paced(c, samples, n);
	best->p50 = MIN(best->p50, bench_percentile(samples, n, 0.5));
	best->p99 = MIN(best->p99, bench_percentile(samples, n, 0.99));
}

static void measure_loaded(Changes *c, Stage *s)
{
	_cleanup_free_ char *program = stage_program("load-objects");
	Paced idle = {INFINITY, INFINITY}, loaded = idle, warm = idle;
	pid_t load;

	paced_round(c, IDLE_CHANGES, &idle);
	load = stage_spawn(s, (const char *const[]){program, s->socket, NULL}, true);
	/* use up what the rate limit of long replies allows the client at first */
	paced_round(c, IDLE_CHANGES, &warm);
	paced_round(c, LOADED_CHANGES, &loaded);
	stage_stop(load);
	paced_round(c, IDLE_CHANGES, &idle);
	bench_report(&(Figure){.figure = "change-signal-loaded",
			       .ports = c->n_ports,
			       .value = loaded.p50,
			       .unit = "us",
			       .floor_name = "idle",
			       .floor = idle.p50,
			       .goal = 3});
	bench_report(&(Figure){.figure = "change-signal-loaded-p99",
			       .ports = c->n_ports,
			       .value = loaded.p99,
			       .unit = "us",
			       .floor_name = "idle",
			       .floor = idle.p99,
			       .then = 5});
}

static void measure_idle(Changes *c)
{
	Subject subjects[] = {
		{.sample = sample_floor, .userdata = c, .at_least = 100},
		{.sample = sample_rdmad, .userdata = c, .at_least = 100},
	};
	const char *floor = "bare sd-bus emitter";

	bench_measure(subjects, ARRAY_SIZE(subjects));
	bench_report_ratio("change-signal", c->n_ports, &subjects[1], floor, &subjects[0], 0, 0);
	bench_report(&(Figure){.figure = "change-signal-p99",
			       .ports = c->n_ports,
			       .value = subjects[1].p99,
			       .unit = "us",
			       .floor_name = floor,
			       .floor = subjects[0].p99,
			       .foreign = subjects[1].foreign});
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *emitter = stage_program("floor-sdbus");
	_cleanup_(stage_free_pointer) Stage *s = NULL;
	Changes c = {};
	pid_t rdmad, bare;

	bench_init(argc, argv);
	c.n_ports = bench.quick ? 256 : 4096;
	c.n_devices = c.n_ports / STAGE_PORTS_PER_DEVICE;
	s = stage_new();
	s->limited = true;
	rdmad = stage_start_rdmad(s, c.n_ports, NULL);
	bare = stage_start(s, FLOOR, (const char *const[]){emitter, s->address, FLOOR, NULL});
	c.raw = stage_connect(s);
	raw_match(c.raw, "type='signal',sender='" FLOOR "'");
	raw_match(c.raw, "type='signal',sender='" RDMAD_BUS_NAME "',member='PropertiesChanged',"
			 "arg0='" RDMAD_INTERFACE_INFINIBAND "'");
	raw_call(&c.floor, FLOOR, "/floor", FLOOR, "Run", "sa{sv}",
		 "set sim0/1 lid=100 event=lid-change");
	measure_idle(&c);
	measure_loaded(&c, s);
	stage_stop(bare);
	stage_stop(rdmad);
	raw_free(c.raw);
	return 0;
}
