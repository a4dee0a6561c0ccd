/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "neighbor.h"

#include <unistd.h>

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

/* 1: the other program runs; 0: it does not; a negative errno. */
static int is_there(const NeighborReader *r, sd_bus *bus)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *answer = NULL;
	int is_owned = 1, error = 0;

	if (r->name)
		error = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
					   "org.freedesktop.DBus", "NameHasOwner", NULL, &answer,
					   "s", r->name);
	if (answer)
		error = sd_bus_message_read(answer, "b", &is_owned);
	return error < 0 ? error : is_owned;
}

static int method_list(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Service *s = userdata;
	int r = sd_bus_message_new_method_return(m, &reply);

	helper_note_call(&s->helper);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', NEIGHBOR_TYPE);
	if (r < 0)
		return r;
	alarm(ANSWER_SEC);
	r = is_there(s->reader, sd_bus_message_get_bus(m));
	if (r > 0)
		r = s->reader->read(s->reader, append_neighbor, reply);
	alarm(0);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

int neighbor_main(const char *name, const char *path, const char *program,
		  const NeighborReader *reader, int error)
{
	Service s = {.helper = {name,
				path,
				{{"List", "", "a" NEIGHBOR_TYPE, method_list}},
				IDLE_USEC,
				NULL,
				{}},
		     .reader = reader};

	return helper_main(&s.helper, program, error);
}
