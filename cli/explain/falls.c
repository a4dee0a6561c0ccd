/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "falls.h"

#include "flaps.h"
#include "pci.h"

const char *falls_adapter(const Histories *h, const Object *port)
{
	const Object *device = port ? object_list_device(&h->objects, port) : NULL;
	const char *guid = object_adapter_guid(device);

	return *guid ? guid : device ? device->path : "";
}

static bool is_function(const Histories *h, const Object *port)
{
	return object_is_function(object_list_device(&h->objects, port));
}

/* Whether PORT has a link of its own. */
static bool has_link(const Histories *h, const Object *port)
{
	return port->is_port && !object_list_is_plane(&h->objects, port) && !is_function(h, port) &&
	       !streq(object_text(port, PORT_ATTR_protocol), "raw-packet");
}

bool falls_are_many(Falls *f, const Object *port, size_t n)
{
	const Histories *h = f->histories;
	const char *protocol = port ? object_text(port, PORT_ATTR_protocol) : "*";

	if (!streq(f->protocol, protocol)) {
		text_copy(f->protocol, sizeof(f->protocol), protocol);
		f->n_protocol = 0;
		for (size_t i = 0; i < h->objects.n; i++) {
			const Object *o = h->objects.items[i];

			if (has_link(h, o))
				f->n_protocol += !port || streq(object_text(o, PORT_ATTR_protocol),
								protocol);
		}
	}
	return n > 1 && 2 * n >= f->n_protocol;
}

static int compare(const void *a, const void *b)
{
	const Fall *x = a, *y = b;

	return (x->usec > y->usec) - (x->usec < y->usec);
}

void falls_done(Falls *f)
{
	free(f->items);
}

static bool is_fall(const PastState *t)
{
	return startswith(t->from, "active") && !startswith(t->to, "active") &&
	       !streq(t->to, "absent") && !streq(t->to, "unknown");
}

static size_t count_falls(const Value *entry)
{
	size_t n = 0;
	PastState t;

	for (size_t i = 0; history_read_transition(entry, i, &t); i++)
		n += is_fall(&t);
	return n;
}

bool falls_gather(const Histories *h, Falls *ret)
{
	Falls f = {.histories = h};
	size_t n = 0;

	for (size_t i = 0; i < h->all.n; i++)
		n += count_falls(&h->all.items[i]);
	f.items = calloc(n + 1, sizeof(*f.items));
	if (!f.items)
		return false;
	for (size_t i = 0; i < h->all.n; i++) {
		const Value *entry = &h->all.items[i];
		const Object *port =
			object_list_find(&h->objects, history_entry_text(entry, "Port"));
		uint64_t previous = 0;
		PastState t;

		if (!port || !has_link(h, port))
			continue;
		for (size_t k = 0; history_read_transition(entry, k, &t); k++) {
			if (!is_fall(&t))
				continue;
			f.items[f.n++] =
				(Fall){t.realtime_usec, previous, port, falls_adapter(h, port)};
			previous = t.realtime_usec;
		}
	}
	sort(f.items, f.n, sizeof(*f.items), compare);
	*ret = f;
	return true;
}

/* Whether A and B are in the same state, of the same protocol. */
static bool is_alike(const Object *a, const Object *b)
{
	return streq(object_text(a, PORT_ATTR_state), object_text(b, PORT_ATTR_state)) &&
	       streq(object_text(a, PORT_ATTR_phys_state), object_text(b, PORT_ATTR_phys_state)) &&
	       streq(object_text(a, PORT_ATTR_protocol), object_text(b, PORT_ATTR_protocol));
}

static const char *pci_address(const Histories *h, const Object *port)
{
	return object_text(object_list_device(&h->objects, port), DEVICE_ATTR_pci_address);
}

/* Whether two ports of one adapter have one cage and so one cable: an adapter in several places of
 * PCI has each port in all of them, as the same function. */
static bool share_cage(const Histories *h, const Object *a, const Object *b)
{
	const char *x = pci_address(h, a), *y = pci_address(h, b);

	return *pci_function(x) && !streq(x, y) && streq(pci_function(x), pci_function(y)) &&
	       object_number(a, PORT_ATTR_port_num) == object_number(b, PORT_ATTR_port_num);
}

/* The first fall that is not before USEC. */
static size_t find_since(const Falls *f, uint64_t usec)
{
	return array_place(f->n, i, f->items[i].usec < usec);
}

bool falls_together(Falls *f, const Value *entry, uint64_t usec, char ret[FALLS_TEXT_SIZE])
{
	const Histories *h = f->histories;
	const Object *port = object_list_find(&h->objects, history_entry_text(entry, "Port"));
	const char *adapter = falls_adapter(h, port);
	const char *at = port ? object_text(port, PORT_ATTR_neighbor) : "";
	uint64_t since = usec > SLACK_USEC ? usec - SLACK_USEC : 0;
	size_t same = 0, others = 0;
	bool function;

	if (!port)
		return false;
	function = is_function(h, port);
	for (size_t i = find_since(f, since); i < f->n && f->items[i].usec <= usec + SLACK_USEC;
	     i++) {
		const Fall *o = &f->items[i];

		/* each port once */
		if (o->port == port || !is_alike(o->port, port) || o->previous >= since)
			continue;
		if (!streq(at, object_text(o->port, PORT_ATTR_neighbor)))
			at = "";
		/* a function has the link of its adapter */
		if (!streq(o->adapter, adapter))
			others++;
		else if (!function && !share_cage(h, o->port, port))
			same++;
	}
	if (others > 0 && !falls_are_many(f, port, same + others + 1))
		others = 0;
	if (same + others == 0)
		return false;
	/* the name is not at the end, which steps of explain-causes.def look at */
	snprintf(ret, FALLS_TEXT_SIZE, "%s%s%s%zu other %s%s", *at ? "at " : "", at,
		 *at ? ": " : "", same + others, same + others == 1 ? "port" : "ports",
		 others == 0 ? " of the adapter" : "");
	return true;
}
