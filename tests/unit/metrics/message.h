/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Messages as if they had come from a bus, for tests that read them. Include it after cmocka.h. */

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

/* A message to append to. */
static inline sd_bus_message *message_new(void)
{
	static sd_bus *bus;
	sd_bus_message *m = NULL;
	int fds[2];

	if (!bus) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		assert_true(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0);
		assert_true(sd_bus_start(bus) >= 0);
	}
	assert_true(sd_bus_message_new(bus, &m, SD_BUS_MESSAGE_METHOD_CALL) >= 0);
	return m;
}

/* Ends M: it can be read from its beginning. */
static inline void message_seal(sd_bus_message *m)
{
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_true(sd_bus_message_rewind(m, true) >= 0);
}

/* What GetCounters() says of ports, one counter after the other; and "Error". */
#define COUNTERS_OF_PORTS "a(oa(sstsssa{sv})tta{sv})"

typedef struct MessageCounter {
	const char *group, *name, *unit, *condition, *reason;
	uint64_t value;
} MessageCounter;

typedef struct MessagePort {
	const char *path, *key, *error;
	MessageCounter counters[16];
	size_t n;
	uint64_t realtime, monotonic;
} MessagePort;

static inline void message_read_port(sd_bus_message *m, MessagePort *ret)
{
	MessagePort p = {};
	MessageCounter *c = p.counters;

	assert_true(sd_bus_message_read(m, "o", &p.path) > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "(sstsssa{sv})") > 0);
	for (; sd_bus_message_enter_container(m, 'r', "sstsssa{sv}") > 0; c++) {
		assert_true(sd_bus_message_read(m, "sstsss", &c->group, &c->name, &c->value,
						&c->unit, &c->condition, &c->reason) > 0);
		assert_true(sd_bus_message_skip(m, "a{sv}") > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	p.n = (size_t)(c - p.counters);
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_read(m, "tt", &p.realtime, &p.monotonic) > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	if (sd_bus_message_read(m, "{sv}", &p.key, "s", &p.error) > 0)
		while (sd_bus_message_at_end(m, false) == 0)
			assert_true(sd_bus_message_skip(m, "{sv}") > 0);
	assert_true(sd_bus_message_exit_container(m) > 0);
	*ret = p;
}

static inline void message_put_set(sd_bus_message *m, const MessagePort *p)
{
	for (int column = 0; column < 3; column++) {
		assert_true(sd_bus_message_open_container(m, 'a', "s") >= 0);
		for (size_t i = 0; i < p->n; i++) {
			const MessageCounter *c = &p->counters[i];

			assert_true(sd_bus_message_append(m, "s",
							  column == 0	? c->group
							  : column == 1 ? c->name
									: c->unit) >= 0);
		}
		assert_true(sd_bus_message_close_container(m) >= 0);
	}
	assert_true(sd_bus_message_append(m, "a{sv}", 0) >= 0);
}

static inline void message_put_condition(sd_bus_message *m, const MessagePort *p, bool missing)
{
	const char *type = missing ? "a{us}" : "au";

	assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
	assert_true(sd_bus_message_append(m, "s", missing ? "Missing" : "Saturated") >= 0);
	assert_true(sd_bus_message_open_container(m, 'v', type) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', type + 1) >= 0);
	for (size_t i = 0; i < p->n; i++) {
		const MessageCounter *c = &p->counters[i];

		if (missing && strcmp(c->condition, "missing") == 0)
			assert_true(sd_bus_message_append(m, "{us}", (uint32_t)i, c->reason) >= 0);
		if (!missing && strcmp(c->condition, "saturated") == 0)
			assert_true(sd_bus_message_append(m, "u", (uint32_t)i) >= 0);
	}
	for (int i = 0; i < 3; i++)
		assert_true(sd_bus_message_close_container(m) >= 0);
}

/* The reply to GetCounters() that says what ALL says, COUNTERS_OF_PORTS: each port has a set
 * of its own. ALL is freed. */
static inline sd_bus_message *message_counter_values(sd_bus_message *all)
{
	sd_bus_message *m = message_new();
	MessagePort ports[4];
	size_t n = 0;

	message_seal(all);
	assert_true(sd_bus_message_enter_container(all, 'a', &COUNTERS_OF_PORTS[1]) > 0);
	for (; sd_bus_message_enter_container(all, 'r', "oa(sstsssa{sv})tta{sv}") > 0; n++) {
		message_read_port(all, &ports[n]);
		assert_true(sd_bus_message_exit_container(all) > 0);
	}
	assert_true(sd_bus_message_open_container(m, 'a', "(asasasa{sv})") >= 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(sd_bus_message_open_container(m, 'r', "asasasa{sv}") >= 0);
		message_put_set(m, &ports[i]);
		assert_true(sd_bus_message_close_container(m) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "(ouattta{sv})") >= 0);
	for (size_t i = 0; i < n; i++) {
		const MessagePort *p = &ports[i];

		assert_true(sd_bus_message_open_container(m, 'r', "ouattta{sv}") >= 0);
		assert_true(sd_bus_message_append(m, "ou", p->path, (uint32_t)i) >= 0);
		assert_true(sd_bus_message_open_container(m, 'a', "t") >= 0);
		for (size_t k = 0; k < p->n; k++)
			assert_true(sd_bus_message_append(m, "t", p->counters[k].value) >= 0);
		assert_true(sd_bus_message_close_container(m) >= 0);
		assert_true(sd_bus_message_append(m, "tt", p->realtime, p->monotonic) >= 0);
		assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
		message_put_condition(m, p, true);
		message_put_condition(m, p, false);
		if (p->key)
			assert_true(sd_bus_message_append(m, "{sv}", p->key, "s", p->error) >= 0);
		assert_true(sd_bus_message_close_container(m) >= 0);
		assert_true(sd_bus_message_close_container(m) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	sd_bus_message_unref(all);
	return m;
}
