/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers for the devices of hung.h in the place of rdmad-query. It starts as that does: with
 * libibverbs and its providers, which make most of the time that the start takes, and with the
 * wall. On a machine without RDMA libibverbs would not load them.
 */

#include <dlfcn.h>
#include <glob.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hung.h"
#include "nursery.h"
#include "query-context.h"
#include "query-wall.h"
#include "wire.h"

#define PROVIDERS "/usr/lib/*/libibverbs/*.so"

static HungState *state;

static void say(const WireMessage *m)
{
	if (wire_send(3, m) < 0)
		_exit(0);
}

static void answer(const Query *q)
{
	WireMessage device = {.device = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)}},
		    port = {.port = {.header = wire_header(WIRE_PORT, q->id, q->device, 1),
				     .parts = q->parts}},
		    end = {.end = {.header = wire_header(WIRE_END, q->id, q->device, 0)}};
	DeviceSnapshot d = {};
	PortSnapshot p = {};
	uint32_t i = q->device - 1 - state->n_hung;

	DEVICE_SUPPLY_TEXT(&d, fw_ver, "1.2.3");
	PORT_SUPPLY(&p, link_layer, 1);
	PORT_SUPPLY(&p, state, 4);
	PORT_SUPPLY(&p, phys_state, 5);
	PORT_SUPPLY(&p, sm_lid, 1);
	PORT_SUPPLY(&p, lid, q->device > state->n_hung ? state->lid[i] : 1);
	device.device.values = d.values;
	device.device.supplied = d.supplied;
	port.port.values = p.values;
	port.port.supplied = p.supplied;
	if (q->attributes)
		say(&device);
	if (port_set_has(&q->ports, 1))
		say(&port);
	say(&end);
}

int main(int argc, char *argv[])
{
	Contexts *contexts;
	const char *why = NULL;
	WireMessage m;
	glob_t found;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = hung_state();
	if (!state || contexts_new(&contexts) < 0)
		return EXIT_FAILURE;
	if (glob(PROVIDERS, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			dlopen(found.gl_pathv[i], RTLD_NOW);
	if (streq(argv[argc - 1], "--nursery")) {
		int fd;

		wall_prepare();
		wall_put_on(true);
		fd = nursery_serve(3);
		if (fd <= 0)
			return 0;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, 3);
	}
	wall_put_on(false);
	while (wire_receive(3, &m, &why) > 0) {
		if (m.header.type != WIRE_QUERY)
			continue;
		while (m.query.query.device <= state->n_hung && state->hang)
			syscall(SYS_futex, &state->hang, FUTEX_WAIT, 1, NULL, NULL, 0);
		answer(&m.query.query);
	}
	return 0;
}
