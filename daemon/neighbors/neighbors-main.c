/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-neighbors tells rdmad what lldpd has heard. The program is started by the bus, answers
 *
 *     org.rdma.Neighbors.List() -> a(ssssssuuitt)
 *
 * with the network interface of this machine, and of the other end of its link the name of the
 * system, the port, its description, the chassis, the address, the VLAN, the largest frame, the
 * priorities with flow control as a mask (-1: not known), the percents of the traffic classes as
 * bytes in the order of memory (UINT64_MAX: not known), and since when it says that (CLOCK_REALTIME
 * in us), for each interface whose other end is known, and ends when nobody has
 * asked for a while.
 *
 * Who can ask lldpd can also configure it: that is a right of this program, which talks to nobody
 * but rdmad and lldpd, and rdmad itself does not have it. A wait for lldpd is a wait here too.
 */

#include <unistd.h>

#include "helper.h"
#include "lldpd.h"

#define NAME "org.rdma.Neighbors"
#define PATH "/org/rdma/neighbors"
/* Longer than the default of NeighborIntervalSec=: on a machine with lldpd the program stays. */
#define IDLE_USEC (300 * USEC_PER_SEC)
/* An lldpd that does not answer in so many seconds ends the program. */
#define ANSWER_SEC 5U

typedef struct Service {
	Helper helper;
	Lldpd *lldpd;
	const char *socket;
} Service;

static int append_neighbor(void *userdata, const Neighbor *n)
{
	return MIN(sd_bus_message_append(userdata, "(ssssssuuitt)", n->interface, n->system,
					 n->port, n->port_text, n->chassis, n->address, n->vlan,
					 n->frame, n->pfc, n->ets, n->since_usec),
		   0);
}

static int method_list(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Service *s = userdata;
	int r = sd_bus_message_new_method_return(m, &reply);

	helper_note_call(&s->helper);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ssssssuuitt)");
	if (r < 0)
		return r;
	alarm(ANSWER_SEC);
	r = lldpd_read(s->lldpd, s->socket, append_neighbor, reply);
	alarm(0);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/* An argument is the socket of another lldpd than that of the machine. */
int main(int argc, char *argv[])
{
	Service s = {.helper = {NAME,
				PATH,
				{{"List", "", "a(ssssssuuitt)", method_list}},
				IDLE_USEC,
				NULL,
				{}}};
	const char *why = "";
	int r, status;

	if (argc > 2) {
		fprintf(stderr, "Unexpected argument: %s\n", argv[2]);
		return EXIT_FAILURE;
	}
	s.socket = argv[1];
	r = lldpd_load(&s.lldpd, &why);
	if (r == -ELIBACC) {
		fprintf(stderr, "rdmad-neighbors: %s\n", why);
		return EXIT_FAILURE;
	}
	status = helper_main(&s.helper, "rdmad-neighbors", r);
	lldpd_unload(s.lldpd);
	return status;
}
