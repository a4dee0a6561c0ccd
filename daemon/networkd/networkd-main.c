/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-networkd tells rdmad what systemd-networkd has heard. The program is started by the bus,
 * and answers org.rdma.Networkd.List() (neighbor.h). Everybody may ask systemd-networkd; the
 * program is one of its own because a wait is a wait here, and so that rdmad reads no JSON.
 */

#include "networkd.h"

/* An argument is the socket of another systemd-networkd than that of the machine. */
int main(int argc, char *argv[])
{
	const NeighborReader reader = {networkd_read, argc > 1 ? argv[1] : NETWORKD_SOCKET,
				       "/org/freedesktop/systemd1/unit/"
				       "systemd_2dnetworkd_2eservice"};

	if (argc > 2)
		return helper_refuse_argument(argv[2]);
	return neighbor_main("org.rdma.Networkd", "/org/rdma/networkd", "rdmad-networkd", &reader);
}
