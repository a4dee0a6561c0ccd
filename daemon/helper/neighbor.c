/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "neighbor.h"

#include "util.h"

/* Longer than the default of NeighborIntervalSec=: where there is somebody to ask, the program
 * stays. */
#define IDLE_USEC  (300 * USEC_PER_SEC)
#define ANSWER_SEC 5U

#define NEIGHBOR_TYPE "(ssssssuuitt)"

typedef struct Service {
	Helper helper;
	const NeighborReader *reader;
} Service;

static int append_neighbor(void *userdata, const Neighbor *n)
{
	return MIN(sd_bus_message_append(userdata, NEIGHBOR_TYPE, n->interface, n->system, n->port,
					 n->port_text, n->chassis, n->address, n->vlan, n->frame,
					 n->pfc, n->ets, n->since_usec),
		   0);
}

/* 1: the other program runs; 0: it does not, or is about to end; a negative errno. While it ends it
 * still has its name on the bus, but takes no question any more: systemd would, and start it. */
static int is_there(const NeighborReader *r, sd_bus *bus)
{
	_cleanup_free_ char *state = NULL;
	int error = r->unit ? sd_bus_get_property_string(bus, "org.freedesktop.systemd1", r->unit,
							 "org.freedesktop.systemd1.Unit",
							 "ActiveState", NULL, &state)
			    : 0;

	if (error < 0)
		return error;
	return !state || (!streq(state, "inactive") && !streq(state, "failed") &&
			  !streq(state, "deactivating"));
}

static int answer_list(Helper *h, sd_bus_message *call, sd_bus_message *reply,
		       _unused_ sd_bus_error *error)
{
	const NeighborReader *reader = ((const Service *)h)->reader;
	int r = is_there(reader, sd_bus_message_get_bus(call));

	return r > 0 ? reader->read(reader->socket, append_neighbor, reply) : r;
}

int neighbor_main(const char *name, const char *path, const char *program,
		  const NeighborReader *reader)
{
	Service s = {.helper = {.name = name,
				.path = path,
				.methods = {{"List", "", "a" NEIGHBOR_TYPE, answer_list}},
				.idle_usec = IDLE_USEC,
				.answer_sec = ANSWER_SEC},
		     .reader = reader};

	return helper_main(&s.helper, program, 0);
}
