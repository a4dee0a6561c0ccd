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
	NeighborReader reader = {lldpd_read, argc > 1 ? argv[1] : NULL, NULL, NULL};
	Lldpd *lldpd = NULL;
	const char *why = "";
	int r, status;

	if (argc > 2) {
		fprintf(stderr, "Unexpected argument: %s\n", argv[2]);
		return EXIT_FAILURE;
	}
	r = lldpd_load(&lldpd, &why);
	if (r == -ELIBACC) {
		fprintf(stderr, "rdmad-neighbors: %s\n", why);
		return EXIT_FAILURE;
	}
	reader.userdata = lldpd;
	status = neighbor_main("org.rdma.Neighbors", "/org/rdma/neighbors", "rdmad-neighbors",
			       &reader, r);
	lldpd_unload(lldpd);
	return status;
}
