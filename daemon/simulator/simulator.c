/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulator.h"

#include <assert.h>
#include <glib.h>

#include "bus-simulator.h"
#include "log.h"
#include "simulated-answer.h"
#include "simulated-commands.h"

/* The record of a machine begins after rdmad has read all devices. So the simulator plays the first
 * step after all devices have been read and rdmad has its name on the bus; before that step clients
 * have so much time to connect. */
#define RECORD_LEAD_USEC (1 * USEC_PER_SEC)

typedef struct Simulator Simulator;

/* A query that is not answered yet. */
typedef struct PendingQuery {
	Simulator *simulator;
	Query query;
	uint64_t deadline_usec;	  /* CLOCK_MONOTONIC */
	sd_event_source *timeout; /* NULL: it is in the queue. Else the device is stalled, and the
				     query is not in the queue */
	GList link;		  /* in the queue */
	bool forgotten;		  /* forgotten by the core while it was being answered */
} PendingQuery;

/* A step of the script that is still to come. */
typedef struct Step {
	const ScenarioStep *step;
	uint64_t next_usec; /* when; CLOCK_MONOTONIC */
	bool failing;	    /* it failed the last time, and that was logged */
} Step;

struct Simulator {
	Source source;
	sd_event *event;
	uint64_t timeout_usec; /* how long a query may take */
	SourceHandler handler; /* the core, with its USERDATA */
	void *userdata;
	SimulatedMachine machine;
	sd_bus_slot *commands; /* org.rdma.Simulator; NULL: there is no connection to the bus */

	GHashTable *pending;	 /* device index -> PendingQuery, which it owns */
	GQueue queue;		 /* of PendingQuery: those that are answered next, in order */
	PendingQuery *answering; /* the one whose answer the handler is given now */
	sd_event_source *answer; /* answers the first of the queue; on while there is one */

	GSequence *steps;	     /* of Step, the next one first */
	sd_event_source *step_timer; /* for the first of them */
	bool list_due; /* of a record: no step comes before the core has listed the devices */
	bool again;    /* the step is to be carried out once more then */
};

static Simulator *simulator(Source *s);

/* Queries */

static void pending_query_free(void *p)
{
	PendingQuery *q = p;

	if (!q->timeout)
		g_queue_unlink(&q->simulator->queue, &q->link);
	sd_event_source_disable_unref(q->timeout);
	free(q);
}

static int on_timeout(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	PendingQuery *q = userdata;
	Simulator *sim = q->simulator;
	SimulatedDevice *d = simulated_machine_device(&sim->machine, q->query.device);
	uint64_t id = q->query.id;
	char text[64];

	assert(d && d->stalled); /* queries of other devices are in the queue */
	d->wedged = true;
	g_hash_table_remove(sim->pending, GUINT_TO_POINTER(q->query.device));
	snprintf(text, sizeof(text), "no answer within %ju ms",
		 (uintmax_t)(sim->timeout_usec / USEC_PER_MSEC));
	sim->handler.end(sim->userdata, id, -ETIMEDOUT, QUERY_ERROR_TIMEOUT, text);
	return 0;
}

/* Takes a query of a stalled device out of the queue. The query waits for on_resumed() or the
 * deadline. */
static int wait_for_device(PendingQuery *q, uint64_t deadline_usec)
{
	int r = sd_event_add_time(q->simulator->event, &q->timeout, CLOCK_MONOTONIC, deadline_usec,
				  1, on_timeout, q);

	if (r < 0)
		return r;
	g_queue_unlink(&q->simulator->queue, &q->link);
	return 0;
}

/* The device answers again or is removed: puts a query that waits for it back into the queue. */
static void on_resumed(void *userdata, uint32_t index)
{
	Simulator *sim = userdata;
	PendingQuery *q = g_hash_table_lookup(sim->pending, GUINT_TO_POINTER(index));

	if (!q || !q->timeout)
		return;
	q->timeout = sd_event_source_disable_unref(q->timeout);
	g_queue_push_tail_link(&sim->queue, &q->link);
	sd_event_source_set_enabled(sim->answer, SD_EVENT_ON);
}

static int answer_port(SimulatedPort *p, const Query *q, PortSnapshot *ret)
{
	switch (q->kind) {
	case QUERY_COUNTERS:
	case QUERY_FAR:
		return simulated_answer_counters(p, q->kind == QUERY_FAR, ret);
	case QUERY_USERS:
		return simulated_answer_table(p, PORT_TABLE_USERS, ret);
	case QUERY_ATTRIBUTES:
	case _QUERY_KIND_MAX:
		break;
	}
	return simulated_answer_port(p, q->parts, ret);
}

/* Gives the handler the snapshots of an answer, but not its end. */
static void answer_query(Simulator *sim, SimulatedDevice *d, PendingQuery *q)
{
	if (q->query.attributes) {
		DeviceSnapshot s;

		simulated_answer_device(d, &s);
		sim->handler.device(sim->userdata, q->query.id, &s);
		device_snapshot_done(&s);
	}
	for (uint32_t n = 1, last = port_set_last(&q->query.ports); n <= last && !q->forgotten;
	     n++) {
		PortSnapshot s = {};
		int error = -EINVAL; /* as the kernel answers for a port that is not there */

		if (!port_set_has(&q->query.ports, n))
			continue;
		if (n <= d->now.values.port_count)
			error = answer_port(&d->ports[n - 1], &q->query, &s);
		sim->handler.port(sim->userdata, q->query.id, n, error, &s);
		port_snapshot_done(&s);
	}
}

/* Whether the record says that D or a port of it could not be read: then Q waits for the step that
 * changes this, or that ends the first query of D. If D has gone, the core finds that in the list,
 * and forgets Q. */
static bool waits_for_record(const Simulator *sim, const SimulatedDevice *d, const Query *q)
{
	if (!d)
		return scenario_is_record(sim->machine.scenario);
	return q->kind == QUERY_ATTRIBUTES &&
	       (d->unasked || ((q->attributes || !port_set_is_empty(&q->ports)) &&
			       simulated_device_is_silent(d)));
}

/* Answers one query in each turn of the loop, so that other event sources get their turn. */
static int on_answer(sd_event_source *source, void *userdata)
{
	Simulator *sim = userdata;
	GList *link = g_queue_peek_head_link(&sim->queue);
	PendingQuery *q = link ? link->data : NULL;
	SimulatedDevice *d = q ? simulated_machine_device(&sim->machine, q->query.device) : NULL;
	uint64_t id;
	bool forgotten;

	if (sim->queue.length <= 1)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (!q)
		return 0;
	if (d && d->stalled && wait_for_device(q, q->deadline_usec) == 0)
		return 0;
	if (waits_for_record(sim, d, &q->query) && wait_for_device(q, UINT64_MAX) == 0)
		return 0;
	sim->answering = q;
	if (d)
		answer_query(sim, d, q);
	sim->answering = NULL;
	id = q->query.id;
	forgotten = q->forgotten;
	/* removed before the handler is called, so that the handler can ask the device again */
	g_hash_table_remove(sim->pending, GUINT_TO_POINTER(q->query.device));
	if (!forgotten)
		sim->handler.end(sim->userdata, id, d ? 0 : -ENODEV, QUERY_ERROR_DEVICE,
				 d ? "" : "no such device");
	return 0;
}

int simulator_run(Source *source, const char *const *words, uint32_t *ret_index, char **ret_message)
{
	SimulatedMachine *machine = &simulator(source)->machine;
	int r = simulated_commands_run(machine, words, ret_message);

	if (ret_index)
		*ret_index = machine->added;
	return r;
}

/* The script */

static int compare_steps(const void *a, const void *b, _unused_ void *userdata)
{
	const Step *x = a, *y = b;

	if (x->next_usec != y->next_usec)
		return x->next_usec < y->next_usec ? -1 : 1;
	return x->step->line < y->step->line ? -1 : x->step->line > y->step->line;
}

static void run_step(Simulator *sim, Step *step)
{
	_cleanup_free_ char *message = NULL;
	int r = simulated_commands_run(&sim->machine, (const char *const *)step->step->words,
				       &message);

	if (r < 0 && !step->failing)
		log_warning("%s:%u: %s; ignoring", scenario_path(sim->machine.scenario),
			    step->step->line, message ? message : strerror(-r));
	step->failing = r < 0;
}

/* Sets the timer for the step that comes first. */
static int start_step_timer(Simulator *sim)
{
	GSequenceIter *first = g_sequence_get_begin_iter(sim->steps);
	int r;

	if (g_sequence_iter_is_end(first) || sim->list_due)
		return 0;
	r = sd_event_source_set_time(sim->step_timer, ((Step *)g_sequence_get(first))->next_usec);
	return r < 0 ? r : sd_event_source_set_enabled(sim->step_timer, SD_EVENT_ONESHOT);
}

static int on_step_timer(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	Simulator *sim = userdata;
	uint64_t now;
	int r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);

	if (r < 0)
		return r;
	do {
		GSequenceIter *first = g_sequence_get_begin_iter(sim->steps);
		Step *step;

		if (g_sequence_iter_is_end(first))
			return 0;
		step = g_sequence_get(first);
		if (step->next_usec > now)
			return start_step_timer(sim);
		sim->again = false;
		run_step(sim, step);
		if (sim->again)
			return 0;
		if (step->step->every_usec) {
			/* times that have passed already are left out */
			step->next_usec += step->step->every_usec;
			if (step->next_usec <= now)
				step->next_usec = now + step->step->every_usec;
			g_sequence_sort_changed(first, compare_steps, NULL);
		} else {
			g_sequence_remove(first);
		}
	} while (!scenario_is_record(sim->machine.scenario));
	return start_step_timer(sim);
}

/* The source */

/* The script begins in LEAD_USEC. */
static int start_script(Simulator *sim, uint64_t lead_usec)
{
	uint64_t now;
	size_t n;
	const ScenarioStep *steps = scenario_steps(sim->machine.scenario, &n);
	int r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		Step *step = g_new0(Step, 1);

		step->step = &steps[i];
		step->next_usec = now + lead_usec + steps[i].at_usec;
		g_sequence_append(sim->steps, step); /* the scenario has them in order */
	}
	return start_step_timer(sim);
}

static int simulator_start(Source *s)
{
	Simulator *sim = simulator(s);

	return scenario_is_record(sim->machine.scenario) ? 0 : start_script(sim, 0);
}

static int simulator_served(Source *s)
{
	Simulator *sim = simulator(s);

	return scenario_is_record(sim->machine.scenario) ? start_script(sim, RECORD_LEAD_USEC) : 0;
}

static int simulator_enumerate(Source *s, DeviceSnapshot **ret, size_t *ret_n)
{
	Simulator *sim = simulator(s);
	g_autoptr(GPtrArray) devices = simulated_machine_devices(&sim->machine);
	/* calloc(0) may return NULL, which would look like an error */
	DeviceSnapshot *snapshots = calloc(MAX(devices->len, 1U), sizeof(DeviceSnapshot));

	if (!snapshots)
		return -ENOMEM;
	for (guint i = 0; i < devices->len; i++) {
		SimulatedDevice *d = g_ptr_array_index(devices, i);

		d->listed = true;
		simulated_answer_enumeration(d, &snapshots[i]);
	}
	*ret = snapshots;
	*ret_n = devices->len;
	sim->list_due = false;
	return scenario_is_record(sim->machine.scenario) ? start_step_timer(sim) : 0;
}

static int simulator_query(Source *s, const Query *query)
{
	Simulator *sim = simulator(s);
	SimulatedDevice *d = simulated_machine_device(&sim->machine, query->device);
	uint64_t now;
	PendingQuery *q;
	int r;

	if (g_hash_table_contains(sim->pending, GUINT_TO_POINTER(query->device)))
		return -EBUSY;
	if (d && d->wedged)
		return -ETIMEDOUT;
	r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(sim->answer, SD_EVENT_ON);
	if (r < 0)
		return r;
	q = calloc(1, sizeof(PendingQuery));
	if (!q)
		return -ENOMEM;
	q->simulator = sim;
	q->query = *query;
	if (d)
		d->query_id = query->id;
	q->deadline_usec = now + sim->timeout_usec;
	q->link.data = q;
	g_hash_table_insert(sim->pending, GUINT_TO_POINTER(query->device), q);
	g_queue_push_tail_link(&sim->queue, &q->link);
	return 0;
}

static void simulator_forget(Source *s, uint32_t device)
{
	Simulator *sim = simulator(s);

	if (sim->answering && sim->answering->query.device == device)
		sim->answering->forgotten = true;
	else
		g_hash_table_remove(sim->pending, GUINT_TO_POINTER(device));
}

static int simulator_bus_changed(Source *s, sd_bus *bus)
{
	Simulator *sim = simulator(s);

	sim->commands = sd_bus_slot_unref(sim->commands);
	return bus ? bus_simulator_add(bus, &sim->machine, &sim->commands) : 0;
}

/* A device with a place in sysfs takes its hardware along when it is removed. */
static ParentState simulator_parent(const Source *s, const char *path, uint64_t *ret_identity)
{
	GHashTableIter i;
	gpointer d;

	*ret_identity = 0;
	g_hash_table_iter_init(&i, ((const Simulator *)s)->machine.by_index);
	while (g_hash_table_iter_next(&i, NULL, &d)) {
		const DeviceValues *v = &((const SimulatedDevice *)d)->now.values;

		if (!streq(TEXT_OF(v, sysfs_path), path))
			continue;
		/* one that is added again is another one */
		*ret_identity = v->index + UINT64_C(1);
		return PARENT_PRESENT;
	}
	return PARENT_GONE;
}

static void simulator_status(_unused_ const Source *s, SourceStatus *ret)
{
	*ret = (SourceStatus){.simulated = true};
}

static void simulator_free(Source *s)
{
	Simulator *sim = simulator(s);

	sd_bus_slot_unref(sim->commands);
	sd_event_source_disable_unref(sim->answer);
	sd_event_source_disable_unref(sim->step_timer);
	g_hash_table_unref(sim->pending);
	g_sequence_free(sim->steps);
	simulated_machine_done(&sim->machine);
	sd_event_unref(sim->event);
	free(sim);
}

static const SourceOps simulator_ops = {
	.has_far = true,
	.start = simulator_start,
	.enumerate = simulator_enumerate,
	.query = simulator_query,
	.forget = simulator_forget,
	.bus_changed = simulator_bus_changed,
	.served = simulator_served,
	.parent = simulator_parent,
	.status = simulator_status,
	.free = simulator_free,
};

static Simulator *simulator(Source *s)
{
	assert(s->ops == &simulator_ops);
	return (Simulator *)(void *)s;
}

static void on_event(void *userdata, const Event *event)
{
	Simulator *sim = userdata;

	sim->list_due |=
		event->reason == REASON_DEVICE && scenario_is_record(sim->machine.scenario);
	sim->handler.event(sim->userdata, event);
}

static void on_noted(void *userdata, const Event *event)
{
	Simulator *sim = userdata;

	sim->handler.noted(sim->userdata, event);
}

/* Whether the device as a whole could not be asked: of a port that could not be read, the errno
 * says all. */
static bool has_ended(const RecordedAnswer *a)
{
	return a->error < 0 &&
	       !(a->port && a->code == QUERY_ERROR_DEVICE && streq(a->text, strerror(-a->error)));
}

/* The answer of a record belongs to the query that waits for it, or to one that nobody made. */
static void on_answered(void *userdata, const RecordedAnswer *a)
{
	Simulator *sim = userdata;
	const uint32_t index = a->device->now.values.index;
	PendingQuery *q = g_hash_table_lookup(sim->pending, GUINT_TO_POINTER(index));
	Query query = {.id = a->device->query_id,
		       .device = index,
		       .parts = READ_ALL,
		       .has_answer = true,
		       .reasons = a->reasons,
		       .is_open = a->is_open};

	if (!a->device->listed) {
		/* the core asks a device that it finds in the list */
		sim->again = true;
		simulated_machine_tell(&sim->machine, EVENT_ALL_DEVICES, EVENT_ALL_PORTS,
				       REASON_DEVICE);
		return;
	}
	/* the first query of a device ends when the record says so */
	if (q && a->device->unasked)
		query.ports = q->query.ports;
	if (a->port)
		port_set_add(&query.ports, a->port);
	if ((q && q->query.kind != QUERY_ATTRIBUTES) || !sim->handler.asking(sim->userdata, &query))
		return;
	if (has_ended(a)) {
		g_hash_table_remove(sim->pending, GUINT_TO_POINTER(index));
		sim->handler.end(sim->userdata, query.id, a->error, a->code, a->text);
		return;
	}
	if (a->port)
		sim->handler.port(sim->userdata, query.id, a->port, a->error, a->port_snapshot);
	else
		sim->handler.device(sim->userdata, query.id, a->device_snapshot);
	if (q && a->port)
		port_set_remove(&q->query.ports, a->port);
	else if (q)
		q->query.attributes = false;
	else
		sim->handler.end(sim->userdata, query.id, 0, QUERY_ERROR_DEVICE, "");
}

/* Loads the scenario, and tries all of it on a machine that is thrown away: what cannot work is an
 * error of the file now, and not a warning when its time has come. */
static int load(const char *path, Scenario **ret, char **ret_message)
{
	_cleanup_(simulated_machine_done) SimulatedMachine rehearsal = {};
	_cleanup_free_ char *what = NULL;
	Scenario *scenario = NULL;
	unsigned int line = 0;
	int r = scenario_load(path, &scenario, ret_message);

	if (r < 0)
		return r;
	simulated_machine_init(&rehearsal, scenario);
	r = simulated_machine_populate(&rehearsal, &line, &what);
	if (r == 0)
		r = simulated_commands_rehearse(&rehearsal, &line, &what);
	if (r < 0)
		return what ? scenario_refuse(r, ret_message, "%s:%u: %s", path, line, what) : r;
	if (r > 0)
		log_info("%s:%u: the script is long: from here on it is not tried beforehand", path,
			 line);
	*ret = steal_pointer(&rehearsal.scenario);
	return 0;
}

int simulator_new(sd_event *event, const Config *config, const char *path,
		  const SourceHandler *handler, void *userdata, Source **ret, char **ret_message)
{
	_cleanup_(source_free_pointer) Source *source = NULL;
	Scenario *scenario = NULL;
	unsigned int line;
	int r;
	Simulator *sim = calloc(1, sizeof(Simulator));

	if (!sim)
		return -ENOMEM;
	source = &sim->source;
	source->ops = &simulator_ops;
	sim->event = sd_event_ref(event);
	sim->timeout_usec = config->query_timeout_usec;
	sim->handler = *handler;
	sim->userdata = userdata;
	sim->pending = g_hash_table_new_full(NULL, NULL, NULL, pending_query_free);
	sim->steps = g_sequence_new(g_free);

	r = load(path, &scenario, ret_message);
	if (r < 0)
		return r;
	simulated_machine_init(&sim->machine, scenario);
	sim->machine.event = on_event;
	sim->machine.noted = on_noted;
	sim->machine.answered = on_answered;
	sim->machine.resumed = on_resumed;
	sim->machine.userdata = sim;
	r = simulated_machine_populate(&sim->machine, &line, ret_message);
	if (r < 0)
		return r;

	r = sd_event_add_defer(event, &sim->answer, on_answer, sim);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(sim->answer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	r = sd_event_add_time(event, &sim->step_timer, CLOCK_MONOTONIC, 0, 1, on_step_timer, sim);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(sim->step_timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	/* All that follows from one step of a record comes before the next one, however quickly it
	 * is played. */
	if (scenario_is_record(sim->machine.scenario))
		r = sd_event_source_set_priority(sim->step_timer, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	*ret = steal_pointer(&source);
	return 0;
}
