/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-history.h"

#include <inttypes.h>

#include "bus-options.h"
#include "bus-property.h"
#include "bus-shown.h"
#include "clock.h"
#include "lookup.h"
#include "names.h"

/* The types between the brackets of BUS_HISTORY */
#define HISTORY_TYPES "sa{sv}"

static void put_transition(BusWriter *w, const Transition *t)
{
	AttrText from, to;
	PublishedTransition published = history_published(t, from, to);

	bus_put_entry(w, &transition_layout, &published);
}

void bus_put_transitions(BusWriter *w, const History *h)
{
	bus_writer_open(w, 'a', BUS_TRANSITION);
	for (size_t i = 0; i < h->n; i++)
		put_transition(w, history_entry(h, i));
	bus_writer_close(w);
}

/* GetHistory() */

int bus_port_history_read(sd_bus_message *call, _unused_ LongReplyQuestion *q, sd_bus_error *error)
{
	return bus_read_options(call, "GetHistory", NULL, 0, error);
}

int bus_port_history_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   _unused_ sd_bus_error *error)
{
	Device *d;
	Port *p;

	if (lookup_path(c, q->path, &d, &p) < 0 || !p)
		return 0;
	bus_put_transitions(w, &p->history);
	return 1;
}

/* The history of the port called NAME. One that is there and has not been read yet has none: then
 * what was kept of its name is meant. */
static int find_history(const Cache *c, const char *name, const History **ret)
{
	const KeptHistory *kept;
	Port *p = NULL;
	int r = lookup_port(c, name, &p), r_kept = -ENOENT;
	bool is_there = r == 0 && p->published;

	if (r < 0 && r != -ENOENT)
		return r;
	if (!is_there || p->history.n == 0)
		r_kept = history_find(&c->histories, name, &kept);
	if (r_kept == 0)
		*ret = &kept->history;
	else if (is_there)
		*ret = &p->history;
	return is_there ? 0 : r_kept;
}

int bus_history_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error)
{
	int r = sd_bus_message_read_basic(call, 's', &q->text);

	return r < 0 ? r : bus_read_options(call, "GetHistory", NULL, 0, error);
}

int bus_history_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error)
{
	const History *h;
	int r = find_history(c, q->text, &h);

	if (r == -EEXIST)
		return sd_bus_error_setf(error, RDMAD_ERROR_AMBIGUOUS,
					 "More than one port is meant by \"%s\"",
					 BUS_SHOW(q->text));
	if (r == -EINVAL)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"%s\" is no name of a port", BUS_SHOW(q->text));
	if (r < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND,
					 "No port \"%s\", and no history of one",
					 BUS_SHOW(q->text));
	bus_put_transitions(w, h);
	return 1;
}

/* ListHistories() */

/* Its options. A call that waits keeps them as the text that write_options() writes. */
typedef struct Options {
	int transitions;
	bool link_downs;
	uint64_t within_usec; /* of LINK_DOWNS */
} Options;

#define OPTIONS_FORMAT "%d %d %" PRIu64

int bus_histories_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error)
{
	/* valid until the next call: who needs it for longer makes a copy */
	static char text[32];
	uint64_t within = 0;
	int transitions = false, r;
	const BusOption options[] = {{"transitions", 'b', &transitions},
				     {"link-downs-within-usec", 't', &within},
				     {"port", 's', &q->text_2}};

	r = bus_read_options(call, "ListHistories", options, ARRAY_SIZE(options), error);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), OPTIONS_FORMAT, transitions, within > 0, within);
	q->text = text;
	return 0;
}

static Options options_of(const LongReplyQuestion *q)
{
	Options o = {};
	int link_downs = 0;

	(void)sscanf(q->text, "%d %d %" SCNu64, &o.transitions, &link_downs, &o.within_usec);
	o.link_downs = link_downs;
	return o;
}

static void put_link_downs(BusWriter *w, const History *h, uint64_t within_usec)
{
	uint64_t now = realtime_now_usec();
	size_t i = history_link_downs_since(h, now > within_usec ? now - within_usec : 0);

	bus_writer_open_property(w, "LinkDowns", "at");
	bus_writer_open(w, 'a', "t");
	for (; i < h->n_downs; i++)
		bus_writer_put_u64(w, history_link_down(h, i));
	bus_writer_close(w);
	bus_writer_close_property(w);
}

/* The entry of H, the history of what is called NAME and IS_PRESENT; a port is P, if it is there.
 */
static void put_history(BusWriter *w, const char *name, bool is_present, const Port *p,
			const History *h, const Options *o)
{
	const Transition *last = history_last(h);
	char path[RDMAD_PATH_MAX];
	AttrText state;

	bus_writer_open(w, 'r', HISTORY_TYPES);
	bus_writer_put_text(w, 's', name);
	bus_writer_open(w, 'a', "{sv}");
	bus_writer_add_bool(w, "Present", is_present);
	if (p) {
		bus_writer_open_property(w, "Port", "o");
		bus_writer_put_text(w, 'o', port_path(p, path));
		bus_writer_close_property(w);
	}
	if (last) {
		bus_writer_add_text(w, "State", history_state_name(last->to, state));
		bus_writer_add_u64(w, "StateChangeTimestamp", last->realtime_usec);
		bus_writer_add_u64(w, "LinkDownCount", h->link_downs);
		bus_writer_add_u64(w, "Since", h->since_usec);
	}
	if (o->link_downs)
		put_link_downs(w, h, o->within_usec);
	if (o->transitions) {
		bus_writer_open_property(w, "Transitions", "a" BUS_TRANSITION);
		bus_put_transitions(w, h);
		bus_writer_close_property(w);
		bus_writer_open_property(w, "Findings", past_finding_table_signature);
		bus_put_entries(w, &past_finding_layout, h->findings.items, h->findings.n);
		bus_writer_close_property(w);
		bus_writer_open_property(w, "Cables", past_cable_table_signature);
		bus_put_entries(w, &past_cable_layout, h->cables.items, h->cables.n);
		bus_writer_close_property(w);
	}
	bus_writer_close(w);
	bus_writer_close(w);
}

/* The port that has the name of K, if there is one: it has not been read yet. */
static const Port *port_of(const Cache *c, const KeptHistory *k)
{
	const Port *p = device_port_called(lookup_device(c, k->device), k->port);

	return p && p->published ? p : NULL;
}

/* Whether the port of K is there, or the device if K is that of one without ports. */
static bool is_present(const Cache *c, const KeptHistory *k)
{
	if (k->port != PORT_NUMBER_NONE)
		return port_of(c, k);
	return streq(k->device, HISTORY_MACHINE) || lookup_device(c, k->device);
}

static void kept_name(const KeptHistory *k, char ret[80])
{
	int n = snprintf(ret, 80, "%s", k->device);

	if (k->port != PORT_NUMBER_NONE)
		snprintf(ret + n, 80 - (size_t)n, "/%u", k->port);
}

/* Whether Q asks about the port called NAME. */
static bool is_asked(const LongReplyQuestion *q, const char *name)
{
	return !q->text_2 || streq(q->text_2, name);
}

int bus_histories_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			_unused_ sd_bus_error *error)
{
	Options o = options_of(q);
	char name[80];

	bus_writer_open(w, 'a', BUS_HISTORY);
	for (size_t i = 0; i < c->n_devices && bus_writer_error(w) >= 0; i++)
		for (uint32_t n = 0; n < c->devices[i]->n_ports; n++) {
			const Port *p = c->devices[i]->ports[n];

			if (p->published && p->history.n > 0 && is_asked(q, port_name(p, name)))
				put_history(w, name, true, p, &p->history, &o);
		}
	for (const KeptHistory *k = c->histories.first; k; k = k->next) {
		kept_name(k, name);
		if (is_asked(q, name))
			put_history(w, name, is_present(c, k), port_of(c, k), &k->history, &o);
	}
	bus_writer_close(w);
	return 1;
}
