/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "entries.h"

#include "client-objects.h"
#include "counter.h"
#include "unavailable.h"
#include "util.h"

/* Boxed types, which share one copy */

static void counter_clear(gpointer data)
{
	RdmadCounter *c = data;

	g_free(c->group);
	g_free(c->name);
	g_free(c->unit);
	g_free(c->condition);
	g_free(c->reason);
	g_variant_unref(c->details);
}

static void port_counters_clear(gpointer data)
{
	RdmadPortCounters *c = data;

	g_object_unref(c->port);
	g_ptr_array_unref(c->counters);
	g_free(c->reason);
	g_free(c->message);
	g_variant_unref(c->details);
}

static void transition_clear(gpointer data)
{
	RdmadTransition *t = data;

	g_free(t->old_state);
	g_free(t->new_state);
	g_free(t->reason);
	g_variant_unref(t->details);
}

static void history_clear(gpointer data)
{
	RdmadHistory *h = data;

	g_free(h->name);
	g_clear_object(&h->port);
	g_free(h->state);
	g_ptr_array_unref(h->transitions);
	g_variant_unref(h->details);
}

static void match_clear(gpointer data)
{
	RdmadPortMatch *m = data;

	g_object_unref(m->port);
	g_free(m->by);
	g_free(m->netdev);
	g_variant_unref(m->details);
}

static void gid_clear(gpointer data)
{
	RdmadGid *g = data;

	g_object_unref(g->port);
	g_free(g->gid);
	g_free(g->type);
	g_free(g->netdev);
	g_free(g->address);
	g_variant_unref(g->details);
}

#define BOXED(Type, name, clear)                                                                   \
	Type *name##_ref(Type *self)                                                               \
	{                                                                                          \
		return g_atomic_rc_box_acquire(self);                                              \
	}                                                                                          \
                                                                                                   \
	void name##_unref(Type *self)                                                              \
	{                                                                                          \
		if (self)                                                                          \
			g_atomic_rc_box_release_full(self, clear);                                 \
	}                                                                                          \
                                                                                                   \
	G_DEFINE_BOXED_TYPE(Type, name, name##_ref, name##_unref)

BOXED(RdmadCounter, rdmad_counter, counter_clear)
BOXED(RdmadPortCounters, rdmad_port_counters, port_counters_clear)
BOXED(RdmadTransition, rdmad_transition, transition_clear)
BOXED(RdmadHistory, rdmad_history, history_clear)
BOXED(RdmadPortMatch, rdmad_port_match, match_clear)
BOXED(RdmadGid, rdmad_gid, gid_clear)

const char *rdmad_counter_why_unavailable(const RdmadCounter *self)
{
	g_return_val_if_fail(self, NULL);
	return self->available ? NULL : unavailable_text(self->reason);
}

/* Reading an answer */

static char *text_at(GVariant *entry, gsize i)
{
	char *text;

	g_variant_get_child(entry, i, "s", &text);
	return text;
}

static guint64 number_at(GVariant *entry, gsize i)
{
	guint64 number;

	g_variant_get_child(entry, i, "t", &number);
	return number;
}

static RdmadTransition *read_transition(GVariant *entry)
{
	RdmadTransition *t = g_atomic_rc_box_new0(RdmadTransition);

	t->timestamp = number_at(entry, 0);
	t->monotonic = number_at(entry, 1);
	t->old_state = text_at(entry, 2);
	t->new_state = text_at(entry, 3);
	t->reason = text_at(entry, 4);
	t->details = g_variant_get_child_value(entry, 5);
	g_variant_lookup(t->details, "Rate", "t", &t->rate);
	return t;
}

static GPtrArray *read_transitions(GVariant *entries)
{
	GPtrArray *transitions =
		g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_transition_unref);

	for (gsize i = 0; i < g_variant_n_children(entries); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);

		g_ptr_array_add(transitions, read_transition(entry));
	}
	return transitions;
}

gpointer entries_take_transitions(const Answer *a, _unused_ GError **error)
{
	g_autoptr(GVariant) entries = g_variant_get_child_value(a->body, 0);

	return read_transitions(entries);
}

/* The transitions in the dictionary DETAILS; none if it has none. */
static GPtrArray *read_transitions_of(GVariant *details)
{
	g_autoptr(GVariant) entries = g_variant_lookup_value(details, "Transitions", NULL);

	if (entries && g_variant_is_of_type(entries, G_VARIANT_TYPE("a" ENTRY_TRANSITION)))
		return read_transitions(entries);
	return g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_transition_unref);
}

static RdmadHistory *read_history(RdmadClient *c, GVariant *entry)
{
	RdmadHistory *h = g_atomic_rc_box_new0(RdmadHistory);
	const char *path;
	RdmadPort *port;

	h->name = text_at(entry, 0);
	h->details = g_variant_get_child_value(entry, 1);
	g_variant_lookup(h->details, "Present", "b", &h->present);
	if (g_variant_lookup(h->details, "Port", "&o", &path)) {
		port = entries_find_port(c, path, NULL);
		h->port = port ? g_object_ref(port) : NULL;
	}
	if (!g_variant_lookup(h->details, "State", "s", &h->state))
		h->state = g_strdup("");
	g_variant_lookup(h->details, "StateChangeTimestamp", "t", &h->state_change_timestamp);
	g_variant_lookup(h->details, "LinkDownCount", "t", &h->link_down_count);
	g_variant_lookup(h->details, "Since", "t", &h->since);
	h->transitions = read_transitions_of(h->details);
	return h;
}

GPtrArray *entries_histories(RdmadClient *c, GVariant *entries)
{
	GPtrArray *histories = g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_history_unref);

	for (gsize i = 0; i < g_variant_n_children(entries); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);

		g_ptr_array_add(histories, read_history(c, entry));
	}
	return histories;
}

RdmadPort *entries_find_port(RdmadClient *c, const char *path, GError **error)
{
	RdmadObject *port = NULL;
	Place place;

	if (place_parse(path, &place))
		port = client_get_object(c, place);
	if (port && RDMAD_IS_PORT(port))
		return RDMAD_PORT(port);
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND,
		    "The port %s is not known to the client", path);
	return NULL;
}

static RdmadPortMatch *read_match(RdmadClient *c, GVariant *entry, GError **error)
{
	g_autoptr(GVariant) details = g_variant_get_child_value(entry, 1);
	RdmadPortMatch *m;
	RdmadPort *port;
	const char *path;

	g_variant_get_child(entry, 0, "&o", &path);
	port = entries_find_port(c, path, error);
	if (!port)
		return NULL;
	m = g_atomic_rc_box_new0(RdmadPortMatch);
	m->port = g_object_ref(port);
	m->details = g_variant_ref(details);
	if (!g_variant_lookup(details, "By", "s", &m->by))
		m->by = g_strdup("");
	m->has_gid = g_variant_lookup(details, "GidIndex", "u", &m->gid_index);
	g_variant_lookup(details, "Netdev", "s", &m->netdev);
	return m;
}

GPtrArray *entries_matches(RdmadClient *c, GVariant *entries, GError **error)
{
	g_autoptr(GPtrArray) matches =
		g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_port_match_unref);

	for (gsize i = 0; i < g_variant_n_children(entries); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
		RdmadPortMatch *m = read_match(c, entry, error);

		if (!m)
			return NULL;
		g_ptr_array_add(matches, m);
	}
	return g_steal_pointer(&matches);
}

/* What DETAILS of a port say of its counter I: its condition, and why it has no value. */
static void read_condition(GVariant *details, guint i, RdmadCounter *c)
{
	g_autoptr(GVariant) missing =
		g_variant_lookup_value(details, "Missing", G_VARIANT_TYPE("a{us}"));
	g_autoptr(GVariant) saturated =
		g_variant_lookup_value(details, "Saturated", G_VARIANT_TYPE("au"));
	CounterCondition condition = COUNTER_VALID;

	for (gsize k = 0; saturated && k < g_variant_n_children(saturated); k++) {
		guint which;

		g_variant_get_child(saturated, k, "u", &which);
		if (which == i)
			condition = COUNTER_SATURATED;
	}
	for (gsize k = 0; missing && k < g_variant_n_children(missing) && !c->reason; k++) {
		const char *reason;
		guint which;

		g_variant_get_child(missing, k, "{u&s}", &which, &reason);
		if (which != i)
			continue;
		condition = COUNTER_MISSING;
		c->reason = g_strdup(reason);
	}
	if (!c->reason)
		c->reason = g_strdup("");
	c->condition = g_strdup(counter_condition_name(condition));
	c->available = condition != COUNTER_MISSING;
}

/* SET is NULL if ENTRY has no values. */
static RdmadPortCounters *read_port_counters(RdmadPort *port, GVariant *set, GVariant *entry)
{
	RdmadPortCounters *p = g_atomic_rc_box_new0(RdmadPortCounters);
	g_autoptr(GVariant) values = g_variant_get_child_value(entry, 2);

	p->port = g_object_ref(port);
	p->counters = g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_counter_unref);
	p->timestamp = number_at(entry, 3);
	p->monotonic = number_at(entry, 4);
	p->details = g_variant_get_child_value(entry, 5);
	g_variant_lookup(p->details, "Error", "s", &p->reason);
	g_variant_lookup(p->details, "ErrorMessage", "s", &p->message);
	for (guint i = 0; i < g_variant_n_children(values); i++) {
		RdmadCounter *c = g_atomic_rc_box_new0(RdmadCounter);

		for (gsize k = 0; k < 3; k++) {
			g_autoptr(GVariant) texts = g_variant_get_child_value(set, k);

			*(char **[]){&c->group, &c->name, &c->unit}[k] = text_at(texts, i);
		}
		c->value = number_at(values, i);
		c->details = g_variant_get_child_value(set, 3);
		read_condition(p->details, i, c);
		g_ptr_array_add(p->counters, c);
	}
	return p;
}

/* The set of SETS that ENTRY has, NULL if it has no values. False: it does not fit. */
static gboolean find_set(GVariant *sets, GVariant *entry, GVariant **ret)
{
	g_autoptr(GVariant) values = g_variant_get_child_value(entry, 2);
	gsize n = g_variant_n_children(values);
	guint which;

	g_variant_get_child(entry, 1, "u", &which);
	*ret = NULL;
	if (n == 0)
		return TRUE;
	if (which >= g_variant_n_children(sets))
		return FALSE;
	*ret = g_variant_get_child_value(sets, which);
	for (gsize k = 0; k < 3; k++) {
		g_autoptr(GVariant) texts = g_variant_get_child_value(*ret, k);

		if (g_variant_n_children(texts) != n)
			return FALSE;
	}
	return TRUE;
}

GPtrArray *entries_port_counters(RdmadClient *c, GVariant *sets, GVariant *ports, GError **error)
{
	g_autoptr(GPtrArray) all =
		g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_port_counters_unref);

	for (gsize i = 0; i < g_variant_n_children(ports); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(ports, i), set = NULL;
		const char *path;
		RdmadPort *port;

		if (!find_set(sets, entry, &set)) {
			g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
				    "The values of counters do not fit their names");
			return NULL;
		}
		g_variant_get_child(entry, 0, "&o", &path);
		port = entries_find_port(c, path, NULL);
		if (port)
			g_ptr_array_add(all, read_port_counters(port, set, entry));
	}
	return g_steal_pointer(&all);
}
