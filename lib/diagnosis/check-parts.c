/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "check-parts.h"
#include "list.h"
#include "parse.h"
#include "pci.h"
#include "seen.h"

#define DAY_USEC (24 * 3600 * USEC_PER_SEC)

SeenSource check_evidence(const CheckRun *r, const Object *o)
{
	return r->ask.evidence ? r->ask.evidence(r->ask.userdata, o) : (SeenSource){};
}

bool check_number(const Object *o, size_t row, uint64_t *ret)
{
	const Value *v = object_value(o, row);

	if (!v || v->type != VALUE_UNSIGNED)
		return false;
	*ret = v->number;
	return true;
}

/* Whether no program can have a connection on PORT, whatever its link does: it has no table of
 * GIDs. On Ethernet that is a protocol of its own. On InfiniBand there are devices that are no
 * endpoints (rdma-core#1722); but a port that says that it is active should have one. */
static bool is_no_endpoint(const Object *port)
{
	const char *protocol = object_text(port, PORT_ATTR_protocol);
	uint64_t size;

	return streq(protocol, "raw-packet") ||
	       (streq(protocol, "infiniband") && !object_is_active(port) &&
		check_number(port, PORT_ATTR_gid_tbl_len, &size) && size == 0);
}

bool check_same_adapter(const Object *a, const Object *b)
{
	const char *guid = object_adapter_guid(a);
	const char *x = object_text(a, DEVICE_ATTR_pci_address);
	const char *y = object_text(b, DEVICE_ATTR_pci_address);
	size_t slot = strlen(x) - strlen(pci_function(x));

	if (a == b || (*guid && streq(guid, object_adapter_guid(b))))
		return true;
	return *pci_function(x) && *pci_function(y) &&
	       slot == strlen(y) - strlen(pci_function(y)) && strncmp(x, y, slot) == 0;
}

/* Whether PORT is the link of virtual functions that are here: that of a physical function which is
 * a switch for them. Representors are its later ports. */
static bool carries_functions(const CheckRun *r, const Object *port)
{
	const Object *device = object_list_device(r->objects, port);

	if (object_is_function(device) || object_number(port, PORT_ATTR_port_num) != 1)
		return false;
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (!o->is_port && object_is_function(o) && check_same_adapter(device, o))
			return true;
	}
	return false;
}

bool check_may_be_idle(const CheckRun *r, const Object *port)
{
	const Object *device = object_list_device(r->objects, port);

	return (object_is_function(device) ||
		(is_no_endpoint(port) && !carries_functions(r, port))) &&
	       !check_is_named(r, port);
}

bool check_is_in_use(const CheckRun *r)
{
	return object_is_active(r->port) && !check_may_be_idle(r, r->port);
}

bool check_other_end_can(const Object *port, PortAttr row, const char *speed)
{
	const char *enabled = object_text(port, row);

	return !*enabled || list_has_word(enabled, speed);
}

/* The highest speed in ROW of PORT that the other end can have too, if IS_HEARD; 0: there is none.
 */
static uint64_t fastest_of(const Object *port, PortAttr row, bool is_heard)
{
	ListReader l = list_reader(ATTR_WORDS, object_text(port, row));
	uint64_t speed, fastest = 0;
	ListItem item;

	while (list_next(&l, &item))
		if (parse_rate(item.word, &speed) && speed > fastest &&
		    (!is_heard || check_other_end_can(port, PORT_ATTR_partner_speeds, item.word)))
			fastest = speed;
	return fastest;
}

/* Whoever turns autonegotiation off has set the speed. Some drivers list all speeds still. */
static bool is_forced(const Object *port)
{
	const Value *negotiates = object_value(port, PORT_ATTR_autoneg);

	return negotiates && !value_is_true(negotiates);
}

uint64_t check_offered_speed(const Object *port)
{
	return is_forced(port) ? 0 : fastest_of(port, PORT_ATTR_advertised_speeds, true);
}

bool check_is_speed_set(const Object *port)
{
	uint64_t speed, offered = fastest_of(port, PORT_ATTR_advertised_speeds, false);

	return check_number(port, PORT_ATTR_netdev_speed, &speed) &&
	       (is_forced(port) || (offered > 0 && offered <= speed &&
				    fastest_of(port, PORT_ATTR_supported_speeds, false) > speed));
}

/* Whether PORT has not been active since rdmad keeps its history. */
static bool was_never_active(const Object *port)
{
	uint64_t downs;

	return streq(object_text(port, PORT_ATTR_state), "down") &&
	       check_number(port, PORT_ATTR_link_downs, &downs) && downs == 0;
}

/* Whether two ports with the devices A and B have one place on two adapters of one model. */
static bool same_place(const Object *port, const Object *a, const Object *other, const Object *b)
{
	return streq(object_text(a, DEVICE_ATTR_hca_type), object_text(b, DEVICE_ATTR_hca_type)) &&
	       object_number(port, PORT_ATTR_port_num) ==
		       object_number(other, PORT_ATTR_port_num) &&
	       streq(pci_function(object_text(a, DEVICE_ATTR_pci_address)),
		     pci_function(object_text(b, DEVICE_ATTR_pci_address)));
}

/* Whether PORT is one of Ethernet whose interface nobody has configured: it is set down, or has
 * neither a master nor an address. NetworkManager sets up each interface, to see whether it has a
 * cable. Addresses are known of RoCE. That of InfiniBand does not need to be configured. */
static bool is_not_configured(const Object *port)
{
	const Value *up = object_value(port, PORT_ATTR_netdev_up);
	bool has_address = streq(object_text(port, PORT_ATTR_protocol), "roce") &&
			   check_is_reachable(port) == 1;

	return streq(object_text(port, PORT_ATTR_link_layer), "ethernet") && up &&
	       (!value_is_true(up) ||
		(!has_address && !*object_text(port, PORT_ATTR_netdev_master)));
}

bool check_is_unused(const CheckRun *r, const Object *port)
{
	const Object *device = object_list_device(r->objects, port), *other_device;
	bool used = false, not_configured;

	if (check_may_be_idle(r, port))
		return true;
	if (!device || check_is_named(r, port) || !was_never_active(port))
		return false;
	not_configured = is_not_configured(port);
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];
		bool same, was_used;

		other_device = o->is_port ? object_list_device(r->objects, o) : NULL;
		if (!other_device)
			continue;
		same = check_same_adapter(device, other_device);
		/* a function that is active has the link of its adapter; one that is down may wait
		 */
		was_used = object_is_function(other_device) ? same && object_is_active(o)
							    : !was_never_active(o);
		used |= was_used && (same || not_configured);
		if (was_used && !same && same_place(port, device, o, other_device))
			return false;
	}
	return used;
}

bool check_is_expected(const CheckRun *r, const Attribute *row)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].kind == EXPECT_ATTRIBUTE && e->items[i].row == row &&
		    check_applies(r, &e->items[i], r->port))
			return true;
	return false;
}

uint64_t check_growth(const CheckRun *r, const Object *o, const Attribute *row, uint64_t least,
		      uint64_t since_usec, uint64_t *ret_last)
{
	uint64_t sum = 0, from, to;
	SeenSource evidence;
	Seen e;

	if (object_number(o, (size_t)(row - o->rows)) < least ||
	    check_is_ignored(r, r->check->name))
		return 0;
	evidence = check_evidence(r, o);
	since_usec = MAX(since_usec, r->now_usec - DAY_USEC);
	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		if (e.realtime_usec < since_usec || !seen_numbers(&e, row->name, &from, &to) ||
		    to <= from)
			continue;
		sum += to - from;
		*ret_last = e.realtime_usec;
	}
	return sum < least ? 0 : sum;
}

void check_find_growth(CheckRun *r, const Object *o, const Attribute *row, uint64_t least,
		       uint64_t since_usec, const char *before, const char *after)
{
	uint64_t last = 0, sum = check_growth(r, o, row, least, since_usec, &last);
	_cleanup_free_ char *when = sum > 0 ? format_time(last) : NULL;

	if (sum > 0)
		check_find(r, row, "%s %" PRIu64 "%s in 24 h, the last time at %s", before, sum,
			   after, when ? when : "");
}

size_t check_count_seen(const SeenSource *evidence, const char *what, const char *to,
			uint64_t since_usec, uint64_t *last)
{
	size_t n = 0;
	Seen e;

	for (size_t i = 0; seen_read(evidence, i, &e); i++) {
		if (e.realtime_usec < since_usec || !streq(e.what, what) ||
		    (to && !streq(e.to, to)))
			continue;
		*last = MAX(*last, e.realtime_usec);
		n++;
	}
	return n;
}

const Object *check_first_port(const CheckRun *r)
{
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (o->is_port && object_list_device(r->objects, o) == r->device)
			return o;
	}
	return NULL;
}

bool check_has_functions(const Object *port)
{
	return value_count(object_value(port, PORT_ATTR_vfs)) > 0;
}

int check_compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool check_has_port(const CheckRun *r, const Object *port)
{
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i] == port)
			return true;
	return false;
}
