/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the time from the moment when rdmad has read a new value from its source, which is
 * LastQueryTimestamp of the port, to the moment when another program knows the value: by the pipe
 * and the shared memory, and by PropertiesChanged for the same change. Also measures what it costs
 * to open the memory.
 */

#include <time.h>

#include "names.h"
#include "rdmad.h"
#include "stage.h"

#define PORTS	256U
#define DEVICES (PORTS / STAGE_PORTS_PER_DEVICE)

typedef struct Listeners {
	Raw *poster, *subscriber;
	const char *address;
	struct rdmad *r;
	struct rdmad_handle ports[DEVICES];
	RawCall ping;
	unsigned int n; /* changes made so far */
} Listeners;

static uint64_t realtime_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Makes the next change, each time on another device, so that the limit on the signals of one port
 * has no effect. Returns the device. */
static unsigned int post_change(Listeners *s)
{
	unsigned int device = s->n % DEVICES;
	char command[128];
	RawCall call;

	snprintf(command, sizeof(command), "set sim%u/1 lid=%u event=lid-change", device,
		 s->n / DEVICES % 30000 + 1);
	s->n++;
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}",
		 command);
	raw_post(s->poster, &call);
	return device;
}

/* The nanoseconds from the moment when rdmad read the value until NOW. */
static uint64_t age(const Listeners *s, unsigned int device, uint64_t now)
{
	struct rdmad_hot hot;

	if (rdmad_read_hot(s->r, s->ports[device], &hot) < 0)
		bench_die("cannot read sim%u/1", device);
	return now - hot.last_query * 1000;
}

/* Receives everything else that the change has caused. */
static void drain(Listeners *s)
{
	RawMessage m;

	raw_roundtrip(s->subscriber, &s->ping, &m);
	while (rdmad_wait(s->r, 0) > 0)
		;
}

static uint64_t sample_pipe(void *userdata)
{
	Listeners *s = userdata;
	unsigned int device = post_change(s);
	uint64_t value;
	RawMessage m;

	if (rdmad_wait(s->r, UINT64_MAX) != 1)
		bench_die("the notice of a change did not come");
	value = age(s, device, realtime_nsec());
	do
		raw_receive(s->subscriber, &m);
	while (m.type != RAW_SIGNAL);
	drain(s);
	return value;
}

static uint64_t sample_signal(void *userdata)
{
	Listeners *s = userdata;
	unsigned int device = post_change(s);
	uint64_t value;
	RawMessage m;

	do
		raw_receive(s->subscriber, &m);
	while (m.type != RAW_SIGNAL);
	value = age(s, device, realtime_nsec());
	drain(s);
	return value;
}

static uint64_t sample_open(void *userdata)
{
	Listeners *s = userdata;
	uint64_t start = bench_now();
	struct rdmad *r = NULL;
	int e = rdmad_open(s->address, &r);

	if (e < 0)
		bench_die("rdmad_open(): %s", rdmad_strerror(e));
	start = bench_now() - start;
	rdmad_close(r);
	return start;
}

static uint64_t sample_ping(void *userdata)
{
	Listeners *s = userdata;
	uint64_t start = bench_now();
	RawMessage m;

	raw_roundtrip(s->poster, &s->ping, &m);
	return bench_now() - start;
}

static void find_ports(Listeners *s)
{
	for (unsigned int i = 0; i < DEVICES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sim%u/1", i);
		if (rdmad_find(s->r, name, &s->ports[i]) < 0)
			bench_die("no %s", name);
	}
}

int main(int argc, char *argv[])
{
	_cleanup_(stage_free_pointer) Stage *stage = NULL;
	Listeners s = {};
	Subject notices[] = {
		{.sample = sample_signal, .userdata = &s, .at_least = 100},
		{.sample = sample_pipe, .userdata = &s, .at_least = 100},
	};
	Subject opens[] = {
		{.sample = sample_ping, .userdata = &s, .at_least = 100},
		{.sample = sample_open, .userdata = &s, .at_least = 100},
	};
	pid_t rdmad;
	int e;

	bench_init(argc, argv);
	stage = stage_new();
	rdmad = stage_start_rdmad(stage, PORTS, NULL);
	s.address = stage->address;
	s.poster = stage_connect(stage);
	s.subscriber = stage_connect(stage);
	raw_match(s.subscriber,
		  "type='signal',sender='" RDMAD_BUS_NAME "',member='PropertiesChanged',"
		  "arg0='" RDMAD_INTERFACE_INFINIBAND "'");
	raw_call(&s.ping, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	e = rdmad_open(stage->address, &s.r);
	if (e < 0)
		bench_die("rdmad_open(): %s", rdmad_strerror(e));
	find_ports(&s);

	bench_measure(notices, ARRAY_SIZE(notices));
	bench_report_ratio("snapshot-notice", PORTS, &notices[1], "PropertiesChanged", &notices[0],
			   0.2, 0.1);
	bench_measure(opens, ARRAY_SIZE(opens));
	bench_report_ratio("snapshot-open", PORTS, &opens[1], "Peer.Ping", &opens[0], 0, 0);

	rdmad_close(s.r);
	raw_free(s.poster);
	raw_free(s.subscriber);
	stage_stop(rdmad);
	return 0;
}
