/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-port-signal.h"

#include "bus-header.h"
#include "bus-peer.h"
#include "bus-property.h"
#include "log.h"
#include "names.h"

/* One signal: PropertiesChanged of an interface, or an announcement. */
typedef struct PortSignal {
	AttrInterface interface;
	const Announcement *announcement; /* NULL: PropertiesChanged */
} PortSignal;

/* The subject of the signals. */
typedef struct PortChanges {
	const Port *port;
	const char *path;
	const PortNews *news;
} PortChanges;

#define SIGNALS_MAX (INTERFACE_RAW - INTERFACE_PORT + BUS_ANNOUNCEMENTS_MAX)

void bus_signal_check(int r, const char *path, const char *what)
{
	if (r < 0 && r != -ENOTCONN)
		log_warning_errno(r, "Cannot signal %s of %s, ignoring: %m", what, path);
}

static BusHeader make_header(const PortChanges *c, const PortSignal *s)
{
	const Announcement *a = s->announcement;

	if (!a)
		return (BusHeader){.type = BUS_SIGNAL,
				   .path = c->path,
				   .interface = "org.freedesktop.DBus.Properties",
				   .member = "PropertiesChanged",
				   .signature = "sa{sv}as"};
	return (BusHeader){.type = BUS_SIGNAL,
			   .path = c->path,
			   .interface = RDMAD_INTERFACE_PORT,
			   .member = a->is_state ? "StateChanged" : "SubnetReconfigured",
			   .signature = a->is_state ? "sss" : "s"};
}

static void put_body(BusWriter *w, const PortChanges *c, const PortSignal *s)
{
	const Announcement *a = s->announcement;
	AttrText text;

	if (!a) {
		bus_writer_put_text(w, 's', attr_interface_name(s->interface));
		bus_put_port_changes(w, c->port, s->interface, &c->news->changed);
		return;
	}
	if (a->is_state) {
		bus_writer_put_text(w, 's', attr_enumeration_text(ATTR_PORT_STATE, a->state, text));
		bus_writer_put_text(w, 's',
				    attr_enumeration_text(ATTR_PORT_STATE, a->old_state, text));
	}
	bus_writer_put_text(w, 's', event_reason_name(a->reason));
}

/* Writes the signals past sd-bus. False: nothing was written. */
static bool write_signals(Bus *b, const PortChanges *c, const PortSignal *signals, size_t n)
{
	_cleanup_(bus_writer_done) BusWriter w = {};

	if (!bus_peer_takes(b->bus))
		return false;
	for (size_t i = 0; i < n; i++) {
		const BusHeader header = make_header(c, &signals[i]);

		bus_header_begin(&w, &header);
		put_body(&w, c, &signals[i]);
		bus_header_end(&w);
	}
	return bus_writer_error(&w) >= 0 && bus_peer_write(b->bus, w.data, w.size);
}

/* Gives a signal to sd-bus. */
static int queue_signal(Bus *b, const PortChanges *c, const PortSignal *s)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const BusHeader header = make_header(c, s);
	BusWriter w = {};
	int r = sd_bus_message_new_signal(b->bus, &m, header.path, header.interface, header.member);

	if (r < 0)
		return r;
	w.message = m;
	put_body(&w, c, s);
	r = bus_writer_error(&w);
	return r < 0 ? r : sd_bus_send(b->bus, m, NULL);
}

/* Whether a property of another interface than org.rdma.Port is among ROWS. */
static bool has_other_property(AttrMask rows)
{
	MASK_FOREACH(a, rows)
	if (port_attributes[a].interface != INTERFACE_PORT &&
	    attr_is_signalled(&port_attributes[a]))
		return true;
	return false;
}

/*
 * Whether the signal of org.rdma.Port, which has Unavailable, is sent after those of the other
 * interfaces. Unavailable comes after values that are new, and before values that are lost. So a
 * client that has got only some of the signals does not take for a value the text or number of a
 * property without one. While values only change, the state is what most clients wait for.
 */
static bool is_port_last(const PortChanges *c)
{
	const PortNews *news = c->news;

	return has_other_property(mask_and(news->changed, news->gained)) &&
	       !has_other_property(mask_without(news->changed, c->port->now.valid));
}

void bus_signal_port(Bus *b, const Port *p, unsigned int interfaces, const PortNews *news,
		     const Announcement *announcements, size_t n)
{
	char path[RDMAD_PATH_MAX];
	const PortChanges c = {p, port_path(p, path), news};
	PortSignal signals[SIGNALS_MAX];
	unsigned int last = 0;
	size_t n_signals = 0;

	interfaces &= bus_changed_interfaces(&news->changed);
	if (is_port_last(&c))
		last = interfaces & 1U << INTERFACE_PORT;
	for (AttrInterface i = INTERFACE_PORT; i < INTERFACE_RAW; i++)
		if ((interfaces & ~last) >> i & 1)
			signals[n_signals++] = (PortSignal){i, NULL};
	if (last)
		signals[n_signals++] = (PortSignal){INTERFACE_PORT, NULL};
	for (size_t i = 0; i < n; i++)
		signals[n_signals++] = (PortSignal){INTERFACE_PORT, &announcements[i]};
	if (n_signals == 0 || write_signals(b, &c, signals, n_signals))
		return;
	for (size_t i = 0; i < n_signals; i++)
		bus_signal_check(queue_signal(b, &c, &signals[i]), path, "a change");
}
