/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-neighbors tells rdmad what lldpd has heard. The program is started by the bus, and answers
 * org.rdma.Neighbors.List() (neighbor.h).
 *
 * Who can ask lldpd can also configure it: that is a right of this program, which talks to nobody
 * but rdmad and lldpd, and rdmad itself does not have it. A wait for lldpd is a wait here too.
 */

#include "lldpd.h"

/* An argument is the socket of another lldpd than that of the machine. */
int main(int argc, char *argv[])
{
	const NeighborReader reader = {lldpd_read, argc > 1 ? argv[1] : NULL, NULL};
	const char *why;

	if (argc > 2)
		return helper_refuse_argument(argv[2]);
	why = lldpd_load();
	if (why) {
		fprintf(stderr, "rdmad-neighbors: %s\n", why);
		return EXIT_FAILURE;
	}
	return neighbor_main("org.rdma.Neighbors", "/org/rdma/neighbors", "rdmad-neighbors",
			     &reader);
}
