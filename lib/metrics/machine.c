/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Machines, and the objects of a machine from the reply to GetManagedObjects(). */

#include "bus-walk.h"
#include "list.h"
#include "metrics-private.h"
#include "pci.h"
#include "port-name.h"

static void value_done(MetricValue *v)
{
	if (v->kind == METRIC_VALUE_LIST)
		free(v->list);
	*v = (MetricValue){};
}

static void object_done(const MetricObjects *list, MetricObject *o)
{
	for (size_t i = 0; o->values && i < list->n_rows; i++)
		value_done(&o->values[i]);
	free(o->values);
	free(o->findings);
	free(o->counters);
	sd_bus_message_unref(o->reply);
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
	return m;
}

Metrics *metrics_free(Metrics *m)
{
	if (!m)
		return NULL;
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++) {
		for (size_t i = 0; i < m->objects[k].n; i++)
			object_done(&m->objects[k], &m->objects[k].items[i]);
		free(m->objects[k].items);
	}
	object_done(&(MetricObjects){}, &m->machine);
	free(m->foreign.items);
	free(m->foreign_before.items);
	sd_bus_message_unref(m->objects_reply);
	sd_bus_message_unref(m->counters_reply);
	free(m);
	return NULL;
}

static int read_number(sd_bus_message *m, char type, MetricValue *ret)
{
	union {
		int b;
		uint32_t u;
		uint64_t t;
		int32_t i;
		int64_t x;
	} v;
	int64_t number = 0;
	int r = sd_bus_message_read_basic(m, type, &v);

	if (r < 0)
		return r;
	*ret = (MetricValue){.kind = METRIC_VALUE_NUMBER};
	if (type == 'b')
		ret->number = v.b != 0;
	else if (type == 'u')
		ret->number = v.u;
	else if (type == 't')
		ret->number = v.t;
	else
		number = type == 'i' ? v.i : v.x;
	if (number < 0)
		*ret = (MetricValue){.kind = METRIC_VALUE_NEGATIVE, .number = -(uint64_t)number};
	else if (number > 0)
		ret->number = (uint64_t)number;
	return 0;
}

/* How many entries an array has. */
static int read_length(sd_bus_message *m, const char *contents, MetricValue *ret)
{
	uint64_t n = 0;
	int r = sd_bus_message_enter_container(m, 'a', contents);

	if (r < 0)
		return r;
	for (; (r = sd_bus_message_at_end(m, false)) == 0; n++) {
		r = sd_bus_message_skip(m, contents);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	*ret = (MetricValue){.kind = METRIC_VALUE_NUMBER, .number = n};
	return sd_bus_message_exit_container(m);
}

/* The value of a variant that has been entered: METRIC_VALUE_NONE if its type means nothing here.
 */
static int read_value(sd_bus_message *m, MetricValue *ret)
{
	const char *contents;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	*ret = (MetricValue){};
	if (r < 0)
		return r;
	if (strchr("butix", type))
		return read_number(m, type, ret);
	if (type == 'a')
		return read_length(m, contents, ret);
	if (type != 's')
		return sd_bus_message_skip(m, NULL);
	ret->kind = METRIC_VALUE_TEXT;
	return sd_bus_message_read_basic(m, 's', &ret->text);
}

/* The row of property NAME, of any interface if INTERFACE is INTERFACE_RAW. Properties come in the
 * order of the rows: *CURSOR, where the last was found, saves looking. NULL: there is none. */
static const Attribute *find_row(const MetricObjects *list, AttrInterface interface,
				 const char *name, size_t *cursor)
{
	for (size_t n = 0; n < list->n_rows; n++) {
		const Attribute *row = &list->rows[*cursor];

		*cursor = (*cursor + 1) % list->n_rows;
		if ((interface == INTERFACE_RAW ? row->interface != INTERFACE_RAW
						: row->interface == interface) &&
		    streq(row->name, name))
			return row;
	}
	return NULL;
}

/* Property NAME has no value, because of CODE. */
static void set_unavailable(const MetricObjects *list, MetricObject *o, const char *name,
			    const char *code)
{
	for (size_t i = 0; i < list->n_rows; i++)
		if (list->rows[i].interface != INTERFACE_RAW && streq(list->rows[i].name, name)) {
			value_done(&o->values[i]);
			o->values[i] =
				(MetricValue){.kind = METRIC_VALUE_UNAVAILABLE, .text = code};
		}
}

/* "Unavailable", a{ss}, which has been entered as far as the variant. */
static int read_unavailable(sd_bus_message *m, const MetricObjects *list, MetricObject *o)
{
	const char *name, *code;
	int r = sd_bus_message_enter_container(m, 'a', "{ss}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "{ss}", &name, &code)) > 0)
		set_unavailable(list, o, name, code);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* One item of a list. */
static int read_item(sd_bus_message *m, ListWriter *w)
{
	uint32_t number, second;
	const char *word;
	int r;

	if (w->type == ATTR_WORDS) {
		r = sd_bus_message_read_basic(m, 's', &word);
		if (r > 0)
			list_add_word(w, word);
		return r;
	}
	if (w->type == ATTR_NUMBERS) {
		r = sd_bus_message_read_basic(m, 'u', &number);
		if (r > 0)
			list_add_number(w, number);
		return r;
	}
	r = sd_bus_message_read(m, "{uu}", &number, &second);
	if (r > 0)
		list_add_pair(w, number, second);
	return r;
}

/* A list of TYPE, in a variant that has been entered, as its text. */
static int read_list(sd_bus_message *m, AttrType type, MetricValue *ret)
{
	AttrPath text;
	ListWriter w;
	int r = sd_bus_message_enter_container(m, 'a', attr_signature(type) + 1);

	list_begin(&w, type, text, sizeof(text));
	while (r >= 0 && (r = read_item(m, &w)) > 0)
		;
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	list_end(&w);
	*ret = (MetricValue){.kind = METRIC_VALUE_LIST, .list = strdup(text)};
	return ret->list ? 0 : -ENOMEM;
}

/* The members by name of a finding, a{sv}. *COUNTS is made false if it has another finding as its
 * cause, or somebody has acknowledged it. */
static int read_members(sd_bus_message *m, const char **ret_condition, bool *counts)
{
	BusWalk w = bus_walk_pairs(m, "sv");
	const char *key;

	while (bus_walk_named(&w, &key)) {
		if (streq(key, "Condition"))
			w.r = sd_bus_message_read(m, "v", "s", ret_condition);
		*counts &= !streq(key, "Cause") && !streq(key, "Acknowledged");
	}
	return w.r;
}

/* Counts F, which two things of one object can be found by. */
static int count_finding(MetricObject *o, const MetricFinding *f)
{
	MetricFinding *same = array_find(o->findings, o->n_findings, check, f->check);

	if (same) {
		same->n++;
		return 0;
	}
	if (!array_grow(o->findings, o->n_findings))
		return -ENOMEM;
	o->findings[o->n_findings++] = *f;
	return 0;
}

/* What is wrong with O, in a variant that has been entered; the value is how much that is. What is
 * a part of another finding is counted only there: one cause is one sample. What is acknowledged
 * does not count. */
static int read_findings(sd_bus_message *m, MetricObject *o, MetricValue *ret)
{
	BusWalk w = bus_walk_structures(m, "sssa{sv}");
	const char *sentence;
	uint64_t n = 0;

	while (bus_walk_next(&w)) {
		MetricFinding f = {.check = "", .severity = "", .condition = "", .n = 1};
		bool counts = true;

		w.r = sd_bus_message_read(m, "sss", &f.check, &f.severity, &sentence);
		if (w.r >= 0)
			w.r = read_members(m, &f.condition, &counts);
		if (w.r >= 0 && counts)
			w.r = count_finding(o, &f);
		n++;
	}
	*ret = (MetricValue){.kind = METRIC_VALUE_NUMBER, .number = n};
	return w.r;
}

/* The variant with the value of ROW. */
static int read_property(sd_bus_message *m, const MetricObjects *list, MetricObject *o,
			 const Attribute *row)
{
	const char *contents;
	MetricValue value = {}, *place = &o->values[row - list->rows];
	int r = sd_bus_message_peek_type(m, NULL, &contents);

	/* a later rdmad may say it in another way */
	if (r >= 0 && row->type == ATTR_UNAVAILABLE && !streq(contents, "a{ss}"))
		return 0;
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'v', contents);
	if (r < 0)
		return r;
	if (row->type == ATTR_UNAVAILABLE)
		r = read_unavailable(m, list, o);
	else if (attr_is_list(row->type) && streq(contents, attr_signature(row->type)))
		r = read_list(m, row->type, &value);
	else if (row->type == ATTR_FINDINGS && streq(contents, attr_signature(row->type)))
		r = read_findings(m, o, &value);
	else
		r = read_value(m, &value);
	/* "Unavailable" may have come first */
	if (r < 0 || row->type == ATTR_UNAVAILABLE || place->kind == METRIC_VALUE_UNAVAILABLE) {
		value_done(&value);
	} else {
		value_done(place);
		*place = value;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* a{sv} */
static int read_properties(sd_bus_message *m, const MetricObjects *list, MetricObject *o,
			   const char *interface_name, size_t *cursor)
{
	AttrInterface interface = INTERFACE_RAW;
	const char *name;
	BusWalk w;

	if (*interface_name && attr_interface_find(interface_name, &interface) < 0)
		return 0;
	w = bus_walk_pairs(m, "sv");
	while (bus_walk_named(&w, &name)) {
		const Attribute *row = find_row(list, interface, name, cursor);

		if (row && (row->metric != METRIC_NONE || row->type == ATTR_UNAVAILABLE))
			w.r = read_property(m, list, o, row);
	}
	return w.r;
}

/* a{sa{sv}} */
static int read_interfaces(sd_bus_message *m, const MetricObjects *list, MetricObject *o)
{
	BusWalk w = bus_walk_pairs(m, "sa{sv}");
	const char *name;
	size_t cursor = 0;

	while (bus_walk_named(&w, &name))
		w.r = read_properties(m, list, o, name, &cursor);
	return w.r;
}

static void set_labels(MetricObject *o, MetricObjectKind kind)
{
	size_t row =
		kind == METRIC_PORTS ? (size_t)PORT_ATTR_device_name : (size_t)DEVICE_ATTR_name;

	if (o->values[row].kind == METRIC_VALUE_TEXT && *o->values[row].text)
		o->name = o->values[row].text;
	if (kind == METRIC_PORTS)
		snprintf(o->number, sizeof(o->number), "%u", o->port);
}

/* The a{sa{sv}} behind PATH */
static int read_object(Metrics *metrics, const char *path, sd_bus_message *m)
{
	MetricObject o = {.path = path};
	MetricObjects *list;
	MetricObjectKind kind;
	int r;

	if (object_path_parse(path, &o.device, &o.port) < 0)
		return 0;
	kind = o.port == PORT_NUMBER_NONE ? METRIC_DEVICES : METRIC_PORTS;
	list = &metrics->objects[kind];
	if (!array_grow(list->items, list->n))
		return -ENOMEM;
	o.values = calloc(list->n_rows, sizeof(*o.values));
	if (!o.values)
		return -ENOMEM;
	r = read_interfaces(m, list, &o);
	set_labels(&o, kind);
	list->items[list->n++] = o;
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
				object_done(list, &list->items[i]);
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
		const MetricValue *function = &device->values[DEVICE_ATTR_function];

		device->is_function =
			function->kind == METRIC_VALUE_TEXT && pci_function_is_part(function->text);
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

		if (list->n > 0)
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

	if (metrics->objects_reply)
		return -EINVAL;
	w = bus_walk_pairs(m, "oa{sa{sv}}");
	if (w.r >= 0)
		metrics->objects_reply = sd_bus_message_ref(m);
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

/* Gives O what was read into NEW, which has what O had then; the counters stay. */
static void replace_values(MetricObject *o, MetricObject *new)
{
	MetricObject was = *o;

	o->values = new->values;
	o->findings = new->findings;
	o->n_findings = new->n_findings;
	o->reply = new->reply;
	o->name = new->name;
	*new = (MetricObject){.values = was.values, .findings = was.findings, .reply = was.reply};
}

int metrics_read_object(Metrics *metrics, const char *path, sd_bus_message *m)
{
	MetricObject new = {}, *o;
	MetricObjects *list;
	MetricObjectKind kind;
	size_t cursor = 0;
	int r;

	if (object_path_parse(path, &new.device, &new.port) < 0)
		return -ENOENT;
	kind = new.port == PORT_NUMBER_NONE ? METRIC_DEVICES : METRIC_PORTS;
	list = &metrics->objects[kind];
	o = find_object(metrics, kind, new.device, new.port);
	if (!o)
		return -ENOENT;
	new.values = calloc(list->n_rows, sizeof(*new.values));
	if (!new.values)
		return -ENOMEM;
	new.reply = sd_bus_message_ref(m);
	r = read_properties(m, list, &new, "", &cursor);
	set_labels(&new, kind);
	if (r >= 0 && (!new.name || !streq(new.name, o->name)))
		r = -ENOENT;
	if (r >= 0) {
		replace_values(o, &new);
		mark_functions(metrics);
		metrics->layout++;
	}
	object_done(list, &new);
	return r < 0 ? r : 0;
}

int metrics_read_machine(Metrics *metrics, sd_bus_message *m)
{
	MetricObject new = {};
	MetricValue n;
	int r = sd_bus_message_enter_container(m, 'v', "a(sssa{sv})");

	if (r >= 0)
		r = read_findings(m, &new, &n);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0) {
		new.reply = sd_bus_message_ref(m);
		object_done(&(MetricObjects){}, &metrics->machine);
		metrics->machine = new;
		metrics->layout++;
	} else {
		object_done(&(MetricObjects){}, &new);
	}
	return r < 0 ? r : 0;
}

typedef struct Keep {
	bool (*function)(void *userdata, const char *path);
	void *userdata;
} Keep;

static bool keep_path(void *userdata, const MetricObject *o)
{
	const Keep *keep = userdata;

	return keep->function(keep->userdata, o->path);
}

void metrics_keep(Metrics *m, bool (*keep)(void *userdata, const char *path), void *userdata)
{
	keep_objects(m, keep_path, &(Keep){keep, userdata});
	m->layout++;
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
