/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "follow.h"

#include <stdarg.h>

/* How often all objects are read until no signal comes meanwhile. */
#define ATTEMPTS 10

static void diverges(Follower *o, const char *format, ...) _printf_(2, 3);

static void diverges(Follower *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(o->report, format, args);
	va_end(args);
	o->n_divergences++;
}

/* Finds the port with this path, of a device that exists. */
static WorldPort *find_port(Follower *o, const char *path)
{
	unsigned int index, port;
	int end = 0;

	if (sscanf(path, RDMAD_DEVICE_PREFIX "/%u/port/%u%n", &index, &port, &end) != 2 ||
	    path[end])
		return NULL;
	for (unsigned int i = 0; i < WORLD_SLOTS; i++)
		if (o->w->slots[i].exists && o->w->slots[i].index == index && port >= 1 &&
		    port <= slot_kinds[i].n_ports)
			return &o->w->slots[i].ports[port - 1];
	return NULL;
}

static bool carries(const char *changed, Field f)
{
	char name[40];

	snprintf(name, sizeof(name), ",%s,", field_property(f));
	return strstr(changed, name);
}

/* Whether the published fields of a group had these values in T. Compares only the fields in
 * CHANGED, or all fields if CHANGED is NULL. */
static bool fits(const Truth *t, int group, const Object *object, const char *changed)
{
	for (Field f = 0; f < _FIELD_MAX; f++) {
		const char *text;

		if (field_group(f) != group || !(t->mask >> f & 1) ||
		    (changed && !carries(changed, f)))
			continue;
		text = object_get(object, field_property(f));
		if (!text || !streq(t->text[f], text))
			return false;
	}
	return true;
}

static bool same(const Truth *a, const Truth *b, int group)
{
	for (Field f = 0; f < _FIELD_MAX; f++)
		if (field_group(f) == group && (a->mask & b->mask) >> f & 1 &&
		    !streq(a->text[f], b->text[f]))
			return false;
	return true;
}

static void add_sample(Staleness *s, uint64_t usec)
{
	s->usec = reallocarray(s->usec, s->n + 1, sizeof(*s->usec));
	assert_non_null(s->usec);
	s->usec[s->n++] = (uint32_t)MIN(usec, (uint64_t)UINT32_MAX);
}

static bool any_fault(const World *w)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++)
		for (unsigned int n = 0; n < WORLD_PORTS_MAX; n++)
			if (w->slots[i].ports[n].fail || w->slots[i].ports[n].hang ||
			    w->slots[i].ports[n].delay || w->slots[i].ports[n].hiccup)
				return true;
	return false;
}

/* Measures how long it took until the entries of the history up to TO were published. */
static void measure(Follower *o, WorldPort *p, int group, size_t to)
{
	uint64_t now = fixture_now_usec();

	for (size_t i = MAX(p->measured[group], (size_t)1); i <= to; i++) {
		const Truth *t = &p->history[i];

		if (t->told && !t->slow && !p->untold && !same(t, t - 1, group))
			add_sample(any_fault(o->w)  ? &o->faulty
				   : t->from_netdev ? &o->netdev
						    : &o->verbs,
				   now - t->usec);
	}
	p->measured[group] = MAX(p->measured[group], to + 1);
}

static void print_group(Follower *o, int group, const Object *object, const char *changed)
{
	for (Field f = 0; f < _FIELD_MAX; f++)
		if (field_group(f) == group && carries(changed, f))
			fprintf(o->report, " %s=%s", field_property(f),
				object_get(object, field_property(f)));
	fprintf(o->report, "\n");
}

/* Checks that the values of one group in a signal were all true at one moment, and that this moment
 * is not before that of the values which were published last. */
static void check_group(Follower *o, WorldPort *p, int group, const Object *object,
			const char *changed)
{
	bool any = false, followed = false;
	size_t i = p->cursor[group];

	for (Field f = 0; f < _FIELD_MAX; f++) {
		any |= field_group(f) == group && carries(changed, f);
		followed |= field_group(f) == group && p->history[0].mask >> f & 1;
	}
	if (!any || !followed)
		return;
	while (i < p->n_history && !fits(&p->history[i], group, object, changed))
		i++;
	if (i < p->n_history) {
		p->cursor[group] = i;
		/* One query may have found more changes than this signal carries. */
		for (size_t k = i; k < p->n_history; k++)
			if (fits(&p->history[k], group, object, NULL)) {
				i = k;
				break;
			}
		measure(o, p, group, i);
		return;
	}
	for (i = 0; i < p->cursor[group] && !fits(&p->history[i], group, object, changed);)
		i++;
	diverges(o, "%s (%s): published %s:", object->path,
		 object_get(object, "DeviceName") ? object_get(object, "DeviceName") : "?",
		 i < p->cursor[group] ? "older values than before" : "what never was");
	print_group(o, group, object, changed);
}

static uint64_t get_number(const Object *object, const char *name)
{
	const char *text = object_get(object, name);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* A port has no values yet if its first query failed. */
static bool is_known(const Object *object)
{
	const char *when = object_get(object, "LastQueryTimestamp");

	return !when || !streq(when, "0");
}

/* Begins to follow a port whose object is new, or was not known here before. */
static void begin_port(WorldPort *p, const Object *object)
{
	p->sm_generation = get_number(object, "SmGeneration");
	p->n_reconfigured = 0;
	p->counted = (PortCount){};
}

static void check_values(Follower *o, const Object *object, const char *changed, bool added)
{
	WorldPort *p = find_port(o, object->path);
	const char *state = object_get(object, "State");

	if (!p || p->n_history == 0)
		return;
	if (added && carries(changed, FIELD_STATE)) {
		p->last_state[0] = '\0';
		begin_port(p, object);
	}
	if (added && !is_known(object))
		return;
	for (int group = 0; group < _GROUP_MAX; group++)
		check_group(o, p, group, object, changed);
	/* from now on each transition must be signalled */
	if (state && carries(changed, FIELD_STATE) && !p->last_state[0])
		snprintf(p->last_state, sizeof(p->last_state), "%s", state);
}

static void check_state_changed(Follower *o, sd_bus_message *m)
{
	const char *path = sd_bus_message_get_path(m), *is, *was, *reason, *property;
	const Object *object = objects_find(&o->objects, path);
	WorldPort *p = find_port(o, path);

	sd_bus_message_rewind(m, true);
	if (!p || !object || sd_bus_message_read(m, "sss", &is, &was, &reason) < 0)
		return;
	property = object_get(object, "State");
	if (!streq(was, p->last_state))
		diverges(o, "%s: StateChanged from %s to %s (%s), but it was %s\n", path, was, is,
			 reason, p->last_state);
	if (!property || !streq(property, is))
		diverges(o, "%s: StateChanged to %s (%s), but State is %s\n", path, is, reason,
			 property ? property : "invalidated");
	snprintf(p->last_state, sizeof(p->last_state), "%s", is);
}

static void count_reconfigured(Follower *o, sd_bus_message *m)
{
	WorldPort *p = find_port(o, sd_bus_message_get_path(m));

	if (p)
		p->n_reconfigured++;
}

static void follow_signal(Follower *o, sd_bus_message *m)
{
	const char *member = sd_bus_message_get_member(m);
	_cleanup_free_ char *changed = NULL;
	const Object *object;

	o->n_signals++;
	if (streq(sd_bus_message_get_path(m), RDMAD_ROOT_PATH) &&
	    streq(member, "PropertiesChanged"))
		return;
	if (streq(member, "StateChanged")) {
		check_state_changed(o, m);
		return;
	}
	if (streq(member, "SubnetReconfigured")) {
		count_reconfigured(o, m);
		return;
	}
	object = objects_follow(&o->objects, m, &changed);
	if (object)
		check_values(o, object, changed, streq(member, "InterfacesAdded"));
}

static void take_in(Follower *o)
{
	while (sd_bus_process(o->f->bus, NULL) > 0)
		;
	for (size_t i = 0; i < o->f->n_signals; i++)
		follow_signal(o, o->f->signals[i]);
	fixture_forget(o->f);
}

void follow(Follower *o, uint64_t wait_usec)
{
	take_in(o);
	if (wait_usec > 0 && sd_bus_wait(o->f->bus, wait_usec) > 0)
		take_in(o);
}

void follow_begin(Follower *o)
{
	o->f->with_health = true; /* what is judged later is signalled like the rest */
	fixture_barrier(o->f);
	fixture_forget(o->f);
	objects_done(&o->objects);
	assert_true(objects_read(o->f, &o->objects));
	take_in(o);
	for (size_t i = 0; i < o->objects.n; i++) {
		WorldPort *p = find_port(o, o->objects.objects[i].path);

		if (!p)
			continue;
		/* The first state that is known is no transition. */
		snprintf(p->last_state, sizeof(p->last_state), "%s",
			 is_known(&o->objects.objects[i])
				 ? object_get(&o->objects.objects[i], "State")
				 : "");
		begin_port(p, &o->objects.objects[i]);
	}
}

static void take_over(Follower *o, Objects *now)
{
	objects_done(&o->objects);
	o->objects = *now;
	*now = (Objects){};
}

/* Whether a port has made a transition that was not signalled. TEXT says which port and transition.
 */
static bool is_untold(Follower *o, char *text, size_t size)
{
	for (size_t i = 0; i < o->objects.n; i++) {
		const Object *object = &o->objects.objects[i];
		const WorldPort *p = find_port(o, object->path);
		const char *state = object_get(object, "State");
		const char *reconfigured = object_get(object, "SmGeneration");

		if (p && state && p->last_state[0] && !streq(state, p->last_state)) {
			snprintf(text, size, "%s: StateChanged ended with %s, but State is %s",
				 object->path, p->last_state, state);
			return true;
		}
		if (p && reconfigured &&
		    get_number(object, "SmGeneration") != p->sm_generation + p->n_reconfigured) {
			snprintf(text, size,
				 "%s: SmGeneration went from %llu to %s, with %llu "
				 "SubnetReconfigured",
				 object->path, (unsigned long long)p->sm_generation, reconfigured,
				 (unsigned long long)p->n_reconfigured);
			return true;
		}
	}
	return false;
}

/* Reads all objects. If no signal came meanwhile, what was read is of the same moment as what the
 * signals have left, and takes its place. No signal tells of a generation alone. */
static void read_again(Follower *o)
{
	_cleanup_(objects_done) Objects now = {};
	size_t before = o->n_signals;

	if (!objects_read(o->f, &now))
		return;
	take_in(o);
	if (o->n_signals == before)
		take_over(o, &now);
}

/* A property and the signal after it are sent together, but may be received one after the other. */
static void check_transitions(Follower *o)
{
	char text[200];

	for (unsigned int attempt = 0; is_untold(o, text, sizeof(text)); attempt++) {
		if (attempt == ATTEMPTS) {
			diverges(o, "%s\n", text);
			return;
		}
		read_again(o);
	}
}

static void describe(const Object *object, Field first, Field last, char *text, size_t size)
{
	size_t n = 0;

	for (Field f = first; f <= last && n < size; f++) {
		const char *value = object_get(object, field_property(f));

		n += (size_t)snprintf(text + n, size - n, "%s ", value ? value : "");
	}
}

/* Checks that the generations have counted what is not the same as at the last quiet point. */
static void check_generations(Follower *o, const Object *object, PortCount *was)
{
	const char *state = object_get(object, "State");
	PortCount is = {.generation = get_number(object, "ConfigGeneration"),
			.sm_generation = get_number(object, "SmGeneration")};

	describe(object, 0, _FIELD_MAX - 1, is.values, sizeof(is.values));
	if (was->values[0] && !streq(was->values, is.values) && was->generation == is.generation)
		diverges(o, "%s: was %s, is %s, with the same ConfigGeneration\n", object->path,
			 was->values, is.values);
	memcpy(is.subnet, was->subnet, sizeof(is.subnet));
	if (object_get(object, "SmGeneration") && state &&
	    (streq(state, "armed") || startswith(state, "active")))
		describe(object, FIELD_LID, FIELD_PREFIX, is.subnet, sizeof(is.subnet));
	if (was->subnet[0] && !streq(was->subnet, is.subnet) &&
	    was->sm_generation == is.sm_generation)
		diverges(o, "%s: reconfigured from %s to %s, with the same SmGeneration\n",
			 object->path, was->subnet, is.subnet);
	*was = is;
}

/* Compares what the signals have left with what is read. If both are of the same moment, what was
 * read is taken over: values that were invalidated, whose next change must be signalled again, and
 * the generations. Returns whether that was possible: signals may come without end. */
static bool check_objects(Follower *o)
{
	for (unsigned int attempt = 0; attempt < ATTEMPTS; attempt++) {
		_cleanup_(objects_done) Objects now = {};
		_cleanup_free_ char *text = NULL;
		size_t size, before = o->n_signals;
		FILE *out;
		int n;

		if (!objects_read(o->f, &now)) {
			diverges(o, "rdmad does not answer\n");
			return false;
		}
		take_in(o);
		out = open_memstream(&text, &size);
		assert_non_null(out);
		n = objects_differ(&o->objects, &now, out);
		fclose(out);
		if (n == 0 && o->n_signals == before) {
			take_over(o, &now);
			return true;
		}
		/* The answer comes in order with the signals, but further signals may have come
		 * after it: of a port, say, that answers late now and then on a busy machine. */
		if (n > 0 && attempt >= 2 && (o->n_signals == before || attempt + 1 == ATTEMPTS)) {
			fputs(text, o->report);
			o->n_divergences += n;
			return false;
		}
	}
	return false;
}

void follow_check(Follower *o)
{
	bool settled = check_objects(o);

	check_transitions(o);
	for (size_t i = 0; i < o->objects.n && settled; i++) {
		WorldPort *p = find_port(o, o->objects.objects[i].path);

		if (p)
			check_generations(o, &o->objects.objects[i], &p->counted);
	}
}

bool follow_is_waiting(const Follower *o, unsigned int slot, unsigned int port)
{
	const WorldPort *p = &o->w->slots[slot].ports[port - 1];
	const Truth *last = &p->history[p->n_history - 1];
	const Object *object;
	char path[RDMAD_PATH_MAX];

	if (!last->told || last->slow || p->untold)
		return false;
	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", o->w->slots[slot].index,
		 port);
	object = objects_find(&o->objects, path);
	return !object || !fits(last, p->infiniband ? GROUP_VERBS : GROUP_MTU, object, NULL);
}

void follow_give_up(Follower *o)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++)
		for (unsigned int n = 0; n < slot_kinds[i].n_ports; n++)
			for (int group = 0; group < _GROUP_MAX; group++)
				o->w->slots[i].ports[n].measured[group] =
					o->w->slots[i].ports[n].n_history;
}
