/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/socket.h>

#include "bus-pair.h"

static sd_bus *open_end(int fd, bool is_server)
{
	sd_id128_t id = {};
	sd_bus *bus;

	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fd, fd) >= 0);
	if (is_server)
		assert_true(sd_bus_set_server(bus, true, id) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	return bus;
}

void bus_pair_open(sd_bus **ret_bus, sd_bus **ret_daemon)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
			 0);
	*ret_bus = open_end(pair[0], true);
	*ret_daemon = open_end(pair[1], false);
}

bool bus_pair_run(sd_bus *bus)
{
	bool did = false;
	int r;

	while ((r = sd_bus_process(bus, NULL)) > 0)
		did = true;
	assert_int_equal(r, 0);
	return did;
}

void bus_pair_settle(sd_bus *bus, sd_bus *daemon)
{
	for (bool did = true; did || sd_bus_is_ready(bus) == 0 || sd_bus_is_ready(daemon) == 0;) {
		did = bus_pair_run(bus);
		did |= bus_pair_run(daemon);
	}
}
