/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes, as signals.
 *
 * Signals that the bus does not take wait in sd-bus' queue, which has an end. When the queue is
 * long, the news of a port is held here instead: two masks of rows, and its announcements in order.
 * The signals are sent when the queue has drained, with the values of then.
 *
 * The news that is held of a port does not grow: from the seventeenth announcement on the oldest
 * transitions are joined. "down to active" and "active to init" become "down to init"; a transition
 * back to the state that it came from is left out. So each StateChanged still begins where the one
 * before it has ended, and the last one ends in the state of the property, but not each transition
 * is told.
 */

#include "bus-peer.h"
#include "bus-port-signal.h"
#include "bus-property.h"
#include "names.h"

/* Messages that wait in sd-bus' queue: from the one on ports are held, below the other they are
 * said. */
#define QUEUE_LONG  1024U
#define QUEUE_SHORT 256U

/* The news of a port that is held. */
typedef struct PortHeld {
	struct PortHeld *next;
	Port *port;
	PortNews news;
	Announcement announcements[BUS_ANNOUNCEMENTS_MAX]; /* in order */
	size_t n_announcements;
} PortHeld;

/* The names of those interfaces in MASK that a port can have; RET has room for all. Returns how
 * many. */
static size_t interface_names(unsigned int mask, char *ret[INTERFACE_RAW + 1])
{
	size_t n = 0;

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (mask >> i & 1)
			ret[n++] = CONST_CAST(char *, attr_interface_name(i));
	ret[n] = NULL;
	return n;
}

static void emit_device_changed(Bus *b, const char *path, AttrInterface interface,
				const AttrMask *changed)
{
	char *names[BUS_VTABLE_MAX];
	size_t n = 0;
	int r;

	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		if (mask_has(changed, a) && device_attributes[a].interface == interface &&
		    attr_is_signalled(&device_attributes[a]))
			names[n++] = CONST_CAST(char *, device_attributes[a].name);
	if (n == 0)
		return;
	names[n] = NULL;
	r = bus_export_rows(b);
	if (r >= 0)
		r = sd_bus_emit_properties_changed_strv(b->bus, path,
							attr_interface_name(interface), names);
	bus_signal_check(r, path, "changed properties");
}

void bus_publish_counts(Bus *b)
{
	char *names[] = {CONST_CAST(char *, "DeviceCount"),
			 CONST_CAST(char *, "PortCount"),
			 CONST_CAST(char *, "ActivePortCount"),
			 NULL,
			 NULL,
			 NULL};
	size_t n = 3;

	if (!b->signals)
		return;
	if (b->devices_changed)
		names[n++] = CONST_CAST(char *, "Devices");
	if (b->ports_changed)
		names[n++] = CONST_CAST(char *, "Ports");
	b->devices_changed = b->ports_changed = false;
	bus_signal_check(sd_bus_emit_properties_changed_strv(b->bus, RDMAD_ROOT_PATH,
							     RDMAD_INTERFACE_MANAGER, names),
			 RDMAD_ROOT_PATH, "counts");
}

void bus_publish_health(Bus *b)
{
	if (b->signals)
		bus_signal_check(sd_bus_emit_properties_changed(b->bus, RDMAD_ROOT_PATH,
								RDMAD_INTERFACE_MANAGER, "Health",
								"Findings", NULL),
				 RDMAD_ROOT_PATH, "the health");
}

bool bus_lists_changed(const Bus *b)
{
	return b->devices_changed || b->ports_changed;
}

/* An interface comes and goes with what it is about: those of a port with the link layer, those of
 * direct verbs with the first answer. */
static void publish_interfaces(Bus *b, const char *path, unsigned int were, unsigned int are)
{
	char *interfaces[INTERFACE_RAW + 1];
	int r;

	if (interface_names(were & ~are, interfaces) > 0)
		bus_signal_check(sd_bus_emit_interfaces_removed_strv(b->bus, path, interfaces),
				 path, "removed interfaces");
	if (interface_names(are & ~were, interfaces) == 0)
		return;
	r = bus_export_rows(b);
	if (r >= 0)
		r = sd_bus_emit_interfaces_added_strv(b->bus, path, interfaces);
	bus_signal_check(r, path, "new interfaces");
}

void bus_publish_device(Bus *b, const DeviceChange *change)
{
	unsigned int were = device_interfaces(&change->was);
	unsigned int are = device_interfaces(&change->device->now);
	char path[RDMAD_PATH_MAX];

	bus_wait_mark_names(b->waits);
	if (change->op == CACHE_CHANGED)
		long_replies_changed(b->long_replies, change->device);
	else
		long_replies_moved(b->long_replies);
	if (!b->signals)
		return;
	device_path(change->device, path);
	switch (change->op) {
	case CACHE_ADDED:
		b->devices_changed = true;
		publish_interfaces(b, path, 0, are);
		break;
	case CACHE_CHANGED:
		publish_interfaces(b, path, were, are);
		for (AttrInterface i = 0; i < INTERFACE_PORT; i++)
			if (were & are & 1U << i)
				emit_device_changed(b, path, i, &change->changed);
		break;
	case CACHE_REMOVED:
		b->devices_changed = true;
		publish_interfaces(b, path, are, 0);
		break;
	case CACHE_UNCHANGED:
		break;
	}
}

void bus_publish_device_ports(Bus *b, Device *d)
{
	char path[RDMAD_PATH_MAX];
	uint32_t n = 0;
	int r;

	for (uint32_t i = 0; i < d->n_ports; i++)
		n += d->ports[i]->published;
	if (n == d->ports_said)
		return;
	d->ports_said = n;
	long_replies_changed(b->long_replies, d);
	if (!b->signals)
		return;
	r = bus_export_rows(b);
	if (r >= 0)
		r = sd_bus_emit_properties_changed(b->bus, device_path(d, path),
						   RDMAD_INTERFACE_DEVICE, "Ports", NULL);
	bus_signal_check(r, path, "the ports");
}

/* The announcements of CHANGE into RET; returns how many. */
static size_t find_announcements(const PortChange *change, Announcement ret[2])
{
	EventReason reason = port_change_reason(change);
	size_t n = 0;

	if (port_change_is_of_state(change))
		ret[n++] = (Announcement){true, change->port->now.values.state,
					  change->was.values.state, reason};
	if (change->subnet_reconfigured)
		ret[n++] = (Announcement){.reason = reason};
	return n;
}

/* Holding */

static void held_free(PortHeld *h)
{
	h->port->held = NULL;
	free(h);
}

/* Says what is held at AT, in the list. */
static void release_at(Bus *b, PortHeld **at)
{
	PortHeld *h = *at;

	*at = h->next;
	if (!*at)
		b->held_end = at;
	bus_signal_port(b, h->port, port_interfaces(&h->port->now), &h->news, h->announcements,
			h->n_announcements);
	held_free(h);
}

/* Says what is held of P, before all others. */
static void release(Bus *b, const Port *p)
{
	PortHeld **at = &b->held;

	if (!p->held)
		return;
	while (*at != p->held)
		at = &(*at)->next;
	release_at(b, at);
}

/* After whatever else has happened in the event loop, writing to the bus among it. */
static int on_drain(sd_event_source *s, void *userdata)
{
	Bus *b = userdata;

	if (bus_peer_unsent(b->bus) < QUEUE_SHORT)
		while (b->held && bus_peer_unsent(b->bus) < QUEUE_LONG)
			release_at(b, &b->held);
	return b->held ? 0 : sd_event_source_set_enabled(s, SD_EVENT_OFF);
}

static int watch_drain(Bus *b)
{
	int r;

	if (b->drain)
		return sd_event_source_set_enabled(b->drain, SD_EVENT_ON);
	r = sd_event_add_post(b->event, &b->drain, on_drain, b);
	if (r >= 0)
		sd_event_source_set_description(b->drain, "held signals");
	return r;
}

static void remove_announcement(PortHeld *h, size_t i)
{
	h->n_announcements--;
	memmove(&h->announcements[i], &h->announcements[i + 1],
		(h->n_announcements - i) * sizeof(h->announcements[0]));
}

/* The first transition of H at FROM or behind it; the number of announcements if there is none. */
static size_t find_transition(const PortHeld *h, size_t from)
{
	while (from < h->n_announcements && !h->announcements[from].is_state)
		from++;
	return from;
}

/* Makes room for one more: joins the two oldest transitions. If there are not two, the oldest
 * SubnetReconfigured goes: those behind it say the same. */
static void make_room(PortHeld *h)
{
	size_t first = find_transition(h, 0), second = find_transition(h, first + 1);

	if (second >= h->n_announcements) {
		remove_announcement(h, first == 0 ? 1 : 0);
		return;
	}
	h->announcements[second].old_state = h->announcements[first].old_state;
	if (h->announcements[second].old_state == h->announcements[second].state)
		remove_announcement(h, second);
	remove_announcement(h, first);
}

/* Holds the change of P, or returns false: there is no memory, and a queue to put it into. */
static bool hold(Bus *b, Port *p, const PortNews *news, const Announcement *announcements, size_t n)
{
	PortHeld *h = p->held;

	if (!h) {
		h = calloc(1, sizeof(PortHeld));
		if (!h || watch_drain(b) < 0) {
			free(h);
			return false;
		}
		h->port = p;
		p->held = h;
		*b->held_end = h;
		b->held_end = &h->next;
	}
	for (size_t i = 0; i < n; i++) {
		if (h->n_announcements == BUS_ANNOUNCEMENTS_MAX)
			make_room(h);
		h->announcements[h->n_announcements++] = announcements[i];
	}
	h->news.changed = mask_or(h->news.changed, news->changed);
	h->news.gained = mask_or(h->news.gained, news->gained);
	return true;
}

void bus_signals_done(Bus *b)
{
	while (b->held) {
		PortHeld *h = b->held;

		b->held = h->next;
		held_free(h);
	}
	b->held_end = &b->held;
	b->drain = sd_event_source_disable_unref(b->drain);
}

void bus_publish_port_removed(Bus *b, const Port *p)
{
	char path[RDMAD_PATH_MAX];
	char *interfaces[INTERFACE_RAW + 1];

	bus_wait_mark_names(b->waits);
	long_replies_changed(b->long_replies, p->device);
	if (!b->signals || !p->published)
		return;
	b->ports_changed = true;
	release(b, p);
	interface_names(port_interfaces(&p->now), interfaces);
	bus_signal_check(
		sd_bus_emit_interfaces_removed_strv(b->bus, port_path(p, path), interfaces), path,
		"the removal");
}

void bus_publish_port(Bus *b, const PortChange *change)
{
	char path[RDMAD_PATH_MAX];
	Port *p = change->port;
	unsigned int are = port_interfaces(&p->now), were = port_interfaces(&change->was);
	Announcement announcements[2];
	PortNews news = {};
	size_t n;

	/* its names may be others although nothing of it that is published is: addresses of IPoIB */
	bus_wait_mark_port(b->waits, p);
	if (change->op != CACHE_UNCHANGED)
		long_replies_changed(b->long_replies, p->device);
	if (!b->signals)
		return;
	n = find_announcements(change, announcements);
	if (change->op == CACHE_ADDED) {
		b->ports_changed = true;
		publish_interfaces(b, port_path(p, path), 0, are);
	} else if (change->op == CACHE_CHANGED) {
		news = (PortNews){change->changed, mask_without(p->now.valid, change->was.valid)};
		if (are != were) {
			release(b, p);
			publish_interfaces(b, port_path(p, path), were, are);
		}
	}
	if (mask_is_empty(&news.changed) && n == 0)
		return;
	if (p->held || bus_peer_unsent(b->bus) >= QUEUE_LONG) {
		if (hold(b, p, &news, announcements, n))
			return;
		release(b, p);
	}
	bus_signal_port(b, p, are & were, &news, announcements, n);
}
