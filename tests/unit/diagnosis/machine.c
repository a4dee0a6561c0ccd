/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "machine.h"

#include "clock.h"

void set_text(Object *o, size_t row, const char *text)
{
	value_done(&o->values[row]);
	o->values[row] = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

void set_number(Object *o, size_t row, uint64_t n)
{
	value_done(&o->values[row]);
	o->values[row] = (Value){.type = VALUE_UNSIGNED, .number = n};
}

void set_reason(Object *o, size_t row, const char *code)
{
	Value *codes = &o->values[o->is_port ? (size_t)PORT_ATTR_unavailable
					     : (size_t)DEVICE_ATTR_unavailable];

	value_done(&o->values[row]);
	codes->type = VALUE_DICT;
	append_text(codes, o->rows[row].name);
	append_text(codes, code);
}

Value *append(Value *v)
{
	Value *item = value_append(v);

	assert_non_null(item);
	return item;
}

void append_text(Value *v, const char *text)
{
	*append(v) = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

void append_number(Value *v, uint64_t n)
{
	*append(v) = (Value){.type = VALUE_UNSIGNED, .number = n};
}

/* Adds PORT to those that are checked. */
static void put(Machine *m, Object *port)
{
	CheckRun *r = &m->run;

	assert_int_equal(object_list_put(&m->objects, port), 0);
	r->ports = reallocarray(r->ports, r->n_ports + 1, sizeof(*r->ports));
	assert_non_null(r->ports);
	r->ports[r->n_ports++] = port;
}

Object *add(Machine *m)
{
	Object *device, *port;
	char path[64], name[32];

	m->expect.is_check = check_exists;
	snprintf(path, sizeof(path), "/org/rdma/device/%zu", m->n_devices);
	snprintf(name, sizeof(name), "d%zu", m->n_devices++);
	assert_int_equal(object_new(path, &device), 0);
	set_text(device, DEVICE_ATTR_name, name);
	set_text(device, DEVICE_ATTR_driver, "mlx5_core");
	assert_int_equal(object_list_put(&m->objects, device), 0);
	strcat(path, "/port/1");
	assert_int_equal(object_new(path, &port), 0);
	path[strlen(path) - strlen("/port/1")] = '\0';
	set_text(port, PORT_ATTR_device_index, path);
	set_text(port, PORT_ATTR_device_name, name);
	set_number(port, PORT_ATTR_port_num, 1);
	set_text(port, PORT_ATTR_protocol, "infiniband");
	set_text(port, PORT_ATTR_state, "active");
	set_number(port, PORT_ATTR_state_change, 1);
	put(m, port);
	return port;
}

Object *add_second(Machine *m, const Object *port)
{
	Object *second;
	char path[64];

	snprintf(path, sizeof(path), "%s/port/2", device_of(m, port)->path);
	assert_int_equal(object_new(path, &second), 0);
	for (size_t i = 0; i < port->n_rows; i++)
		assert_int_equal(value_copy(&port->values[i], &second->values[i]), 0);
	set_number(second, PORT_ATTR_port_num, 2);
	put(m, second);
	return second;
}

Object *device_of(Machine *m, const Object *port)
{
	return CONST_CAST(Object *, object_list_device(&m->objects, port));
}

void machine_done(Machine *m)
{
	free(m->run.ports);
	check_run_done(&m->run);
	expectations_done(&m->expect);
	value_done(&m->histories);
	value_done(&m->evidence);
	object_list_done(&m->objects);
}

static const Value *find_history(void *userdata, const Object *port)
{
	const Value *all = &((Machine *)userdata)->histories;

	for (size_t i = 0; i < all->n; i++)
		if (streq(value_text(value_lookup(&all->items[i], "Port")), port->path))
			return &all->items[i];
	return NULL;
}

Value *history_of(Machine *m, const Object *port, const char *name)
{
	Value *members, *array;

	m->histories.type = VALUE_ARRAY;
	members = append(&m->histories);
	members->type = VALUE_DICT;
	append_text(members, "Port");
	append_text(members, port->path);
	append_text(members, name);
	array = append(members);
	array->type = VALUE_ARRAY;
	return array;
}

static SeenSource find_evidence(void *userdata, _unused_ const Object *device)
{
	return seen_in(&((Machine *)userdata)->evidence);
}

/* A sentence has no place where something is missing. */
static void assert_whole(const CheckRun *r, const char *without)
{
	static const char *const holes[] = {"  ", " ,", " :", "()", "(null)", "( ", " )"};

	for (size_t i = 0; i < r->n_findings; i++) {
		const char *s = r->findings[i].sentence;
		bool is_whole = *s && *s != ' ' && !strchr(" :,", s[strlen(s) - 1]);

		for (size_t k = 0; k < ARRAY_SIZE(holes); k++)
			is_whole &= !strstr(s, holes[k]);
		if (!is_whole)
			fail_msg("without %s: %s: \"%s\"", without, r->findings[i].check->name, s);
	}
}

/* Each port and device has these, whatever the driver says. */
static bool is_always_there(const Object *o, size_t row)
{
	return o->is_port ? row == PORT_ATTR_device_index || row == PORT_ATTR_device_name ||
				    row == PORT_ATTR_port_num
			  : row == DEVICE_ATTR_name;
}

/* What the checks say is whole also without any one of the values of the machine. */
static void take_away_each(CheckRun *r)
{
	for (size_t i = 0; i < r->objects->n; i++) {
		Object *o = r->objects->items[i];

		for (size_t row = 0; row < o->n_rows; row++) {
			Value is = o->values[row];

			if (is.type == VALUE_NONE || is_always_there(o, row))
				continue;
			check_run_done(r);
			o->values[row] = (Value){};
			assert_int_equal(checks_run(r), 0);
			assert_whole(r, o->rows[row].name);
			o->values[row] = is;
		}
	}
	check_run_done(r);
	assert_int_equal(checks_run(r), 0);
}

/* Each of the values is taken away from machines with so many objects at most. */
#define TAKEN_AWAY_MOST 24U

size_t found_in_all(Machine *m)
{
	CheckRun *r = &m->run;
	size_t n = 0;

	check_run_done(r);
	r->objects = &m->objects;
	r->expect = &m->expect;
	r->now_usec = realtime_now_usec();
	r->ask.history = find_history;
	r->ask.evidence = find_evidence;
	r->ask.userdata = m;
	r->only = CONDITIONS_ALL;
	assert_int_equal(checks_run(r), 0);
	assert_whole(r, "nothing");
	if (m->objects.n <= TAKEN_AWAY_MOST)
		take_away_each(r);
	for (size_t i = 0; i < r->n_findings; i++)
		n += finding_severity(r, &r->findings[i]) > SEVERITY_OK;
	return n;
}

size_t found(Machine *m, const char *name)
{
	CheckRun *r = &m->run;
	size_t n = 0;

	assert_true(check_exists(name));
	found_in_all(m);
	for (size_t i = 0; i < r->n_findings; i++)
		if (streq(r->findings[i].check->name, name))
			r->findings[n++] = r->findings[i];
		else
			free(r->findings[i].sentence);
	r->n_findings = n;
	return n;
}

void assert_says(const Machine *m, size_t i, const char *text)
{
	assert_true(i < m->run.n_findings);
	if (!strstr(m->run.findings[i].sentence, text))
		fail_msg("\"%s\" is not in \"%s\"", text, m->run.findings[i].sentence);
}

uint64_t add_evidence(Machine *m, const char *what, uint64_t age_usec, const char *from,
		      const char *to)
{
	uint64_t time = realtime_now_usec() - age_usec;
	Value *entry;

	m->evidence.type = VALUE_ARRAY;
	entry = append(&m->evidence);
	entry->type = VALUE_STRUCT;
	append_number(entry, time);
	append_number(entry, 0);
	append_text(entry, what);
	append_text(entry, from);
	append_text(entry, to);
	append_text(entry, "port-active");
	return time;
}
