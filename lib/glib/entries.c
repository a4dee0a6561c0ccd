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

static RdmadCounter *read_counter(GVariant *entry)
{
	RdmadCounter *c = g_atomic_rc_box_new0(RdmadCounter);

	c->group = text_at(entry, 0);
	c->name = text_at(entry, 1);
	c->value = number_at(entry, 2);
	c->unit = text_at(entry, 3);
	c->condition = text_at(entry, 4);
	c->reason = text_at(entry, 5);
	c->details = g_variant_get_child_value(entry, 6);
	c->available = !g_str_equal(c->condition, counter_condition_name(COUNTER_MISSING));
	return c;
}

GPtrArray *entries_counters(GVariant *entries)
{
	GPtrArray *counters = g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_counter_unref);

	for (gsize i = 0; i < g_variant_n_children(entries); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);

		g_ptr_array_add(counters, read_counter(entry));
	}
	return counters;
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

static RdmadPortCounters *read_port_counters(RdmadPort *port, GVariant *entry)
{
	RdmadPortCounters *c = g_atomic_rc_box_new0(RdmadPortCounters);
	g_autoptr(GVariant) counters = g_variant_get_child_value(entry, 1);

	c->port = g_object_ref(port);
	c->counters = entries_counters(counters);
	c->timestamp = number_at(entry, 2);
	c->monotonic = number_at(entry, 3);
	c->details = g_variant_get_child_value(entry, 4);
	g_variant_lookup(c->details, "Error", "s", &c->reason);
	g_variant_lookup(c->details, "ErrorMessage", "s", &c->message);
	return c;
}

GPtrArray *entries_port_counters(RdmadClient *c, GVariant *entries)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_port_counters_unref);

	for (gsize i = 0; i < g_variant_n_children(entries); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
		const char *path;
		RdmadPort *port;

		g_variant_get_child(entry, 0, "&o", &path);
		port = entries_find_port(c, path, NULL);
		if (port)
			g_ptr_array_add(all, read_port_counters(port, entry));
	}
	return all;
}
