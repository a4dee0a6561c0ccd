/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a change to PropertiesChanged at a subscriber: idle, and while another client loops
 * GetManagedObjects(). A port changes once in thousands of times, so that no limit on the signals
 * of one port plays a part.
 */

#include <signal.h>
#include <sys/wait.h>

#include "names.h"
#include "stage.h"

#define FLOOR "org.rdma.Floor"

typedef struct Changes {
	Raw *raw;
	unsigned int n_ports, n_devices;
	unsigned int n; /* changes made */

	RawCall ping, floor; /* FLOOR: the bare emitter's */
	pid_t load;	     /* stopped but while it is wanted */
} Changes;

static void receive_signal(Raw *raw)
{
	RawMessage m;

	do
		raw_receive(raw, &m);
	while (m.type != RAW_SIGNAL);
}

static uint64_t sample_rdmad(void *userdata)
{
	Changes *c = userdata;
	char command[128];
	uint64_t start;
	RawCall call;

	snprintf(command, sizeof(command), "set sim%u/1 lid=%u event=lid-change",
		 c->n % c->n_devices, c->n / c->n_devices % 30000 + 1);
	c->n++;
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}",
		 command);
	start = bench_now();
	raw_post(c->raw, &call);
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

static void begin_load(void *userdata)
{
	Changes *c = userdata;

	kill(c->load, SIGCONT);
}

/* Until it is stopped and what it has asked for last is done with. */
static void end_load(void *userdata)
{
	Changes *c = userdata;
	siginfo_t info;
	RawMessage m;

	kill(c->load, SIGSTOP);
	waitid(P_PID, (id_t)c->load, &info, WSTOPPED | WEXITED | WNOWAIT);
	raw_roundtrip(c->raw, &c->ping, &m);
}

static void report_p99(const char *figure, const Changes *c, const Subject *s,
		       const char *floor_name, const Subject *floor, double then)
{
	bench_report(&(Figure){
		.figure = figure,
		.ports = c->n_ports,
		.value = s->p99,
		.unit = "us",
		.floor_name = floor_name,
		.floor = floor->p99,
		.then = then,
		.foreign = MAX(s->foreign, floor->foreign),
	});
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *emitter = stage_program("floor-sdbus");
	_cleanup_free_ char *load = stage_program("load-objects");
	_cleanup_(stage_free_pointer) Stage *s = NULL;
	Changes c = {};
	Subject subjects[] = {
		{.sample = sample_floor, .userdata = &c, .at_least = 200},
		{.sample = sample_rdmad, .userdata = &c, .at_least = 200},
		{.sample = sample_rdmad,
		 .begin = begin_load,
		 .end = end_load,
		 .userdata = &c,
		 .at_least = 100},
	};
	const char *floor = "bare sd-bus emitter";
	pid_t rdmad, bare;

	bench_init(argc, argv);
	for (const unsigned int *n = bench.ports; *n; n++)
		c.n_ports = MAX(c.n_ports, *n);
	c.n_devices = (c.n_ports + STAGE_PORTS_PER_DEVICE - 1) / STAGE_PORTS_PER_DEVICE;
	s = stage_new();
	rdmad = stage_start_rdmad(s, c.n_ports, NULL);
	bare = stage_start(s, FLOOR, (const char *const[]){emitter, s->address, FLOOR, NULL});
	c.raw = stage_connect(s);
	raw_match(c.raw, "type='signal',sender='" FLOOR "'");
	raw_match(c.raw, "type='signal',sender='" RDMAD_BUS_NAME "',member='PropertiesChanged',"
			 "arg0='" RDMAD_INTERFACE_INFINIBAND "'");
	raw_call(&c.ping, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	raw_call(&c.floor, FLOOR, "/floor", FLOOR, "Run", "sa{sv}",
		 "set sim0/1 lid=100 event=lid-change");
	c.load = stage_spawn(s, (const char *const[]){load, s->socket, NULL}, true);
	end_load(&c);
	bench_measure(subjects, ARRAY_SIZE(subjects));
	bench_report_ratio("change-signal", c.n_ports, &subjects[1], floor, &subjects[0], 0, 0);
	report_p99("change-signal-p99", &c, &subjects[1], floor, &subjects[0], 0);
	bench_report_ratio("change-signal-loaded", c.n_ports, &subjects[2], "idle", &subjects[1], 3,
			   0);
	report_p99("change-signal-loaded-p99", &c, &subjects[2], "idle", &subjects[1], 5);
	kill(c.load, SIGKILL);
	stage_stop(c.load);
	stage_stop(bare);
	stage_stop(rdmad);
	raw_free(c.raw);
	return 0;
}
