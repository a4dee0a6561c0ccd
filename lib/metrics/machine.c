/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Machines, and the objects of a machine from the reply to GetManagedObjects(). */

#include "bus-walk.h"
#include "names.h"
#include "pci.h"
#include "port-name.h"
#include "visit.h"

static void values_done(MetricObject *o)
{
	size_t n = 0;

	MASK_FOREACH(a, o->rows)
	value_done(&o->values[n++]);
	free(o->values);
	free(o->reasons);
}

static void object_done(MetricObject *o)
{
	values_done(o);
	free(o->labels);
	free(o->counters);
}

void metrics_change_layout(Metrics *m, MetricObject *o)
{
	static uint64_t last;

	m->layout = ++last;
	if (o)
		o->layout = last;
	else
		m->whole = last;
}

Metrics *metrics_new(void)
{
	Metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->objects[METRIC_PORTS] =
		(MetricObjects){.rows = port_attributes, .n_rows = _PORT_ATTR_MAX};
	m->objects[METRIC_DEVICES] =
		(MetricObjects){.rows = device_attributes, .n_rows = _DEVICE_ATTR_MAX};
	metrics_change_layout(m, NULL);
	m->machine.layout = m->layout;
	return m;
}

Metrics *metrics_free(Metrics *m)
{
	if (!m)
		return NULL;
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++) {
		for (size_t i = 0; i < m->objects[k].n; i++)
			object_done(&m->objects[k].items[i]);
		free(m->objects[k].items);
	}
	value_done(&m->findings);
	for (size_t i = 0; i < m->n_codes; i++)
		free(m->codes[i]);
	free(m->codes);
	free(m->foreign.items);
	free(m->foreign_before.items);
	sd_bus_message_unref(m->counters_reply);
	free(m);
	return NULL;
}

/* Sets *CODE to the place of TEXT among the codes of M; mostly that is what it was. -EBADMSG: there
 * are too many. */
static int find_code(Metrics *m, const char *text, uint16_t *code)
{
	size_t i = 0;

	if (*code < m->n_codes && streq(m->codes[*code], text))
		return 0;
	while (i < m->n_codes && !streq(m->codes[i], text))
		i++;
	if (i > UINT16_MAX)
		return -EBADMSG;
	if (i == m->n_codes) {
		if (!array_grow(m->codes, m->n_codes))
			return -ENOMEM;
		m->codes[i] = strdup(text);
		if (!m->codes[i])
			return -ENOMEM;
		m->n_codes++;
	}
	*code = (uint16_t)i;
	return 0;
}

/* Keeps in *RET why rows of O have no valid value, and takes the values of these rows away. */
static int take_reasons(Metrics *m, Object *o, MetricObject *ret)
{
	size_t row_of_names =
		o->is_port ? (size_t)PORT_ATTR_unavailable : (size_t)DEVICE_ATTR_unavailable;
	const Value *named = &o->values[row_of_names];
	size_t n = named->type == VALUE_DICT ? named->n : 0, cursor = 0;
	AttrMask seen = {};
	uint16_t code = 0;
	int r = 0;

	ret->reasons = calloc(n / 2 + 1, sizeof(*ret->reasons));
	if (!ret->reasons)
		return -ENOMEM;
	for (size_t i = 0; i < n && r >= 0; i += 2) {
		size_t row = object_find_name(o, value_text(&named->items[i]), &cursor);

		if (row == o->n_rows || row == row_of_names || mask_has(&seen, (unsigned int)row))
			continue;
		value_done(&o->values[row]);
		mask_set(&seen, (unsigned int)row, true);
		r = find_code(m, value_text(&named->items[i + 1]), &code);
		if (r >= 0)
			ret->reasons[ret->n_reasons++] = (MetricReason){(uint16_t)row, code};
	}
	return r;
}

/* Moves the values of O that are valid, and that metrics are made of, to *RET. */
static int take_values(Object *o, MetricObject *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_rows; i++) {
		if (i % 64 == 0)
			ret->n_before[i / 64] = (uint8_t)n;
		if (o->values[i].type == VALUE_NONE || o->rows[i].metric == METRIC_NONE)
			continue;
		mask_set(&ret->rows, (unsigned int)i, true);
		n++;
	}
	ret->values = calloc(n + 1, sizeof(Value));
	if (!ret->values)
		return -ENOMEM;
	n = 0;
	MASK_FOREACH(a, ret->rows)
	{
		ret->values[n++] = o->values[a];
		o->values[a] = (Value){};
	}
	return 0;
}

static int new_object(const char *path, Object **ret)
{
	int r = object_new(path, ret);

	if (r >= 0)
		(*ret)->counts_entries = true;
	return r;
}

static size_t name_row(bool is_port)
{
	return is_port ? (size_t)PORT_ATTR_device_name : (size_t)DEVICE_ATTR_name;
}

/* What O, which has been read, says, in place of what ITEM has; after an error ITEM is as before.
 */
static int set_object(Metrics *m, MetricObject *item, Object *o)
{
	MetricObject new = *item;
	MetricLabel labels[2];
	const char *name;
	int r;

	new.rows = (AttrMask){};
	new.values = NULL;
	new.reasons = NULL;
	new.n_reasons = 0;
	r = take_reasons(m, o, &new);
	if (r >= 0)
		r = take_values(o, &new);
	if (r < 0) {
		free(new.reasons);
		return r;
	}
	name = value_text(visit_value(&new, name_row(o->is_port)));
	new.name = *name ? name : NULL;
	new.labels = new.name ? metrics_labels_text(labels, visit_set_labels(&new, labels)) : NULL;
	if (new.name && !new.labels) {
		values_done(&new);
		return -ENOMEM;
	}
	values_done(item);
	free(item->labels);
	*item = new;
	return 0;
}

/* The a{sa{sv}} behind PATH */
static int read_object(Metrics *metrics, const char *path, sd_bus_message *m)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	MetricObject item = {};
	MetricObjects *list;
	int r = new_object(path, &o);

	if (r == -EINVAL)
		return 0;
	if (r >= 0)
		r = object_read_interfaces(o, m);
	if (r < 0)
		return r;
	list = &metrics->objects[o->is_port ? METRIC_PORTS : METRIC_DEVICES];
	if (!array_grow(list->items, list->n))
		return -ENOMEM;
	object_path_parse(path, &item.device, &item.port);
	if (o->is_port)
		snprintf(item.number, sizeof(item.number), "%u", item.port);
	item.layout = metrics->layout;
	r = set_object(metrics, &item, o);
	if (r >= 0)
		list->items[list->n++] = item;
	return r;
}

static int compare(const void *left, const void *right)
{
	const MetricObject *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->port == b->port ? 0 : a->port < b->port ? -1 : 1;
}

static bool has_name(_unused_ void *userdata, const MetricObject *o)
{
	return o->name != NULL;
}

/* Removes the objects for which KEEP returns false. */
static void keep_objects(Metrics *m, bool (*keep)(void *userdata, const MetricObject *o),
			 void *userdata)
{
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++) {
		MetricObjects *list = &m->objects[k];
		size_t n = 0;

		for (size_t i = 0; i < list->n; i++)
			if (keep(userdata, &list->items[i]))
				list->items[n++] = list->items[i];
			else
				object_done(&list->items[i]);
		list->n = n;
	}
}

static int compare_labels(const void *left, const void *right)
{
	MetricObject *const *a = left, *const *b = right;
	int r = strcmp((*a)->name, (*b)->name);

	if (r != 0)
		return r;
	return (*a)->port == (*b)->port ? compare(*a, *b) : (*a)->port < (*b)->port ? -1 : 1;
}

static bool has_same_labels(const MetricObject *a, const MetricObject *b)
{
	return a->port == b->port && streq(a->name, b->name);
}

/* Two devices can have the same name if the kernel's names differ only by what a text must not
 * have. Prometheus refuses everything if two samples have the same labels. All but the first lose
 * their name. */
static int drop_doubles(MetricObjects *list)
{
	_cleanup_free_ MetricObject **sorted = calloc(list->n + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		sorted[i] = &list->items[i];
	sort(sorted, list->n, sizeof(*sorted), compare_labels);
	for (size_t i = list->n; i > 1; i--)
		if (has_same_labels(sorted[i - 2], sorted[i - 1]))
			sorted[i - 1]->name = NULL;
	return 0;
}

static void mark_functions(Metrics *m)
{
	const MetricObjects *devices = &m->objects[METRIC_DEVICES],
			    *ports = &m->objects[METRIC_PORTS];

	for (size_t d = 0, p = 0; d < devices->n; d++) {
		MetricObject *device = &devices->items[d];

		device->is_function =
			pci_function_is_part(value_text(visit_value(device, DEVICE_ATTR_function)));
		/* both are sorted by the index of the device */
		while (p < ports->n && ports->items[p].device < device->device)
			p++;
		for (; p < ports->n && ports->items[p].device == device->device; p++)
			ports->items[p].is_function = device->is_function;
	}
}

/* Removes what has no labels to know it by, and sorts the rest. */
static int finish_objects(Metrics *m)
{
	keep_objects(m, has_name, NULL);
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++) {
		MetricObjects *list = &m->objects[k];

		sort(list->items, list->n, sizeof(MetricObject), compare);
		if (drop_doubles(list) < 0)
			return -ENOMEM;
	}
	keep_objects(m, has_name, NULL);
	mark_functions(m);
	return 0;
}

int metrics_read_objects(Metrics *metrics, sd_bus_message *m)
{
	const char *path;
	BusWalk w;

	if (metrics->has_objects)
		return -EINVAL;
	w = bus_walk_pairs(m, "oa{sa{sv}}");
	metrics->has_objects = w.r >= 0;
	while (bus_walk_named(&w, &path))
		w.r = read_object(metrics, path, m);
	return w.r < 0 ? w.r : finish_objects(metrics);
}

/* The object of KIND with these numbers; NULL if there is none. */
static MetricObject *find_object(const Metrics *m, MetricObjectKind kind, uint32_t device,
				 uint32_t port)
{
	const MetricObjects *list = &m->objects[kind];
	const MetricObject key = {.device = device, .port = port};

	return list->n > 0 ? bsearch(&key, list->items, list->n, sizeof(key), compare) : NULL;
}

int metrics_read_object(Metrics *metrics, const char *path, sd_bus_message *m)
{
	_cleanup_(object_free_pointer) Object *new = NULL;
	uint32_t device, port;
	MetricObject *o;
	int r;

	if (object_path_parse(path, &device, &port) < 0)
		return -ENOENT;
	o = find_object(metrics, port == PORT_NUMBER_NONE ? METRIC_DEVICES : METRIC_PORTS, device,
			port);
	if (!o)
		return -ENOENT;
	r = new_object(path, &new);
	if (r >= 0)
		r = object_read_properties(new, "", m);
	if (r < 0)
		return r;
	if (!streq(value_text(&new->values[name_row(new->is_port)]), o->name))
		return -ENOENT;
	r = set_object(metrics, o, new);
	if (r < 0)
		return r;
	mark_functions(metrics);
	metrics_change_layout(metrics, o);
	return 0;
}

int metrics_set_property(Metrics *m, uint32_t device, uint32_t port, const char *name,
			 const char *text)
{
	MetricObject *o = find_object(m, METRIC_PORTS, device, port);
	size_t i = 0;
	Value *value;
	char *copy;

	if (!o)
		return -ENOENT;
	while (i < _PORT_ATTR_MAX && !streq(port_attributes[i].name, name))
		i++;
	if (i == _PORT_ATTR_MAX || !mask_has(&o->rows, (unsigned int)i))
		return 0;
	value = &o->values[visit_place(o, i)];
	if (value->type == VALUE_UNSIGNED && text_to_u64(text, UINT64_MAX, &value->number) < 0)
		return -EINVAL;
	if (value->type == VALUE_TEXT) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
		free(value->text);
		value->text = copy;
	} else if (value->type != VALUE_UNSIGNED) {
		return -EOPNOTSUPP;
	}
	metrics_change_layout(m, o);
	return 0;
}

int metrics_read_machine(Metrics *metrics, sd_bus_message *m)
{
	_cleanup_value_ Value new = {};
	int r = sd_bus_message_enter_container(m, 'v', "a(sssa{sv})");

	if (r >= 0)
		r = value_read(m, &new);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	value_done(&metrics->findings);
	metrics->findings = new;
	new = (Value){};
	metrics_change_layout(metrics, &metrics->machine);
	return 0;
}

typedef struct Keep {
	bool (*function)(void *userdata, const char *path);
	void *userdata;
} Keep;

static bool keep_path(void *userdata, const MetricObject *o)
{
	const Keep *keep = userdata;
	char path[RDMAD_PATH_MAX];

	return keep->function(keep->userdata, object_path_put(o->device, o->port, path));
}

void metrics_keep(Metrics *m, bool (*keep)(void *userdata, const char *path), void *userdata)
{
	keep_objects(m, keep_path, &(Keep){keep, userdata});
	metrics_change_layout(m, NULL);
}

uint64_t metrics_layout(const Metrics *m)
{
	return m->layout;
}

MetricObject *metrics_find_port(const Metrics *m, uint32_t device, uint32_t port)
{
	return find_object(m, METRIC_PORTS, device, port);
}

MetricObject *metrics_find_path(const Metrics *m, const char *path)
{
	uint32_t device, port;

	return object_path_parse(path, &device, &port) == 0 && port != PORT_NUMBER_NONE
		       ? metrics_find_port(m, device, port)
		       : NULL;
}
