/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-object.h"

#include "cache-object.h"
#include "names.h"

static int append_member(Value *to, const ColumnValue *v)
{
	Value *item = value_append(to);

	if (!item)
		return -ENOMEM;
	if (v->kind == COLUMN_VALUE_TEXT)
		return value_set_text(item, v->text);
	*item = (Value){.type = VALUE_UNSIGNED,
			.number = v->kind == COLUMN_VALUE_U32 ? v->u32 : v->u64};
	return 0;
}

/* The members of ENTRY that are by name. */
static int append_tail(Value *to, const TableLayout *l, const void *entry)
{
	Value *tail = value_append(to), *key;
	ColumnValue v;

	if (!tail)
		return -ENOMEM;
	tail->type = VALUE_DICT;
	for (size_t c = 0; c < l->n_columns; c++) {
		if (!l->columns[c].tail[0])
			continue;
		column_publish(&l->columns[c], entry, &v);
		if (column_value_is_empty(&v))
			continue;
		key = value_append(tail);
		if (!key || value_set_text(key, l->columns[c].tail) < 0 ||
		    append_member(tail, &v) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds ENTRY of a table with layout L to the array TO, as it is on the bus. */
static int append_entry(Value *to, const TableLayout *l, const void *entry)
{
	Value *item = value_append(to);
	ColumnValue v;

	if (!item)
		return -ENOMEM;
	item->type = VALUE_STRUCT;
	for (size_t c = 0; c < l->n_columns; c++) {
		if (!l->columns[c].is_published || l->columns[c].tail[0])
			continue;
		column_publish(&l->columns[c], entry, &v);
		if (append_member(item, &v) < 0)
			return -ENOMEM;
	}
	return append_tail(item, l, entry);
}

static int set_table(Value *ret, AttrType type, const Table *t)
{
	const TableLayout *l = table_layout(type);

	ret->type = VALUE_ARRAY;
	for (uint32_t i = 0; t && i < t->n; i++)
		if (append_entry(ret, l, t->entries + (size_t)i * t->entry_size) < 0)
			return -ENOMEM;
	return 0;
}

/* The value of row I of O, which is valid and has a property. Without memory *RET is empty. */
static int make_value(const CacheObject *o, size_t i, Value *ret)
{
	const Attribute *row = &o->rows[i];
	AttrValue v;
	int r;

	if (row->type == ATTR_UNAVAILABLE)
		return 0;
	if (row->size == 0) {
		r = set_table(ret, row->type, cache_object_table(o, i));
	} else {
		(void)attr_publish(row, o->values, &v);
		r = value_take(&v, ret);
	}
	if (r < 0)
		value_done(ret);
	return r;
}

static bool has_row(const CacheObject *o, size_t i)
{
	return mask_has(o->valid, (unsigned int)i) &&
	       (cache_object_interfaces(o) >> o->rows[i].interface & 1);
}

static int read_row(const CacheObject *o, size_t i, Value *ret)
{
	return has_row(o, i) ? make_value(o, i, ret) : 0;
}

static bool read_table(const CacheObject *o, size_t i, const Table **ret)
{
	*ret = cache_object_table(o, i);
	return has_row(o, i);
}

static const char *unavailable_code(const CacheObject *o, size_t i)
{
	const Unavailable *why = NULL;

	if (cache_object_interfaces(o) >> o->rows[i].interface & 1)
		why = cache_object_unavailable(o, i);
	return why ? why->code : NULL;
}

static int read_port(const void *what, size_t i, Value *ret)
{
	const CacheObject o = cache_object_of_port(what);

	return read_row(&o, i, ret);
}

static const char *port_code(const void *what, size_t i)
{
	const CacheObject o = cache_object_of_port(what);

	return unavailable_code(&o, i);
}

static bool port_table(const void *what, size_t i, const Table **ret)
{
	const CacheObject o = cache_object_of_port(what);

	return read_table(&o, i, ret);
}

static int read_device(const void *what, size_t i, Value *ret)
{
	const CacheObject o = cache_object_of_device(what);

	return read_row(&o, i, ret);
}

static const char *device_code(const void *what, size_t i)
{
	const CacheObject o = cache_object_of_device(what);

	return unavailable_code(&o, i);
}

static bool device_table(const void *what, size_t i, const Table **ret)
{
	const CacheObject o = cache_object_of_device(what);

	return read_table(&o, i, ret);
}

int health_object_of_device(const Device *d, AttrMask *read, Object **ret)
{
	static const ObjectSource source = {read_device, device_code, device_table};
	char path[RDMAD_PATH_MAX];

	return object_new_from(device_path(d, path), &source, d, read, ret);
}

int health_object_of_port(const Port *p, const Object *device, AttrMask *read, Object **ret)
{
	static const ObjectSource source = {read_port, port_code, port_table};
	char path[RDMAD_PATH_MAX];
	int r = object_new_from(port_path(p, path), &source, p, read, ret);

	if (r >= 0)
		(*ret)->device = device;
	return r;
}

Port *health_object_port(const Object *o)
{
	return o->is_port ? CONST_CAST(Port *, o->made->what) : NULL;
}

Device *health_object_device(const Object *o)
{
	return o->is_port ? health_object_port(o)->device : CONST_CAST(Device *, o->made->what);
}

/* Histories and evidence */

/* Adds KEY with an empty array to the dictionary TO; NULL without memory. */
static Value *append_array(Value *to, const char *key)
{
	Value *name = value_append(to), *array;

	if (!name || value_set_text(name, key) < 0)
		return NULL;
	array = value_append(to);
	if (array)
		array->type = VALUE_ARRAY;
	return array;
}

static int append_transition(Value *to, const Transition *t)
{
	AttrText from, to_text;
	PublishedTransition published = history_published(t, from, to_text);

	return append_entry(to, &transition_layout, &published);
}

int health_history(const Port *p, uint64_t since_usec, Value *ret)
{
	const History *h = &p->history;
	Value made = {.type = VALUE_DICT}, *array = append_array(&made, "LinkDowns");
	int r = array ? 0 : -ENOMEM;

	for (size_t i = history_link_downs_since(h, since_usec); r >= 0 && i < h->n_downs; i++) {
		Value *item = value_append(array);

		if (item)
			*item = (Value){.type = VALUE_UNSIGNED, .number = history_link_down(h, i)};
		r = item ? 0 : -ENOMEM;
	}
	array = r < 0 ? NULL : append_array(&made, "Transitions");
	r = array ? 0 : -ENOMEM;
	for (size_t i = 0; r >= 0 && i < h->n; i++)
		r = append_transition(array, history_entry(h, i));
	array = r < 0 ? NULL : append_array(&made, "Cables");
	r = array ? 0 : -ENOMEM;
	for (size_t i = 0; r >= 0 && i < h->cables.n; i++)
		r = append_entry(array, &past_cable_layout, &h->cables.items[i]);
	if (r < 0)
		value_done(&made);
	*ret = made;
	return r;
}

bool health_evidence(const void *of, size_t i, Seen *ret)
{
	const PortEvidence *shown = of;
	const EvidenceEntry *e;

	if (i >= evidence_count(shown->log))
		return false;
	e = evidence_entry(shown->log, i);
	*ret = (Seen){.what = "", .from = "", .to = "", .reason = ""};
	if (e->port == 0 || e->port == shown->port)
		*ret = (Seen){e->when.realtime_usec,
			      e->when.monotonic_usec,
			      evidence_name(e->kind),
			      e->from,
			      e->to,
			      event_reason_name(e->when.reason)};
	return true;
}
