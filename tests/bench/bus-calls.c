/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures calls: Get, GetAll, GetManagedObjects and ListPorts, for several numbers of ports. */

#include <fcntl.h>

#include "names.h"
#include "stage.h"

#define PEER	       "org.freedesktop.DBus.Peer"
#define PROPERTIES     "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"
#define PREPARED       "org.rdma.Prepared"
#define GDBUS	       "org.rdma.Gdbus"

typedef struct Called {
	Raw *raw;
	RawCall call;
} Called;

static uint64_t sample_call(void *userdata)
{
	Called *c = userdata;
	uint64_t start = bench_now();
	RawMessage m;

	raw_roundtrip(c->raw, &c->call, &m);
	return bench_now() - start;
}

/* Starts a service that always sends the answer which CALL gets now. */
static pid_t start_prepared(Stage *s, Raw *raw, RawCall *call)
{
	_cleanup_free_ char *program = stage_program("floor-prepared");
	_cleanup_free_ char *signature = NULL;
	_cleanup_close_ int fd = -EBADF;
	char file[96];
	RawMessage m;

	raw_roundtrip(raw, call, &m);
	snprintf(file, sizeof(file), "%s/body", s->directory);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, m.body, m.body_size) != (ssize_t)m.body_size)
		bench_die("%s: %m", file);
	signature = strdup(m.signature);
	return stage_start(
		s, PREPARED,
		(const char *const[]){program, s->socket, PREPARED, signature, file, NULL});
}

/* Measures how long it takes to get one property, and all properties of one interface. They are
 * compared with Ping to the same daemon, and with a service that sends a prepared reply. */
static void measure_get_all(Stage *s)
{
	pid_t rdmad = stage_start_rdmad(s, bench.quick ? 1 : 16, NULL), prepared, gdbus;
	_cleanup_free_ char *program = stage_program("floor-gdbus");
	const char *path = stage_port_path(0);
	Called ping, get, all, floor, other;
	Subject subjects[] = {
		{.sample = sample_call, .userdata = &ping},
		{.sample = sample_call, .userdata = &get},
		{.sample = sample_call, .userdata = &all},
		{.sample = sample_call, .userdata = &floor},
		{.sample = sample_call, .userdata = &other},
	};

	ping.raw = get.raw = all.raw = floor.raw = other.raw = stage_connect(s);
	raw_call(&ping.call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, PEER, "Ping", "");
	raw_call(&get.call, RDMAD_BUS_NAME, path, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_PORT,
		 "State");
	raw_call(&all.call, RDMAD_BUS_NAME, path, PROPERTIES, "GetAll", "s", RDMAD_INTERFACE_PORT);
	raw_call(&floor.call, PREPARED, path, PROPERTIES, "GetAll", "s", RDMAD_INTERFACE_PORT);
	raw_call(&other.call, GDBUS, path, PROPERTIES, "GetAll", "s", RDMAD_INTERFACE_PORT);
	prepared = start_prepared(s, all.raw, &all.call);
	gdbus = stage_start(s, GDBUS, (const char *const[]){program, s->address, GDBUS, NULL});
	bench_measure(subjects, ARRAY_SIZE(subjects));
	bench_report_ratio("get", 0, &subjects[1], "Ping", &subjects[0], 0, 0);
	bench_report_ratio("get-all", 0, &subjects[2], "Ping", &subjects[0], 1.7, 1.35);
	bench_report_ratio("get-all-prepared", 0, &subjects[2], "prepared reply", &subjects[3], 0,
			   0);
	bench_report_ratio("get-all-gdbus", 0, &subjects[2], "GDBus service", &subjects[4], 0, 0);
	raw_free(ping.raw);
	stage_stop(gdbus);
	stage_stop(prepared);
	stage_stop(rdmad);
}

static bool has_list_ports(Raw *raw, RawCall *call)
{
	RawMessage m;

	return raw_try(raw, call, &m);
}

static void measure_objects(Stage *s, unsigned int n_ports)
{
	pid_t rdmad = stage_start_rdmad(s, n_ports, NULL), prepared, gdbus;
	_cleanup_free_ char *program = stage_program("floor-gdbus");
	Called all, floor, other, list;
	Subject subjects[] = {
		{.sample = sample_call, .userdata = &all},
		{.sample = sample_call, .userdata = &floor},
		{.sample = sample_call, .userdata = &other, .at_least = 2},
		{.sample = sample_call, .userdata = &list},
	};
	bool lists;

	all.raw = floor.raw = other.raw = list.raw = stage_connect(s);
	raw_call(&all.call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, OBJECT_MANAGER, "GetManagedObjects",
		 "");
	raw_call(&floor.call, PREPARED, RDMAD_ROOT_PATH, OBJECT_MANAGER, "GetManagedObjects", "");
	raw_call(&other.call, GDBUS, RDMAD_ROOT_PATH, OBJECT_MANAGER, "GetManagedObjects", "");
	raw_call(&list.call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts",
		 "a{sv}");
	prepared = start_prepared(s, all.raw, &all.call);
	gdbus = stage_start(s, GDBUS, (const char *const[]){program, s->address, GDBUS, NULL});
	lists = has_list_ports(list.raw, &list.call);
	bench_measure(subjects, ARRAY_SIZE(subjects) - (lists ? 0 : 1));
	bench_report_ratio("get-managed-objects", n_ports, &subjects[0], "prepared reply",
			   &subjects[1], 2, 1.15);
	bench_report_ratio("get-managed-objects-gdbus", n_ports, &subjects[0], "GDBus service",
			   &subjects[2], 0.25, 0);
	if (lists) /* with one port both are just a call: then there is no goal */
		bench_report_ratio("list-ports", n_ports, &subjects[3], "GetManagedObjects",
				   &subjects[0], n_ports > 1 ? 0.25 : 0, 0);
	raw_free(all.raw);
	stage_stop(gdbus);
	stage_stop(prepared);
	stage_stop(rdmad);
}

/* Measures what GetManagedObjects() costs for each port, with many ports and with few, in turns.
 * Each number of ports has an rdmad and a bus of its own. */
static void measure_per_port(unsigned int few, unsigned int many)
{
	const unsigned int ports[] = {few, many};
	Stage *stages[2];
	pid_t rdmad[2];
	Called calls[2];
	Subject subjects[2] = {};

	for (size_t i = 0; i < 2; i++) {
		stages[i] = stage_new();
		rdmad[i] = stage_start_rdmad(stages[i], ports[i], NULL);
		calls[i].raw = stage_connect(stages[i]);
		raw_call(&calls[i].call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, OBJECT_MANAGER,
			 "GetManagedObjects", "");
		subjects[i].sample = sample_call;
		subjects[i].userdata = &calls[i];
	}
	bench_measure(subjects, 2);
	bench_report(&(Figure){
		.figure = "get-managed-objects-per-port",
		.ports = many,
		.value = subjects[1].p50 / many,
		.unit = "us",
		.floor_name = "the same with few",
		.floor = subjects[0].p50 / few,
		.goal = 1.15,
		.foreign = MAX(subjects[0].foreign, subjects[1].foreign),
	});
	for (size_t i = 0; i < 2; i++) {
		raw_free(calls[i].raw);
		stage_stop(rdmad[i]);
		stage_free(stages[i]);
	}
}

int main(int argc, char *argv[])
{
	Stage *s;

	bench_init(argc, argv);
	s = stage_new();
	measure_get_all(s);
	for (const unsigned int *n = bench.ports; *n; n++)
		measure_objects(s, *n);
	stage_free(s);
	if (bench.quick)
		measure_per_port(16, 64);
	else
		measure_per_port(256, 4096);
	return 0;
}
