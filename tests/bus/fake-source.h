/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A manager in this process whose source is the test itself: the test says which devices there are,
 * sees what the manager asks, and answers, well or badly. The bus and everything on it are real.
 */

#include <systemd/sd-event.h>

#include "fixture.h"
#include "manager-private.h"

#define DEVICES_MAX 4
#define QUERIES_MAX 64
#define PORT_1	    "/org/rdma/device/1/port/1"
#define PORT_2	    "/org/rdma/device/1/port/2"

/* The source: what the test decides, and what the manager has asked of it. */
typedef struct FakeSource {
	Source source;
	const SourceHandler *handler;
	void *userdata;
	DeviceSnapshot devices[DEVICES_MAX]; /* those that exist now, N_DEVICES of them */
	size_t n_devices;
	int enumerate_error; /* enumerate() fails with it, 0: it does not */
	int query_error;     /* so does query() */
	bool users;	     /* questions for users are taken */
	/* As many of the next lists of devices leave out the last one, and after these the first.
	 */
	unsigned int leave_out, leave_out_first;
	uint32_t events;	/* row "events" of every device in its answers */
	uint64_t health_errors; /* of the second of the two health reporters in them */
	/* The manager looks again at ports that are settling. It does so only then: on a busy
	 * machine these questions come before or after those that a test waits for. */
	bool settles;
	unsigned int n_enumerated, n_forgotten, n_hurried;
	Query queries[QUERIES_MAX]; /* every question until now, the oldest first */
	size_t n_queries;
	unsigned int failed;	   /* READ_*: what the answers of ports say has failed */
	bool omits_signal;	   /* it does not read READ_SIGNAL unless it is asked for that */
	unsigned int n_interfaces; /* how often it was told which network interfaces a port has */
	PortSet interfaces_forgotten; /* ports of which the source was told that they have no
					 network interface any more */
} FakeSource;

extern FakeSource fake;

typedef struct Test {
	Fixture *f;
	sd_event *event;
	Manager *manager;
	bool has_name; /* org.rdma is the manager's */
} Test;

/* For cmocka. One device mlx5_0 with index 1 and two ports, not asked yet. */
int setup(void **state);
/* The same, and it has answered that both ports are active. */
int setup_answered(void **state);
int teardown(void **state);
#define NEW(test)      cmocka_unit_test_setup_teardown(test, setup, teardown)
#define ANSWERED(test) cmocka_unit_test_setup_teardown(test, setup_answered, teardown)

/* setup() with a configuration of the test's own. If it has a record, that is in the directory of
 * the fixture. */
int setup_with(void **state, const Config *config);
/* Starts the manager and waits for its first question. */
void start(Test *t);
/* Ends the manager, and starts another one with what it has left in its directory. */
void start_again(Test *t, const Config *config);

/* Makes devices[I] the device INDEX. */
void set_device(size_t i, uint32_t index, const char *name, uint32_t ports);
/* Reports an event. */
void tell(uint32_t device, uint32_t port, EventReason reason);
/* The time has come to ask again about the device INDEX, which has failed. By itself that does not
 * come while a test runs. */
void let_retry(Test *t, uint32_t index);
/* Parts of the answer to the question ID. NAME may be NULL. */
void answer_device(uint64_t id, const char *name);
void answer_port(uint64_t id, uint32_t port, int error, uint32_t state);
void answer_counters(uint64_t id, uint32_t port, uint64_t value);
void answer_end(uint64_t id, int error, const char *text);
/* Answers all that the last question asks for; every port has STATE. */
void answer(uint32_t state);
/* The same for the ports up to PORTS, whose links are up and have the code LAYER; their interfaces
 * are eth1 with the index 101, and so on. */
void answer_ports(uint32_t ports, uint32_t layer, uint32_t state);
/* The same for what the answers of the device INDEX have left to be read later: nothing is asked by
 * itself afterwards. */
void answer_rest(Test *t, uint32_t index, uint32_t state);
/* The last question; there has to be one. */
const Query *last_query(void);

/* Runs the loop until CONDITION holds; a minute is a failure. */
#define RUN_UNTIL(t, condition)                                                                    \
	for (unsigned int _turns = 0; !(condition); _turns++) {                                    \
		if (_turns > 6000)                                                                 \
			fail_msg("never: %s", #condition);                                         \
		assert_true(sd_event_run((t)->event, 10 * USEC_PER_MSEC) >= 0);                    \
	}

/* A call that waits for its answer. */
typedef struct Call {
	bool done;
	char error[80]; /* its name, "": there was none */
	sd_bus_slot *slot;
} Call;

void call_query(Test *t, Call *c, const char *path);
/* Query() with the option max-age-usec. */
void call_query_cached(Test *t, Call *c, const char *path, uint64_t max_age_usec);
void call_counters(Test *t, Call *c, const char *path);
void call_far_counters(Test *t, Call *c, const char *path);
void call_all_counters(Test *t, Call *c);
void call_refresh(Test *t, Call *c);
/* Waits for the answer, which has to be ERROR ("": none). */
void wait_call(Test *t, Call *c, const char *error);
/* Everything that could happen now has happened. */
void barrier(Test *t);

const Device *device(Test *t, uint32_t index);
const PortValues *port(Test *t, uint32_t index, uint32_t number);
/* LastSyncTimestamp */
uint64_t last_sync(Test *t);

/* From now on the log of this process goes to a file. */
void log_capture(Test *t);
/* How often TEXT is in it; the log goes to stderr again. */
unsigned int log_count(Test *t, const char *text);
