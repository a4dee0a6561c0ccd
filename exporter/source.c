/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "source.h"

#include <fcntl.h>
#include <systemd/sd-daemon.h>

#include "bus-open.h"
#include "changed-values.h"
#include "clock.h"
#include "names.h"
#include "port-name.h"

/* So long after the last question the next one begins, and no later than after a second: who asks
 * all the time does not get rdmad to send more than LongReplyMiBPerSec= (rdmad.conf(5)), which it
 * would send late. A port is about 8 KiB. */
#define PAUSE_USEC	(20 * USEC_PER_MSEC)
#define PAUSE_PORT_USEC (5 * USEC_PER_MSEC)

/* No signal tells of values that change all the time, such as temperatures and how many queue pairs
 * there are. They are read again after so long, when rdmad has queried ports again. */
#define UNSIGNALLED_USEC (30 * USEC_PER_SEC)

/* The calls. */
typedef enum Call {
	CALL_SNAPSHOT, /* for the memory that tells of changes */
	CALL_OBJECTS,  /* for all */
	CALL_MACHINE,  /* for what is wrong with the machine */
	CALL_COUNTERS,
	_CALL_MAX
} Call;

/* A call for the values of one object. */
typedef struct ObjectCall {
	Source *source;
	sd_bus_slot *slot; /* NULL: not under way */
	char path[RDMAD_PATH_MAX];
} ObjectCall;

struct SourceRequest {
	Source *source;
	SourceRequest *next, **at; /* what points to this one */
	SourceDone done;
	void *userdata;
};

struct Source {
	sd_event *event;
	char *address; /* NULL: the system bus */
	sd_bus *bus;   /* NULL: there was no question yet, or the connection was lost */

	SourceRequest *first;	  /* those who wait */
	SourceRequest *answered;  /* those who are told now */
	sd_event_source *begin;	  /* runs once after somebody has asked */
	sd_event_source *timeout; /* of the question under way */
	bool is_asking;
	bool is_gone; /* a call of this question has failed because there is no rdmad */
	sd_bus_slot *calls[_CALL_MAX]; /* NULL: not under way */
	ObjectCall object_calls[CHANGES_FEW];
	uint64_t began_usec;

	Changes *changes; /* NULL: rdmad has to be asked every time */
	bool dirty;	  /* more may have changed since it was asked for than these objects */
	char changed[CHANGES_FEW][RDMAD_PATH_MAX];
	size_t n_changed;
	bool is_lost;		 /* METRICS are those of a rdmad that has gone */
	bool machine_changed;	 /* since its findings were asked for */
	sd_bus_message *objects; /* a reply that is not in METRICS yet; NULL: there is none */
	sd_bus_message *machine; /* the last reply; NULL: there is none */
	bool is_machine_new;	 /* MACHINE is not in METRICS yet */
	sd_bus_message *counters;
	uint64_t objects_usec, counters_usec; /* when they were asked for */
	bool is_new;			      /* what the last replies say is not in STATE yet */
	Metrics *metrics;		      /* in STATE */
	SourceState state;
};

static void drop(sd_bus_message **m)
{
	*m = sd_bus_message_unref(*m);
}

/* Forgets the values of a rdmad that has gone. */
static void forget(Source *s)
{
	s->changes = changes_free(s->changes);
	drop(&s->objects);
	drop(&s->machine);
	drop(&s->counters);
	s->counters_usec = 0;
	s->dirty = s->machine_changed = s->is_new = s->is_lost = true;
}

static void disconnect(Source *s)
{
	for (Call c = 0; c < _CALL_MAX; c++)
		s->calls[c] = sd_bus_slot_unref(s->calls[c]);
	for (size_t i = 0; i < CHANGES_FEW; i++)
		s->object_calls[i].slot = sd_bus_slot_unref(s->object_calls[i].slot);
	forget(s);
	s->bus = sd_bus_close_unref(s->bus);
}

/* The object at PATH may have changed. */
static void note_changed(Source *s, const char *path)
{
	for (size_t i = 0; i < s->n_changed; i++)
		if (streq(s->changed[i], path))
			return;
	if (s->n_changed == CHANGES_FEW || strlen(path) >= RDMAD_PATH_MAX)
		s->dirty = true;
	else
		text_copy(s->changed[s->n_changed++], RDMAD_PATH_MAX, path);
}

/* Signals */

static int on_device(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	note_changed(userdata, sd_bus_message_get_path(m));
	return 0;
}

static int on_machine_changed(_unused_ sd_bus_message *m, void *userdata,
			      _unused_ sd_bus_error *error)
{
	Source *s = userdata;

	s->machine_changed = true;
	return 0;
}

static int on_objects_changed(_unused_ sd_bus_message *m, void *userdata,
			      _unused_ sd_bus_error *error)
{
	Source *s = userdata;

	s->dirty = true;
	return 0;
}

static int on_owner(_unused_ sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	forget(userdata);
	return 0;
}

/* Devices and the machine are not in the memory: their changes are heard. And whether rdmad comes
 * or goes. */
static int add_matches(Source *s)
{
	int r = sd_bus_add_match_async(s->bus, NULL,
				       "type='signal',sender='" RDMAD_BUS_NAME "',"
				       "interface='org.freedesktop.DBus.Properties',"
				       "member='PropertiesChanged',"
				       "arg0namespace='" RDMAD_INTERFACE_DEVICE "'",
				       on_device, NULL, s);

	if (r >= 0)
		r = sd_bus_add_match_async(s->bus, NULL,
					   "type='signal',sender='" RDMAD_BUS_NAME "',"
					   "interface='org.freedesktop.DBus.Properties',"
					   "member='PropertiesChanged',"
					   "arg0='" RDMAD_INTERFACE_MANAGER "'",
					   on_machine_changed, NULL, s);
	if (r >= 0)
		r = sd_bus_add_match_async(s->bus, NULL,
					   "type='signal',sender='" RDMAD_BUS_NAME "',"
					   "interface='org.freedesktop.DBus.ObjectManager'",
					   on_objects_changed, NULL, s);
	if (r >= 0)
		r = sd_bus_add_match_async(s->bus, NULL,
					   "type='signal',sender='org.freedesktop.DBus',"
					   "member='NameOwnerChanged',arg0='" RDMAD_BUS_NAME "'",
					   on_owner, NULL, s);
	return r;
}

/* Connects to the bus. The function does not wait for the bus to answer: calls wait in the
 * connection. */
static int connect_bus(Source *s)
{
	int r;

	if (s->bus && sd_bus_is_open(s->bus) > 0)
		return 0;
	disconnect(s);
	r = bus_open_address(s->address, &s->bus);
	if (r >= 0)
		r = sd_bus_attach_event(s->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = add_matches(s);
	if (r < 0)
		disconnect(s);
	return r;
}

/* The question */

/* Makes METRICS anew from the last reply with all objects. */
static int read_objects(Source *s)
{
	int r;

	metrics_free(s->metrics);
	s->metrics = metrics_new();
	r = s->metrics ? metrics_read_objects(s->metrics, s->objects) : -ENOMEM;
	drop(&s->objects);
	return r;
}

static int read_machine(Source *s)
{
	int r = sd_bus_message_rewind(s->machine, true);

	s->is_machine_new = false;
	return r < 0 ? r : metrics_read_machine(s->metrics, s->machine);
}

/* Reads the last replies into METRICS. */
static int read_replies(Source *s)
{
	bool is_new = s->objects;
	int r = 0;

	if (is_new)
		r = read_objects(s);
	if (r >= 0 && s->machine && (is_new || s->is_machine_new))
		r = read_machine(s);
	if (r >= 0 && s->counters)
		r = sd_bus_message_rewind(s->counters, true);
	if (r >= 0 && s->counters)
		r = metrics_read_counters(s->metrics, s->counters);
	else if (r >= 0) /* those of an earlier reply must not stay */
		metrics_drop_counters(s->metrics);
	return r;
}

/* Makes the state from the last replies. */
static void renew(Source *s)
{
	int r = s->is_lost ? 0 : read_replies(s);

	if (r < 0) {
		fprintf(stderr, SD_ERR "Cannot read what rdmad answers: %s\n", strerror(-r));
		forget(s);
	}
	if (s->is_lost)
		s->metrics = metrics_free(s->metrics);
	s->is_new = false;
	s->state.serial++;
	s->state.up = s->metrics != NULL;
	s->state.metrics = s->metrics;
	s->state.duration_usec = monotonic_now_usec() - s->began_usec;
}

static void answer(Source *s)
{
	SourceRequest *q;

	s->is_asking = false;
	sd_event_source_set_enabled(s->timeout, SD_EVENT_OFF);
	if (s->is_gone || s->is_lost)
		forget(s);
	if (s->is_new)
		renew(s);
	/* who asks from within DONE begins the next question */
	s->answered = steal_pointer(&s->first);
	while ((q = s->answered)) {
		s->answered = q->next;
		if (s->answered)
			s->answered->at = &s->answered;
		q->done(q->userdata, &s->state);
		free(q);
	}
}

/* Ends the call whose slot is at SLOT, and the question with the last call. */
static void end_call(Source *s, sd_bus_slot **slot)
{
	*slot = sd_bus_slot_unref(*slot);
	for (Call c = 0; c < _CALL_MAX; c++)
		if (s->calls[c])
			return;
	for (size_t i = 0; i < CHANGES_FEW; i++)
		if (s->object_calls[i].slot)
			return;
	answer(s);
}

/* Whether the error REPLY means that there is no rdmad. */
static bool is_absence(sd_bus_message *reply)
{
	const sd_bus_error *e = sd_bus_message_get_error(reply);

	return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER) || bus_error_is_end(e);
}

static void ask_all(Source *s);

static int on_snapshot(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	Source *s = userdata;
	int theirs[2];

	/* without the memory, because this user has too many for example, the objects are asked
	 * for every time */
	if (sd_bus_message_is_method_error(m, NULL))
		s->is_gone |= is_absence(m);
	else if (sd_bus_message_read(m, "hh", &theirs[0], &theirs[1]) >= 0) {
		memory = fcntl(theirs[0], F_DUPFD_CLOEXEC, 3);
		changed = fcntl(theirs[1], F_DUPFD_CLOEXEC, 3);
		if (memory >= 0 && changed >= 0 && changes_new(memory, changed, &s->changes) >= 0)
			memory = changed = -EBADF;
	}
	/* the next look finds what has changed after this one, and so after this call */
	if (s->changes && changes_look(s->changes) < 0)
		s->changes = changes_free(s->changes);
	if (!s->is_gone)
		ask_all(s);
	end_call(s, &s->calls[CALL_SNAPSHOT]);
	return 0;
}

static int on_objects(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Source *s = userdata;

	drop(&s->objects);
	s->is_lost = sd_bus_message_is_method_error(m, NULL);
	if (!s->is_lost)
		s->objects = sd_bus_message_ref(m);
	s->is_new = true;
	end_call(s, &s->calls[CALL_OBJECTS]);
	return 0;
}

static int new_call(Source *s, Call c, sd_bus_message **ret)
{
	static const struct {
		const char *interface, *method;
	} rows[_CALL_MAX] = {
		[CALL_SNAPSHOT] = {RDMAD_INTERFACE_MANAGER, "OpenSnapshot"},
		[CALL_OBJECTS] = {"org.freedesktop.DBus.ObjectManager", "GetManagedObjects"},
		[CALL_MACHINE] = {"org.freedesktop.DBus.Properties", "Get"},
		[CALL_COUNTERS] = {RDMAD_INTERFACE_MANAGER, "GetCounters"},
	};
	sd_bus_message *m;
	int r = sd_bus_message_new_method_call(s->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       rows[c].interface, rows[c].method);

	if (r < 0)
		return r;
	*ret = m;
	/* who looks at rdmad does not start it: its administrator may have stopped it */
	return sd_bus_message_set_auto_start(m, false);
}

static int on_machine(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Source *s = userdata;

	drop(&s->machine);
	if (sd_bus_message_is_method_error(m, NULL))
		s->is_gone |= is_absence(m);
	else
		s->machine = sd_bus_message_ref(m);
	s->is_new = s->is_machine_new = true;
	end_call(s, &s->calls[CALL_MACHINE]);
	return 0;
}

static int on_counters(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Source *s = userdata;

	drop(&s->counters);
	if (sd_bus_message_is_method_error(m, NULL))
		s->is_gone |= is_absence(m);
	else
		s->counters = sd_bus_message_ref(m);
	s->is_new = true;
	end_call(s, &s->calls[CALL_COUNTERS]);
	return 0;
}

static int call(Source *s, Call c)
{
	static const sd_bus_message_handler_t handlers[_CALL_MAX] = {
		[CALL_SNAPSHOT] = on_snapshot,
		[CALL_OBJECTS] = on_objects,
		[CALL_MACHINE] = on_machine,
		[CALL_COUNTERS] = on_counters,
	};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = new_call(s, c, &m);

	if (r >= 0 && c == CALL_SNAPSHOT)
		r = sd_bus_message_append(m, "a{sv}", 0);
	else if (r >= 0 && c == CALL_MACHINE)
		r = sd_bus_message_append(m, "ss", RDMAD_INTERFACE_MANAGER, "Findings");
	else if (r >= 0 && c != CALL_OBJECTS)
		r = sd_bus_message_append(m, "a{sv}", 1, "timeout-usec", "t", SOURCE_COUNTERS_USEC);
	return r < 0 ? r
		     : sd_bus_call_async(s->bus, &s->calls[c], m, handlers[c], s,
					 SOURCE_TIMEOUT_USEC);
}

/* All objects are asked for: what changes from now on is noted again. */
static void forget_changes(Source *s)
{
	s->dirty = false;
	s->n_changed = 0;
	s->objects_usec = s->began_usec;
}

/* Asks for all objects, if that is not under way. */
static void ask_all(Source *s)
{
	if (s->calls[CALL_OBJECTS])
		return;
	forget_changes(s);
	s->is_lost |= call(s, CALL_OBJECTS) < 0;
}

static int on_object(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	ObjectCall *c = userdata;
	Source *s = c->source;

	if (sd_bus_message_is_method_error(m, NULL) && is_absence(m))
		s->is_gone = true;
	else if (sd_bus_message_is_method_error(m, NULL) ||
		 metrics_read_object(s->metrics, c->path, m) < 0)
		ask_all(s); /* the object has gone, or is another one */
	s->is_new = true;
	end_call(s, &c->slot);
	return 0;
}

/* Calls GetAll() of the object at PATH. */
static int call_object(Source *s, ObjectCall *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(s->bus, &m, RDMAD_BUS_NAME, path,
					       "org.freedesktop.DBus.Properties", "GetAll");

	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "");
	if (r < 0)
		return r;
	c->source = s;
	text_copy(c->path, sizeof(c->path), path);
	return sd_bus_call_async(s->bus, &c->slot, m, on_object, c, SOURCE_TIMEOUT_USEC);
}

/* Notes which objects have changed since the last look. */
static void look(Source *s, uint64_t now)
{
	int r = s->changes ? changes_look(s->changes) : 1;
	ChangedPort ports[CHANGES_FEW];
	size_t n = r > 0 && s->changes ? changes_few(s->changes, ports) : 0;
	char path[RDMAD_PATH_MAX];

	if (r < 0)
		forget(s);
	s->dirty |= r > 0 && n == 0;
	for (size_t i = 0; i < n && !s->dirty; i++) {
		const struct rdmad_hot *was = &ports[i].was.hot, *is = &ports[i].is.hot;

		s->dirty = was->last_query != is->last_query &&
			   now - s->objects_usec >= UNSIGNALLED_USEC;
		if (changed_values_take(s->metrics, &ports[i]))
			s->is_new = true;
		else
			note_changed(s, object_path_put(is->device_index, is->port_num, path));
	}
}

/* What a question needs: a mask of 1 << Call, and this. */
#define NEEDS_CHANGED (1 << _CALL_MAX)

/* Which calls are needed. Negative: there is no connection. */
static int find_needs(Source *s, uint64_t now)
{
	int r = connect_bus(s), needs = 0;

	if (r < 0)
		return r;
	look(s, now);
	if (!s->changes) /* and then for all: on_snapshot() */
		needs |= 1 << CALL_SNAPSHOT;
	else if (s->dirty)
		needs |= 1 << CALL_OBJECTS;
	else if (s->n_changed > 0)
		needs |= NEEDS_CHANGED;
	if (s->machine_changed)
		needs |= 1 << CALL_MACHINE;
	if (now - s->counters_usec >= SOURCE_FRESH_USEC)
		needs |= 1 << CALL_COUNTERS;
	return needs;
}

static int make_calls(Source *s, unsigned int needs)
{
	int r = 0;

	for (Call c = 0; c < _CALL_MAX && r >= 0; c++)
		if (needs >> c & 1)
			r = call(s, c);
	for (size_t i = 0; needs & NEEDS_CHANGED && i < s->n_changed && r >= 0; i++)
		r = call_object(s, &s->object_calls[i], s->changed[i]);
	if (needs & NEEDS_CHANGED)
		s->n_changed = 0;
	if (needs >> CALL_OBJECTS & 1)
		forget_changes(s);
	if (needs >> CALL_MACHINE & 1)
		s->machine_changed = false;
	if (needs >> CALL_COUNTERS & 1)
		s->counters_usec = s->began_usec;
	return r;
}

static uint64_t pause_usec(const Source *s)
{
	size_t n = s->changes ? changes_count(s->changes) : 0;

	return MIN(PAUSE_USEC + n * PAUSE_PORT_USEC, USEC_PER_SEC);
}

static int on_timeout(_unused_ sd_event_source *e, _unused_ uint64_t usec, void *userdata)
{
	Source *s = userdata;

	disconnect(s);
	answer(s);
	return 0;
}

static int on_begin(sd_event_source *e, _unused_ uint64_t usec, void *userdata)
{
	Source *s = userdata;
	uint64_t now = monotonic_now_usec();
	int needs = find_needs(s, now);
	uint64_t begins = s->began_usec + pause_usec(s);

	if (needs > 0 && now < begins) {
		sd_event_source_set_time(e, begins);
		return sd_event_source_set_enabled(e, SD_EVENT_ONESHOT);
	}
	s->is_gone = false;
	if (needs > 0)
		s->began_usec = now;
	if (needs < 0 || make_calls(s, (unsigned int)needs) < 0)
		disconnect(s);
	if (needs <= 0 || !s->bus) {
		answer(s);
		return 0;
	}
	s->is_asking = true;
	sd_event_source_set_time_relative(s->timeout, SOURCE_TIMEOUT_USEC);
	sd_event_source_set_enabled(s->timeout, SD_EVENT_ONESHOT);
	return 0;
}

/* Begins a question, unless one is under way: its answer is for all. */
static void begin_soon(Source *s)
{
	if (s->is_asking)
		return;
	sd_event_source_set_time(s->begin, 0);
	sd_event_source_set_enabled(s->begin, SD_EVENT_ONESHOT);
}

int source_ask(Source *s, SourceDone done, void *userdata, SourceRequest **ret)
{
	SourceRequest *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	*q = (SourceRequest){s, s->first, &s->first, done, userdata};
	if (q->next)
		q->next->at = &q->next;
	s->first = q;
	begin_soon(s);
	*ret = q;
	return 0;
}

void source_request_free(SourceRequest *q)
{
	if (!q)
		return;
	*q->at = q->next;
	if (q->next)
		q->next->at = q->at;
	free(q);
}

int source_new(sd_event *event, const char *address, Source **ret)
{
	_cleanup_(source_free_pointer) Source *s = calloc(1, sizeof(Source));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(event);
	s->is_new = s->dirty = s->is_lost = true;
	if (address) {
		s->address = strdup(address);
		if (!s->address)
			return -ENOMEM;
	}
	/* for never: a question sets them */
	r = sd_event_add_time(event, &s->begin, CLOCK_MONOTONIC, UINT64_MAX, 1, on_begin, s);
	if (r >= 0)
		r = sd_event_add_time(event, &s->timeout, CLOCK_MONOTONIC, UINT64_MAX,
				      USEC_PER_MSEC, on_timeout, s);
	if (r < 0)
		return r;
	*ret = steal_pointer(&s);
	return 0;
}

void source_free(Source *s)
{
	if (!s)
		return;
	while (s->first)
		source_request_free(s->first);
	disconnect(s);
	metrics_free(s->metrics);
	sd_event_source_disable_unref(s->begin);
	sd_event_source_disable_unref(s->timeout);
	sd_event_unref(s->event);
	free(s->address);
	free(s);
}
