/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the fake worker does wrong, or well, when it asks by itself. In each function that begins
 * once the query of the core has been answered. */

#include "fake-worker.h"

#include <signal.h>

static void say_asking(const Query *q)
{
	WireMessage m = {.asking = {.header = wire_header(WIRE_ASKING, q->id, q->device, 0),
				    .parts = q->parts,
				    .ports = q->ports}};

	say(&m);
}

/* An event of port 1, and what it is asked because of that. */
static Query own_query(const Query *q)
{
	Query own = {.id = q->id, .device = q->device, .parts = READ_VERBS};

	port_set_add(&own.ports, 1);
	return own;
}

static void begin_own(const Query *own)
{
	say_event(own->device, 1, REASON_LID_CHANGE);
	say_asking(own);
}

static void own(Query *q)
{
	Query o = own_query(q);

	answer(q);
	begin_own(&o);
	answer(&o);
}

static void own_then_stop(Query *q)
{
	Query o = own_query(q);

	answer(q);
	begin_own(&o);
	raise(SIGSTOP);
	answer(&o);
}

static void own_then_stop_in_end(Query *q)
{
	Query o = own_query(q);

	answer(q);
	begin_own(&o);
	say_port(&o, 1);
	raise(SIGSTOP);
	say_end(&o, 0, "");
}

static void own_then_crash(Query *q)
{
	Query o = own_query(q);

	answer(q);
	begin_own(&o);
	crash(q);
}

/* Stops between its answer and its own query, so that a query of the core crosses that. */
static void late_own(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	begin_own(&o);
	answer(&o);
}

static void late_own_dawdles(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	begin_own(&o);
	dawdle(q);
	answer(&o);
}

static void late_own_then_stop(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	begin_own(&o);
	raise(SIGSTOP);
	answer(&o);
}

static void late_own_then_crash(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	begin_own(&o);
	crash(q);
}

static void late_own_wrong_id(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	o.id++;
	begin_own(&o);
}

static void late_own_port_3(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	port_set_add(&o.ports, 3);
	begin_own(&o);
}

/* As if the core had been slow to read the first */
static void late_own_twice(Query *q)
{
	Query o = own_query(q);

	late_own(q);
	begin_own(&o);
	answer(&o);
}

/* Each of its queries is answered at once, but it never reads the core's. */
static void late_own_for_ever(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	for (;;) {
		begin_own(&o);
		answer(&o);
		usleep(20 * USEC_PER_MSEC);
	}
}

static void own_in_own(Query *q)
{
	Query o = own_query(q);

	answer(q);
	begin_own(&o);
	begin_own(&o);
}

static void own_in_answer(Query *q)
{
	Query o = own_query(q);

	say_device(q);
	begin_own(&o);
}

/* It answers without having said that it asks. */
static void own_unsaid(Query *q)
{
	Query o = own_query(q);

	answer(q);
	raise(SIGSTOP);
	answer(&o);
}

static void own_of_other_device(Query *q)
{
	Query o = own_query(q);

	answer(q);
	o.device++;
	begin_own(&o);
	answer(&o);
}

static void own_of_other_device_then_stop(Query *q)
{
	Query o = own_query(q);

	answer(q);
	o.device++;
	begin_own(&o);
	raise(SIGSTOP);
}

static void own_flood(Query *q)
{
	Query o = own_query(q);

	answer(q);
	for (;;) {
		say_asking(&o);
		say_end(&o, -EIO, "");
	}
}

const Act own_acts[] = {
	{"own", own, THEN_GO_ON},
	{"own-then-stop", own_then_stop, THEN_GO_ON},
	{"own-then-stop-in-end", own_then_stop_in_end, THEN_GO_ON},
	{"own-then-crash", own_then_crash, THEN_WAIT},
	{"late-own", late_own, THEN_GO_ON},
	{"late-own-dawdles", late_own_dawdles, THEN_GO_ON},
	{"late-own-then-stop", late_own_then_stop, THEN_GO_ON},
	{"late-own-then-crash", late_own_then_crash, THEN_WAIT},
	{"late-own-wrong-id", late_own_wrong_id, THEN_WAIT},
	{"late-own-port-3", late_own_port_3, THEN_WAIT},
	{"late-own-twice", late_own_twice, THEN_GO_ON},
	{"late-own-for-ever", late_own_for_ever, THEN_WAIT},
	{"own-in-own", own_in_own, THEN_WAIT},
	{"own-in-answer", own_in_answer, THEN_WAIT},
	{"own-unsaid", own_unsaid, THEN_WAIT},
	{"own-of-other-device", own_of_other_device, THEN_GO_ON},
	{"own-of-other-device-then-stop", own_of_other_device_then_stop, THEN_GO_ON},
	{"own-flood", own_flood, THEN_WAIT},
	{},
};
