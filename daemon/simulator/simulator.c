/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulator.h"

#include <assert.h>
#include <glib.h>

#include "bus-simulator.h"
#include "log.h"
#include "simulated-commands.h"
#include "simulated-counters.h"

typedef struct Simulator Simulator;

/* A query that is not answered yet. */
typedef struct Asked {
	Simulator *simulator;
	Query query;
	uint64_t deadline_usec;	  /* CLOCK_MONOTONIC */
	sd_event_source *timeout; /* while the device is stalled; else the query is in the queue */
	GList link;
	bool forgotten; /* while it is being answered */
} Asked;

typedef struct Step {
	const ScenarioStep *step;
	uint64_t next_usec;
	bool failing; /* the last time went wrong, and was logged */
} Step;

struct Simulator {
	Source source;
	sd_event *event;
	uint64_t timeout_usec;
	SourceHandler handler;
	void *userdata;
	SimulatedMachine machine;
	sd_bus_slot
		*commands; /* org.rdma.Simulator; NULL while there is no connection to the bus */

	GHashTable *asked; /* by device index; owns them */
	GQueue queue;	   /* those to be answered next */
	Asked *answering;
	sd_event_source *answer;

	GSequence *steps; /* those to come, in order */
	sd_event_source *step_timer;
};

static Simulator *simulator(Source *s);

/* ---- queries ---- */

static void asked_free(void *p)
{
	Asked *a = p;

	if (!a->timeout)
		g_queue_unlink(&a->simulator->queue, &a->link);
	sd_event_source_disable_unref(a->timeout);
	free(a);
}

static int on_timeout(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	Asked *a = userdata;
	Simulator *sim = a->simulator;
	SimulatedDevice *d = simulated_machine_device(&sim->machine, a->query.device);
	uint64_t id = a->query.id;
	char text[64];

	assert(d && d->stalled); /* else the query would be in the queue */
	d->wedged = true;
	g_hash_table_remove(sim->asked, GUINT_TO_POINTER(a->query.device));
	snprintf(text, sizeof(text), "no answer within %ju ms",
		 (uintmax_t)(sim->timeout_usec / USEC_PER_MSEC));
	sim->handler.end(sim->userdata, id, -ETIMEDOUT, text);
	return 0;
}

/* Out of the queue, to wait for the device to be told to go on. */
static int suspend(Asked *a)
{
	int r;

	r = sd_event_add_time(a->simulator->event, &a->timeout, CLOCK_MONOTONIC, a->deadline_usec,
			      1, on_timeout, a);
	if (r < 0)
		return r;
	g_queue_unlink(&a->simulator->queue, &a->link);
	return 0;
}

/* Back into the queue, if it waits. */
static void on_resumed(void *userdata, uint32_t index)
{
	Simulator *sim = userdata;
	Asked *a = g_hash_table_lookup(sim->asked, GUINT_TO_POINTER(index));

	if (!a || !a->timeout)
		return;
	a->timeout = sd_event_source_disable_unref(a->timeout);
	g_queue_push_tail_link(&sim->queue, &a->link);
	sd_event_source_set_enabled(sim->answer, SD_EVENT_ON);
}

static Table *table_copy(const Table *t)
{
	return t ? table_new(t->entries, t->n, t->entry_size) : NULL;
}

static void drop_row(PortSnapshot *s, PortAttr a)
{
	const Attribute *row = &port_attributes[a];
	PortTable t = attr_port_table(row->type);

	mask_set(&s->supplied, a, false);
	memset((char *)&s->values + row->offset, 0, row->size);
	if (t < _PORT_TABLE_MAX)
		s->tables[t] = NULL;
}

/* What a query of the port brings now. The error is that of the verbs: what others know still
 * comes. */
static int snapshot_port(SimulatedPort *p, bool pkeys, PortSnapshot *ret)
{
	PortSnapshot s = p->now;
	int error = p->error;

	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		AttrSource source = port_attributes[a].source;
		bool of_netdev = source == SOURCE_RTNL || a == PORT_ATTR_netdev_speed ||
				 a == PORT_ATTR_netdev || a == PORT_ATTR_ifindex;

		if ((error && (source == SOURCE_VERBS || source == SOURCE_DV)) ||
		    (of_netdev && !s.values.ifindex) || (!pkeys && a == PORT_ATTR_pkeys) ||
		    a == PORT_ATTR_counters)
			drop_row(&s, a);
	}
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++) {
		const Table *table = s.tables[t];

		s.tables[t] = table_copy(table);
		/* without memory the row goes rather than to look empty */
		if (table && !s.tables[t])
			mask_set(&s.supplied, port_table_attr(t), false);
	}
	if (p->error_count && --p->error_count == 0)
		p->error = 0;
	*ret = s;
	return error;
}

static int snapshot_counters(SimulatedPort *p, PortSnapshot *ret)
{
	int r = simulated_counters_read(p, ++p->n_counted, &ret->tables[PORT_TABLE_COUNTERS]);

	mask_set(&ret->supplied, PORT_ATTR_counters, r == 0);
	return r;
}

/* The snapshots, without the end. */
static void answer_query(Simulator *sim, SimulatedDevice *d, Asked *a)
{
	if (a->query.attributes) {
		DeviceSnapshot s = d->now;

		s.chardevs = table_copy(d->now.chardevs);
		sim->handler.device(sim->userdata, a->query.id, &s);
		device_snapshot_done(&s);
	}
	for (uint32_t n = 1; n <= RDMA_PORT_MAX && !a->forgotten; n++) {
		PortSnapshot s = {};
		int error = -EINVAL; /* as the kernel answers for a port that is not there */

		if (!port_set_has(&a->query.ports, n))
			continue;
		if (n <= d->now.values.port_count)
			error = a->query.counters
					? snapshot_counters(&d->ports[n - 1], &s)
					: snapshot_port(&d->ports[n - 1], a->query.pkeys, &s);
		sim->handler.port(sim->userdata, a->query.id, n, error, &s);
		port_snapshot_done(&s);
	}
}

/* Answers one query a turn, so that others have theirs. */
static int on_answer(sd_event_source *source, void *userdata)
{
	Simulator *sim = userdata;
	GList *link = g_queue_peek_head_link(&sim->queue);
	Asked *a = link ? link->data : NULL;
	SimulatedDevice *d = a ? simulated_machine_device(&sim->machine, a->query.device) : NULL;
	uint64_t id;
	bool forgotten;

	if (sim->queue.length <= 1)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (!a)
		return 0;
	if (d && d->stalled && suspend(a) == 0)
		return 0;
	sim->answering = a;
	if (d)
		answer_query(sim, d, a);
	sim->answering = NULL;
	id = a->query.id;
	forgotten = a->forgotten;
	/* first, so that the handler can ask again */
	g_hash_table_remove(sim->asked, GUINT_TO_POINTER(a->query.device));
	if (!forgotten)
		sim->handler.end(sim->userdata, id, d ? 0 : -ENODEV, d ? "" : "no such device");
	return 0;
}

int simulator_run(Source *source, char *const *words, uint32_t *ret_index, char **ret_message)
{
	return simulated_commands_run(&simulator(source)->machine, words, ret_index, ret_message);
}

/* ---- script ---- */

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
	int r = simulated_commands_run(&sim->machine, step->step->words, NULL, &message);

	if (r < 0 && !step->failing)
		log_warning("%s:%u: %s; ignoring", scenario_path(sim->machine.scenario),
			    step->step->line, message ? message : strerror(-r));
	step->failing = r < 0;
}

/* Sets the timer for the step that comes first. */
static int arm_step_timer(Simulator *sim)
{
	GSequenceIter *first = g_sequence_get_begin_iter(sim->steps);
	int r;

	if (g_sequence_iter_is_end(first))
		return 0;
	r = sd_event_source_set_time(sim->step_timer, ((Step *)g_sequence_get(first))->next_usec);
	return r < 0 ? r : sd_event_source_set_enabled(sim->step_timer, SD_EVENT_ONESHOT);
}

static int on_step_timer(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	Simulator *sim = userdata;
	uint64_t now;
	int r;

	r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);
	if (r < 0)
		return r;
	for (;;) {
		GSequenceIter *first = g_sequence_get_begin_iter(sim->steps);
		Step *step;

		if (g_sequence_iter_is_end(first))
			return 0;
		step = g_sequence_get(first);
		if (step->next_usec > now)
			return arm_step_timer(sim);
		run_step(sim, step);
		if (step->step->every_usec) {
			/* those that we are too late for are left out */
			step->next_usec += step->step->every_usec;
			if (step->next_usec <= now)
				step->next_usec = now + step->step->every_usec;
			g_sequence_sort_changed(first, compare_steps, NULL);
		} else {
			g_sequence_remove(first);
		}
	}
}

/* ---- source ---- */

static int simulator_start(Source *s)
{
	Simulator *sim = simulator(s);
	const ScenarioStep *steps;
	uint64_t now;
	size_t n;
	int r;

	steps = scenario_steps(sim->machine.scenario, &n);
	r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		Step *step = g_new0(Step, 1);

		step->step = &steps[i];
		step->next_usec = now + steps[i].at_usec;
		g_sequence_append(sim->steps, step); /* they are in order */
	}
	return arm_step_timer(sim);
}

/* What the kernel tells of a device without asking its driver. */
static void enumerate_device(const SimulatedDevice *d, DeviceSnapshot *ret)
{
	static const DeviceAttr rows[] = {
		DEVICE_ATTR_index,	DEVICE_ATTR_name,	  DEVICE_ATTR_node_type,
		DEVICE_ATTR_port_count, DEVICE_ATTR_node_guid,	  DEVICE_ATTR_sys_image_guid,
		DEVICE_ATTR_fw_ver,	DEVICE_ATTR_dev_protocol,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const Attribute *row = &device_attributes[rows[i]];

		memcpy((char *)&ret->values + row->offset,
		       (const char *)&d->now.values + row->offset, row->size);
		mask_set(&ret->supplied, rows[i], mask_has(&d->now.supplied, rows[i]));
	}
}

static int simulator_enumerate(Source *s, DeviceSnapshot **ret, size_t *ret_n)
{
	g_autoptr(GPtrArray) devices = simulated_machine_devices(&simulator(s)->machine);
	/* room for one if there is none: the caller need not care for NULL */
	DeviceSnapshot *snapshots = calloc(MAX(devices->len, 1U), sizeof(DeviceSnapshot));

	if (!snapshots)
		return -ENOMEM;
	for (guint i = 0; i < devices->len; i++)
		enumerate_device(g_ptr_array_index(devices, i), &snapshots[i]);
	*ret = snapshots;
	*ret_n = devices->len;
	return 0;
}

static int simulator_query(Source *s, const Query *query)
{
	Simulator *sim = simulator(s);
	const SimulatedDevice *d = simulated_machine_device(&sim->machine, query->device);
	uint64_t now;
	Asked *a;
	int r;

	if (g_hash_table_contains(sim->asked, GUINT_TO_POINTER(query->device)))
		return -EBUSY;
	if (d && d->wedged)
		return -ETIMEDOUT;
	r = sd_event_now(sim->event, CLOCK_MONOTONIC, &now);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(sim->answer, SD_EVENT_ON);
	if (r < 0)
		return r;
	a = calloc(1, sizeof(Asked));
	if (!a)
		return -ENOMEM;
	a->simulator = sim;
	a->query = *query;
	a->deadline_usec = now + sim->timeout_usec;
	a->link.data = a;
	g_hash_table_insert(sim->asked, GUINT_TO_POINTER(query->device), a);
	g_queue_push_tail_link(&sim->queue, &a->link);
	return 0;
}

static void simulator_forget(Source *s, uint32_t device)
{
	Simulator *sim = simulator(s);

	if (sim->answering && sim->answering->query.device == device)
		sim->answering->forgotten = true;
	else
		g_hash_table_remove(sim->asked, GUINT_TO_POINTER(device));
}

static int simulator_bus_changed(Source *s, sd_bus *bus)
{
	Simulator *sim = simulator(s);

	sim->commands = sd_bus_slot_unref(sim->commands);
	return bus ? bus_simulator_add(bus, &sim->machine, &sim->commands) : 0;
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
	g_hash_table_unref(sim->asked);
	g_sequence_free(sim->steps);
	simulated_machine_done(&sim->machine);
	sd_event_unref(sim->event);
	free(sim);
}

static const SourceOps simulator_ops = {
	.start = simulator_start,
	.enumerate = simulator_enumerate,
	.query = simulator_query,
	.forget = simulator_forget,
	.bus_changed = simulator_bus_changed,
	.status = simulator_status,
	.free = simulator_free,
};

static Simulator *simulator(Source *s)
{
	assert(s->ops == &simulator_ops);
	return (Simulator *)(void *)s;
}

static void free_simulator(Simulator *sim)
{
	simulator_free(&sim->source);
}
DEFINE_CLEANUP(Simulator, free_simulator);

static void on_event(void *userdata, const Event *event)
{
	Simulator *sim = userdata;

	sim->handler.event(sim->userdata, event);
}

/* Reads the scenario, and tries it: what cannot work is an error of the file rather than a warning
 * some night. */
static int load(const char *path, Scenario **ret, char **ret_message)
{
	_cleanup_(simulated_machine_done) SimulatedMachine rehearsal = {};
	_cleanup_free_ char *what = NULL;
	Scenario *scenario = NULL;
	unsigned int line = 0;
	int r;

	r = scenario_load(path, &scenario, ret_message);
	if (r < 0)
		return r;
	simulated_machine_init(&rehearsal, scenario);
	r = simulated_machine_populate(&rehearsal, &line, &what);
	if (r == 0)
		r = simulated_commands_rehearse(&rehearsal, &line, &what);
	if (r < 0)
		return what ? simulated_error(r, ret_message, "%s:%u: %s", path, line, what) : r;
	*ret = steal_pointer(&rehearsal.scenario);
	return 0;
}

int simulator_new(sd_event *event, const Config *config, const char *path,
		  const SourceHandler *handler, void *userdata, Source **ret, char **ret_message)
{
	_cleanup_(free_simulator_pointer) Simulator *sim = NULL;
	Scenario *scenario = NULL;
	unsigned int line;
	int r;

	sim = calloc(1, sizeof(Simulator));
	if (!sim)
		return -ENOMEM;
	sim->source.ops = &simulator_ops;
	sim->event = sd_event_ref(event);
	sim->timeout_usec = config->query_timeout_usec;
	sim->handler = *handler;
	sim->userdata = userdata;
	sim->asked = g_hash_table_new_full(NULL, NULL, NULL, asked_free);
	sim->steps = g_sequence_new(g_free);

	r = load(path, &scenario, ret_message);
	if (r < 0)
		return r;
	simulated_machine_init(&sim->machine, scenario);
	sim->machine.event = on_event;
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
	*ret = &steal_pointer(&sim)->source;
	return 0;
}
