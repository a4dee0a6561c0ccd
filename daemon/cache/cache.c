/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cache.h"

#include "cache-names.h"
#include "decode.h"
#include "event.h"
#include "log.h"
#include "name-index.h"
#include "port-name.h"
#include "row-set.h"

static bool is_active(const PortSnapshot *s)
{
	return decode_state_meets(s->values.state, PORT_STATE_ACTIVE);
}

/* Without memory for a text the process ends, as without memory for a name: name-index.h. */
static void expect_memory(int r)
{
	if (r == 0)
		return;
	log_error_errno(r, "No memory for a text: %m");
	exit(EXIT_FAILURE);
}

static void set_port_text(Port *p, PortAttr a, const char *text)
{
	expect_memory(attr_set_text(&port_attributes[a], &p->now.values, text));
}

static void set_device_text(Device *d, DeviceAttr a, const char *text)
{
	expect_memory(attr_set_text(&device_attributes[a], &d->now.values, text));
}

void port_ref_set(PortRef *r, Port *p)
{
	if (r->port) {
		*r->at = r->next;
		if (r->next)
			r->next->at = r->at;
	}
	*r = (PortRef){.port = p};
	if (!p)
		return;
	r->next = p->refs;
	r->at = &p->refs;
	if (r->next)
		r->next->at = &r->next;
	p->refs = r;
}

/* Devices and ports */

static void port_free(Port *p)
{
	Cache *c = p ? p->device->cache : NULL;

	if (!p)
		return;
	while (p->refs)
		port_ref_set(p->refs, NULL);
	names_count_port(p, &p->now, NULL, false);
	c->names_generation++;
	c->n_ports--;
	c->n_active -= is_active(&p->now);
	port_snapshot_done(&p->now);
	history_done(&p->history);
	free(p);
}

static void device_free(Device *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n_ports; i++)
		port_free(d->ports[i]);
	names_count_device(d, &d->now.values, false);
	free(d->ports);
	evidence_free(d->evidence);
	device_snapshot_done(&d->now);
	free(d);
}

void cache_done(Cache *c)
{
	for (size_t i = 0; i < c->n_devices; i++)
		device_free(c->devices[i]);
	free(c->devices);
	name_index_free(c->names);
	history_list_done(&c->histories);
	evidence_list_done(&c->evidence);
	*c = (Cache){};
}

static int compare_index(const void *key, const void *element)
{
	uint32_t index = *(const uint32_t *)key, other = (*(Device *const *)element)->index;

	return (index > other) - (index < other);
}

/* Where the device with INDEX is in the array, NULL if there is none. */
static Device **find_device(const Cache *c, uint32_t index)
{
	if (c->n_devices == 0)
		return NULL;
	return bsearch(&index, c->devices, c->n_devices, sizeof(Device *), compare_index);
}

Device *cache_device(const Cache *c, uint32_t index)
{
	Device **found = find_device(c, index);

	return found ? *found : NULL;
}

Port *device_port(const Device *d, uint32_t number)
{
	return d && number >= 1 && number <= d->n_ports ? d->ports[number - 1] : NULL;
}

Port *device_port_called(const Device *d, uint32_t number)
{
	uint32_t first = d ? device_first_port(&d->now) : 0;

	return number >= first ? device_port(d, number - first + 1) : NULL;
}

const char *device_path(const Device *d, char *ret)
{
	return object_path_put(d->index, PORT_NUMBER_NONE, ret);
}

const char *port_path(const Port *p, char *ret)
{
	return object_path_put(p->device->index, p->now.values.port_num, ret);
}

const char *port_name(const Port *p, char *ret)
{
	snprintf(ret, 80, "%s/%u", TEXT_OF(&p->device->now.values, name), p->now.values.port_num);
	return ret;
}

/* How many ports D may have, if the kernel says N. */
static uint32_t served_ports(const Device *d, uint32_t n)
{
	size_t others = d->cache->n_ports - d->n_ports;

	return MIN(MIN(n, RDMA_PORT_MAX), RDMA_PORTS_MAX - (uint32_t)others);
}

/* Makes D have at least N ports. Of a new one only the number is known. */
static int add_ports(Device *d, uint32_t n)
{
	Port **ports;

	if (n <= d->n_ports)
		return 0;
	ports = realloc(d->ports, n * sizeof(Port *));
	if (!ports)
		return -ENOMEM;
	d->ports = ports;
	while (d->n_ports < n) {
		Port *p = calloc(1, sizeof(Port));

		if (!p)
			return -ENOMEM;
		p->device = d;
		p->number = d->n_ports + 1;
		p->now.values.device_index = d->index;
		p->now.values.port_num = d->n_ports + device_first_port(&d->now);
		set_port_text(p, PORT_ATTR_device_name, TEXT_OF(&d->now.values, name));
		port_derive(&p->now, &d->now);
		d->ports[d->n_ports++] = p;
		d->cache->n_ports++;
		d->cache->names_generation++;
	}
	return 0;
}

static Device *add_device(Cache *c, uint32_t index)
{
	Device **devices = realloc(c->devices, (c->n_devices + 1) * sizeof(Device *));
	size_t i = c->n_devices;
	Device *d;

	if (!devices)
		return NULL;
	c->devices = devices;
	if (!c->names)
		c->names = name_index_new();
	d = calloc(1, sizeof(Device));
	if (!d)
		return NULL;
	d->cache = c;
	d->index = index;
	/* the kernel counts upwards: but for a wrap the place is the last */
	for (; i > 0 && devices[i - 1]->index > index; i--)
		devices[i] = devices[i - 1];
	devices[i] = d;
	c->n_devices++;
	return d;
}

/* Whether a row is unavailable for another reason now. */
static bool device_reasons_differ(const DeviceSnapshot *a, const DeviceSnapshot *b)
{
	for (DeviceAttr i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (device_unavailable(a, i) != device_unavailable(b, i))
			return true;
	return false;
}

static _always_inline_ bool row_is_of_sysfs(const Attribute *a)
{
	return a->source == SOURCE_SYSFS;
}

/* The rows that are not there any more because ANSWER does not have them. An answer that has the
 * character devices could read the directory of the device: so a file was not there. */
static AttrMask withdrawn_rows(const DeviceSnapshot *answer)
{
	AttrMask rows = device_rows(row_is_of_sysfs);

	if (!mask_has(&answer->supplied, DEVICE_ATTR_chardevs))
		return (AttrMask){};
	mask_set(&rows, DEVICE_ATTR_driver_id, true);
	return mask_without(rows, answer->supplied);
}

/* The values of D, with those that S supplies. */
static DeviceSnapshot merge_device(const Device *d, const DeviceSnapshot *s, bool is_answer)
{
	AttrMask withdrawn = is_answer ? withdrawn_rows(s) : (AttrMask){};
	DeviceSnapshot merged = d->now;

	texts_hold(merged.values.texts);
	MASK_FOREACH(a, s->supplied)
	expect_memory(attr_copy(&device_attributes[a], &merged.values, &s->values));
	MASK_FOREACH(a, withdrawn)
	attr_clear(&device_attributes[a], &merged.values);
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++) {
		DeviceAttr a = device_table_attr(t);

		if (mask_has(&s->supplied, a))
			merged.tables[t] = s->tables[t];
		else if (mask_has(&withdrawn, a))
			merged.tables[t] = NULL;
	}
	merged.supplied = mask_without(mask_or(merged.supplied, s->supplied), withdrawn);
	return merged;
}

/* Of each table that MERGED does not have: one of S is freed, one of D belongs to the change. */
static void leave_tables(const DeviceSnapshot *s, const DeviceSnapshot *merged, DeviceChange *ret)
{
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++) {
		if (ret->was.tables[t] != merged->tables[t])
			ret->tables |= 1U << t;
		if (s->tables[t] != merged->tables[t])
			table_free(s->tables[t]);
	}
}

/* The change of D begins: until now it was so. */
static void begin_device_change(Device *d, ChangeCause cause, uint64_t now, DeviceChange *ret)
{
	*ret = (DeviceChange){.device = d, .cause = cause, .when_usec = now};
	device_change_keep(ret);
}

int cache_apply_device(Cache *c, DeviceSnapshot *s, ChangeCause cause, uint64_t now,
		       DeviceChange *ret)
{
	Device *d = cache_device(c, s->values.index);
	DeviceSnapshot merged;
	bool added = !d;
	uint32_t served;

	if (!d)
		d = add_device(c, s->values.index);
	if (!d)
		return -ENOMEM;

	merged = merge_device(d, s, cause == CHANGE_ANSWER);
	merged.values.index = d->index;
	served = served_ports(d, merged.values.port_count);
	merged.values.omitted_ports = merged.values.port_count - served;
	if (cause == CHANGE_ANSWER) {
		merged.values.stale = false;
		attr_clear(&device_attributes[DEVICE_ATTR_last_error], &merged.values);
		attr_clear(&device_attributes[DEVICE_ATTR_last_error_code], &merged.values);
		merged.values.last_query = now;
		merged.is_read = true;
		merged.query_error = 0;
		merged.open_error = s->open_error;
		merged.unanswered = mask_without(s->unanswered, merged.supplied);
	}
	device_derive(&merged);
	begin_device_change(d, cause, now, ret);
	ret->changed = device_diff(&d->now, &merged);
	mask_set(&ret->changed, DEVICE_ATTR_unavailable, device_reasons_differ(&d->now, &merged));
	leave_tables(s, &merged, ret);
	names_change_device(d, &merged.values);
	texts_release(d->now.values.texts);
	d->now = merged;
	texts_release(s->values.texts);
	*s = (DeviceSnapshot){};

	if (add_ports(d, served) < 0) {
		device_change_done(ret);
		/* the caller gets no device, so a new one must not stay */
		if (added)
			cache_remove_device(c, d);
		return -ENOMEM;
	}
	if (added)
		ret->op = CACHE_ADDED;
	else if (!mask_is_empty(&ret->changed))
		ret->op = CACHE_CHANGED;
	return (int)ret->op;
}

Port *cache_excess_port(Device *d)
{
	return d->n_ports > served_ports(d, d->now.values.port_count) ? d->ports[d->n_ports - 1]
								      : NULL;
}

void cache_remove_port(Port *p)
{
	p->device->n_ports--;
	port_free(p);
}

/* The rows that the subnet manager sets. */
static const PortAttr subnet_rows[] = {
	PORT_ATTR_lid,
	PORT_ATTR_lmc,
	PORT_ATTR_sm_lid,
	PORT_ATTR_sm_sl,
	PORT_ATTR_subnet_timeout,
	PORT_ATTR_subnet_prefix,
};
_Static_assert(ARRAY_SIZE(subnet_rows) == SUBNET_ROWS, "SubnetValues has room for other rows");

/* Whether S has other values of the subnet manager than P last had; P has those of S afterwards. A
 * row that one of the two does not have is not compared: a device that cannot be opened does not
 * say all of them. */
static bool subnet_differs(Port *p, const PortSnapshot *s)
{
	bool differs = false;

	/* The LID is valid only while the port is configured, and so are the others. */
	if (!mask_has(&s->valid, PORT_ATTR_lid))
		return false;
	for (size_t i = 0; i < SUBNET_ROWS; i++) {
		uint64_t value = attr_get_raw(&port_attributes[subnet_rows[i]], &s->values);

		if (!mask_has(&s->supplied, subnet_rows[i]))
			continue;
		differs |= (p->subnet.known >> i & 1) && p->subnet.values[i] != value;
		p->subnet.known |= 1U << i;
		p->subnet.values[i] = value;
	}
	return differs;
}

static void carry_row(PortSnapshot *to, const PortSnapshot *from, PortAttr a)
{
	expect_memory(attr_copy(&port_attributes[a], &to->values, &from->values));
}

/* The rows that are kept here come from no source: the new snapshot begins with those of the old.
 */
static void carry_core_rows(PortSnapshot *to, const PortSnapshot *from)
{
	const AttrMask measured = mask_and(from->supplied, port_rows(row_is_measured));

	MASK_FOREACH(a, mask_or(port_rows(row_is_of_core), measured))
	carry_row(to, from, a);
	to->supplied = mask_or(mask_without(to->supplied, port_rows(row_is_measured)), measured);
	to->tables[PORT_TABLE_FINDINGS] = from->tables[PORT_TABLE_FINDINGS];
	to->rail = from->rail;
	to->measured = from->measured;
}

/* Rows of parts that the new snapshot has not read stay as in the old one. A table of such a part
 * is in both snapshots afterwards. */
static void carry_parts(PortSnapshot *to, const PortSnapshot *from)
{
	const unsigned int unread = READ_ANY & ~to->parts;
	const AttrMask rows =
		mask_without(port_rows_of(unread), mask_or(to->supplied, to->unmeasured));

	to->failed |= from->failed & unread;
	MASK_FOREACH(a, mask_and(rows, from->supplied))
	carry_row(to, from, a);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (mask_has(&rows, port_table_attr(t)))
			to->tables[t] = from->tables[t];
	to->supplied = mask_or(to->supplied, mask_and(from->supplied, rows));
	to->unanswered = mask_or(to->unanswered, mask_and(from->unanswered, rows));
	if (unread & READ_VERBS)
		to->open_error = from->open_error;
	if (unread & READ_NEIGHBOR)
		to->no_neighbor = from->no_neighbor;
	to->parts |= from->parts;
}

/* A table of S that is as in OLD becomes the one of OLD. Returns the tables that are other ones: a
 * mask of 1 << PortTable. */
static unsigned int share_tables(PortSnapshot *s, const PortSnapshot *old)
{
	unsigned int others = 0;

	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++) {
		if (s->tables[t] == old->tables[t])
			continue;
		if (!table_equal(s->tables[t], old->tables[t])) {
			others |= 1U << t;
			continue;
		}
		table_free(s->tables[t]);
		s->tables[t] = old->tables[t];
	}
	return others;
}

static _always_inline_ bool is_compared(const Attribute *a)
{
	return row_is_of_core(a) && attr_is_in_signals(a) && a->size;
}

/* port_diff() is called before the dynamic rows that are kept here are written. This compares them
 * afterwards. */
static void diff_core_rows(const PortSnapshot *a, const PortSnapshot *b, AttrMask *changed)
{
	MASK_FOREACH(i, port_rows(is_compared))
	mask_set(changed, i, !attr_is_equal(&port_attributes[i], &a->values, &b->values));
}

/* The effect on P of an answer that changed the rows CHANGED. The first answer is news even without
 * a value.
 */
static CacheOp take_answer(Port *p, const AttrMask *changed)
{
	bool is_first = !p->answered;

	p->answered = true;
	return is_first ? CACHE_ADDED : mask_is_empty(changed) ? CACHE_UNCHANGED : CACHE_CHANGED;
}

/* The first answer of P in a record has the counts that rdmad had at that time, with what rdmad
 * counted for that answer. So the counts of S replace those of P. */
static void take_counts(Port *p, const PortSnapshot *s)
{
	MASK_FOREACH(a, mask_and(s->supplied, port_rows(row_is_count)))
	carry_row(&p->now, s, a);
	if (mask_has(&s->supplied, PORT_ATTR_link_downs))
		p->history.link_downs = s->values.link_downs;
}

/* Takes the counts out of S: *RET is to be freed; NULL: it has none, or they are not wanted. */
static PortSnapshot *leave_counts(const Port *p, PortSnapshot *s)
{
	PortSnapshot *counts = NULL;

	if (!mask_has(&s->supplied, PORT_ATTR_generation))
		return NULL;
	if (!p->answered)
		counts = malloc(sizeof(*counts));
	if (counts)
		*counts = *s;
	s->supplied = mask_without(s->supplied, port_rows(row_is_count));
	return counts;
}

/* The change of P begins: until now it was so. */
static void begin_change(Port *p, ChangeCause cause, uint32_t reasons, uint64_t now,
			 PortChange *ret)
{
	*ret = (PortChange){.port = p, .cause = cause, .reasons = reasons, .when_usec = now};
	port_change_keep(ret);
}

void cache_apply_port(Port *p, PortSnapshot *s, uint32_t reasons, uint64_t now, PortChange *ret)
{
	const uint32_t sm_reasons = event_reasons_meaning(MEANS_SUBNET);
	const PortSnapshot *old = &ret->was;
	_cleanup_free_ PortSnapshot *counts = leave_counts(p, s);

	begin_change(p, CHANGE_ANSWER, reasons, now, ret);
	ret->parts = s->parts;
	carry_parts(s, old);
	carry_core_rows(s, old);
	port_derive(s, &p->device->now);
	ret->tables = share_tables(s, old);

	ret->changed = port_diff(old, s);
	ret->subnet_reconfigured = subnet_differs(p, s) || (p->answered && reasons & sm_reasons &&
							    mask_has(&s->valid, PORT_ATTR_sm_lid));
	s->values.gid_generation += mask_has(&ret->changed, PORT_ATTR_gids);
	s->values.pkey_generation += mask_has(&ret->changed, PORT_ATTR_pkeys);
	s->values.sm_generation += ret->subnet_reconfigured;
	s->values.generation += !mask_is_empty(&ret->changed) || ret->subnet_reconfigured;
	s->values.stale = false;
	attr_clear(&port_attributes[PORT_ATTR_last_error], &s->values);
	attr_clear(&port_attributes[PORT_ATTR_last_error_code], &s->values);
	s->values.last_query = ret->parts & READ_ALL ? now : old->values.last_query;

	diff_core_rows(old, s, &ret->changed);
	mask_set(&ret->changed, PORT_ATTR_unavailable, port_reasons_differ(old, s));

	names_change_port(p, s, ret->tables);
	p->device->cache->n_active += (uint32_t)is_active(s) - (uint32_t)is_active(old);
	texts_release(p->now.values.texts);
	p->now = *s;
	*s = (PortSnapshot){};
	ret->op = take_answer(p, &ret->changed);
	if (counts)
		take_counts(p, counts);
}

void cache_apply_port_error(Port *p, int error, QueryErrorCode code, const char *text,
			    uint32_t reasons, uint64_t now, PortChange *ret)
{
	PortValues *v = &p->now.values;
	AttrText error_text, error_code;

	begin_change(p, CHANGE_ERROR, reasons, now, ret);
	text_copy_clean(error_text, sizeof(error_text), text);
	set_port_text(p, PORT_ATTR_last_error, error_text);
	mask_set(&ret->changed, PORT_ATTR_last_error,
		 !streq(TEXT_OF(&ret->was.values, last_error), error_text));
	set_port_text(p, PORT_ATTR_last_error_code, query_error_format(code, error, error_code));
	mask_set(&ret->changed, PORT_ATTR_last_error_code,
		 !streq(TEXT_OF(&ret->was.values, last_error_code), error_code));
	mask_set(&ret->changed, PORT_ATTR_stale, !v->stale);
	v->stale = true;
	p->now.query_error = error;
	mask_set(&ret->changed, PORT_ATTR_unavailable, port_reasons_differ(&ret->was, &p->now));
	ret->op = take_answer(p, &ret->changed);
}

void cache_apply_port_measured(Port *p, const PortSnapshot *measured, uint64_t now, PortChange *ret)
{
	const AttrMask rows = port_rows(row_is_measured), said = mask_and(measured->supplied, rows);

	begin_change(p, CHANGE_JUDGED, 0, now, ret);
	MASK_FOREACH(a, said)
	carry_row(&p->now, measured, a);
	p->now.supplied = mask_or(mask_without(p->now.supplied, rows), said);
	p->now.measured.once |= !mask_is_empty(&said);
	p->now.measured.full = measured->measured.full;
	port_derive(&p->now, &p->device->now);
	mask_set(&ret->changed, PORT_ATTR_unavailable, port_reasons_differ(&ret->was, &p->now));
	if (!mask_is_empty(&ret->changed))
		ret->op = CACHE_CHANGED;
}

void cache_apply_port_name(Port *p, uint64_t now, PortChange *ret)
{
	const char *name = TEXT_OF(&p->device->now.values, name);

	begin_change(p, CHANGE_LIST, REASON_BIT(REASON_DEVICE), now, ret);
	if (streq(TEXT_OF(&p->now.values, device_name), name))
		return;
	set_port_text(p, PORT_ATTR_device_name, name);
	mask_set(&ret->changed, PORT_ATTR_device_name, true);
	ret->op = CACHE_CHANGED;
}

void cache_apply_port_history(PortChange *change)
{
	Port *p = change->port;
	PortValues *v = &p->now.values;
	const Transition *last = history_last(&p->history);
	uint64_t when = last ? last->realtime_usec : 0;

	mask_set(&change->changed, PORT_ATTR_state_change, v->state_change != when);
	mask_set(&change->changed, PORT_ATTR_link_downs, v->link_downs != p->history.link_downs);
	v->state_change = when;
	/* Nothing else has changed if the link was down and up again before the port was read. */
	if (v->link_downs != p->history.link_downs && change->op == CACHE_UNCHANGED) {
		v->generation++;
		mask_set(&change->changed, PORT_ATTR_generation, true);
	}
	v->link_downs = p->history.link_downs;
	if (change->op == CACHE_UNCHANGED && !mask_is_empty(&change->changed))
		change->op = CACHE_CHANGED;
}

void cache_apply_device_error(Device *d, int error, QueryErrorCode code, const char *text,
			      uint64_t now, DeviceChange *ret)
{
	DeviceValues *v = &d->now.values;
	AttrText error_text, error_code;

	begin_device_change(d, CHANGE_ERROR, now, ret);
	text_copy_clean(error_text, sizeof(error_text), text);
	set_device_text(d, DEVICE_ATTR_last_error, error_text);
	mask_set(&ret->changed, DEVICE_ATTR_last_error,
		 !streq(TEXT_OF(&ret->was.values, last_error), error_text));
	set_device_text(d, DEVICE_ATTR_last_error_code,
			query_error_format(code, error, error_code));
	mask_set(&ret->changed, DEVICE_ATTR_last_error_code,
		 !streq(TEXT_OF(&ret->was.values, last_error_code), error_code));
	mask_set(&ret->changed, DEVICE_ATTR_stale, v->stale != (*text != '\0'));
	v->stale = *text != '\0';
	d->now.query_error = error;
	mask_set(&ret->changed, DEVICE_ATTR_unavailable, device_reasons_differ(&ret->was, &d->now));
	if (!mask_is_empty(&ret->changed))
		ret->op = CACHE_CHANGED;
}

void cache_remove_device(Cache *c, Device *d)
{
	Device **at = find_device(c, d->index), **end = c->devices + c->n_devices;

	memmove(at, at + 1, (size_t)(end - at - 1) * sizeof(Device *));
	c->n_devices--;
	device_free(d);
}
