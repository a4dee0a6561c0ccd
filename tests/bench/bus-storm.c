/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A storm: a million changes on 64 ports, as fast as they can be made, which takes more than a
 * second. Measures whether the last state is published, how many signals a port sends, and how long
 * another caller waits for an answer meanwhile.
 */

#include <pthread.h>
#include <sys/wait.h>

#include "names.h"
#include "stage.h"

#define N_PORTS	  64
#define CHANGES	  1000000
#define SETTLE	  UINT64_C(3000000000) /* ns that the last signals may take */
#define SECOND	  UINT64_C(1000000000)
#define TIMES_MAX 8192

/* The moments at which something was received. */
typedef struct Times {
	uint64_t at[TIMES_MAX];
	size_t n;
} Times;

/* A subscriber. It runs in a thread of its own. */
typedef struct Subscriber {
	Raw *raw;
	pthread_t thread;
	uint32_t last;	      /* the value after the last change */
	unsigned int n_right; /* atomic: the ports whose last signal had that value */
	uint32_t sm_lid[N_PORTS];
	Times all[N_PORTS];	/* of all signals of each port */
	Times changed[N_PORTS]; /* of the signals that carry this value */
} Subscriber;

/* The number of the port with this object path, as stage_port_path() counts them. N_PORTS: the path
 * is not one of a port. */
static unsigned int port_of(const char *path)
{
	unsigned int device, port;

	if (!path || sscanf(path, RDMAD_DEVICE_PREFIX "/%u/port/%u", &device, &port) != 2)
		return N_PORTS;
	return MIN(device * STAGE_PORTS_PER_DEVICE + port - 1, (unsigned int)N_PORTS);
}

/* Finds the value of SmLid in the body of a PropertiesChanged, if it is there. */
static bool find_sm_lid(const RawMessage *m, uint32_t *ret)
{
	static const char key[] =
		"SmLid\0\1u"; /* the value comes after this, at the next multiple of 4 */
	const uint8_t *p = memmem(m->body, m->body_size, key, sizeof(key));

	if (!p)
		return false;
	*ret = raw_u32(m->body + (((size_t)(p - m->body) + sizeof(key) + 3) & ~(size_t)3));
	return true;
}

static void note(Times *t)
{
	if (t->n < TIMES_MAX)
		t->at[t->n++] = bench_now();
}

static void *subscribe(void *userdata)
{
	Subscriber *s = userdata;

	bench_pin_elsewhere();
	for (;;) {
		RawMessage m;
		unsigned int port;
		uint32_t sm_lid;

		raw_receive(s->raw, &m);
		port = m.type == RAW_SIGNAL ? port_of(m.path) : N_PORTS;
		if (port == N_PORTS)
			continue;
		note(&s->all[port]);
		if (!streq(m.member, "PropertiesChanged") || !find_sm_lid(&m, &sm_lid))
			continue;
		note(&s->changed[port]);
		if (s->sm_lid[port] != s->last && sm_lid == s->last)
			__atomic_add_fetch(&s->n_right, 1, __ATOMIC_RELEASE);
		else if (s->sm_lid[port] == s->last && sm_lid != s->last)
			__atomic_sub_fetch(&s->n_right, 1, __ATOMIC_RELEASE);
		s->sm_lid[port] = sm_lid;
	}
	return NULL;
}

/* The largest number of signals that one port has sent within one second. */
static double most_in_a_second(const Times *times)
{
	size_t most = 0;

	for (size_t p = 0; p < N_PORTS; p++)
		for (size_t from = 0, to = 0; to < times[p].n; to++) {
			while (times[p].at[to] - times[p].at[from] > SECOND)
				from++;
			most = MAX(most, to - from + 1);
		}
	return (double)most;
}

/* Asks each port for its value. Returns how many of them do not have the right one. */
static unsigned int count_wrong(Raw *raw, uint32_t value)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < N_PORTS; i++) {
		RawMessage m;
		RawCall call;

		raw_call(&call, RDMAD_BUS_NAME, stage_port_path(i),
			 "org.freedesktop.DBus.Properties", "Get", "ss", RDMAD_INTERFACE_INFINIBAND,
			 "SmLid");
		raw_roundtrip(raw, &call, &m);
		wrong += raw_u32(m.body + 4) != value;
	}
	return wrong;
}

static bool has_ended(const Stage *s, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) == 0)
		return false;
	if (status != 0)
		stage_fail(s, "the storm has failed");
	return true;
}

/* Calls Ping again and again until the process UNTIL has ended, or for half a second if UNTIL is 0.
 * Returns the 99th percentile in microseconds. */
static double ping_p99(const Stage *s, Raw *raw, pid_t until, uint64_t *ret_end)
{
	size_t room = 200000, n = 0;
	double *samples = calloc(room, sizeof(double)), p99;
	uint64_t end = bench_now() + (bench.quick ? SECOND / 20 : SECOND / 2);
	RawMessage m;
	RawCall ping;

	if (!samples)
		bench_die("no memory");
	raw_call(&ping, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	while (until ? !has_ended(s, until) : bench_now() < end) {
		uint64_t start = bench_now();

		raw_roundtrip(raw, &ping, &m);
		if (n < room)
			samples[n++] = (double)(bench_now() - start) / 1000;
	}
	*ret_end = bench_now();
	p99 = bench_percentile(samples, n, 0.99);
	free(samples);
	return p99;
}

/* What was measured beside the signals. */
typedef struct Storm {
	double rate;	      /* changes a second */
	unsigned int n_wrong; /* ports that do not have the last value, on the bus or by a signal */
	double settled_ms;    /* from the last change to the last right signal */
	double idle_usec;     /* 99th percentile of Ping before the storm */
	double loaded_usec;   /* the same during it */
} Storm;

static void report(const Storm *s, const Subscriber *subscriber)
{
	bench_report(&(Figure){
		.figure = "storm-rate", .ports = N_PORTS, .value = s->rate, .unit = "changes/s"});
	bench_report(&(Figure){.figure = "storm-wrong",
			       .ports = N_PORTS,
			       .value = s->n_wrong,
			       .unit = "ports",
			       .goal_zero = true});
	bench_report(&(Figure){
		.figure = "storm-settled", .ports = N_PORTS, .value = s->settled_ms, .unit = "ms"});
	bench_report(&(Figure){.figure = "storm-signals",
			       .ports = N_PORTS,
			       .value = most_in_a_second(subscriber->all),
			       .unit = "/s and port",
			       .goal = 40});
	bench_report(&(Figure){.figure = "storm-signals-of-value",
			       .ports = N_PORTS,
			       .value = most_in_a_second(subscriber->changed),
			       .unit = "/s and port"});
	bench_report(&(Figure){.figure = "storm-ping-p99",
			       .ports = N_PORTS,
			       .value = s->loaded_usec,
			       .unit = "us",
			       .floor_name = "idle",
			       .floor = s->idle_usec,
			       .goal = 3});
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *program = stage_program("load-storm");
	_cleanup_(stage_free_pointer) Stage *s = NULL;
	static Subscriber subscriber; /* it is too large for the stack */
	unsigned int n, wrong;
	double idle, loaded;
	uint64_t start, end, settled;
	char count[16];
	pid_t rdmad;
	Raw *raw;

	bench_init(argc, argv);
	n = (bench.quick ? 1000 : CHANGES) / N_PORTS + 1;
	snprintf(count, sizeof(count), "%u", n);
	s = stage_new();
	rdmad = stage_start_rdmad(s, N_PORTS, NULL);
	raw = stage_connect(s);
	subscriber.last = n;
	subscriber.raw = stage_connect(s);
	raw_match(subscriber.raw, "type='signal',sender='" RDMAD_BUS_NAME
				  "',path_namespace='" RDMAD_DEVICE_PREFIX "'");
	if (pthread_create(&subscriber.thread, NULL, subscribe, &subscriber) != 0)
		bench_die("cannot start a thread");

	idle = ping_p99(s, raw, 0, &end);
	start = bench_now();
	loaded = ping_p99(
		s, raw,
		stage_spawn(s, (const char *const[]){program, s->socket, count, NULL}, true), &end);
	for (settled = end; settled < end + SETTLE; settled = bench_now())
		if (__atomic_load_n(&subscriber.n_right, __ATOMIC_ACQUIRE) == N_PORTS)
			break;
	wrong = N_PORTS - __atomic_load_n(&subscriber.n_right, __ATOMIC_ACQUIRE);
	wrong += count_wrong(raw, n);

	report(
		&(Storm){
			.rate = (double)n * N_PORTS / (double)(end - start) * 1e9,
			.n_wrong = wrong,
			.settled_ms = (double)(settled - end) / 1e6,
			.idle_usec = idle,
			.loaded_usec = loaded,
		},
		&subscriber);
	pthread_cancel(subscriber.thread);
	pthread_join(subscriber.thread, NULL);
	stage_stop(rdmad);
	raw_free(raw);
	return 0;
}
