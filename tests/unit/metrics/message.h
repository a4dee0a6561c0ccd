/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Messages as if they had come from a bus, for tests that read them. Include it after cmocka.h. */

#include <stdbool.h>
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
