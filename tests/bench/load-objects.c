/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load: one client that calls GetManagedObjects(), and calls it again as soon as a reply or an
 * error comes.
 *
 *     load-objects SOCKET
 */

#include "bench.h"
#include "names.h"
#include "raw.h"

int main(int argc, char *argv[])
{
	RawMessage m;
	RawCall call;
	Raw *r;

	if (argc != 2)
		return 2;
	r = raw_connect(argv[1], NULL);
	raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
		 "GetManagedObjects", "");
	for (;;)
		raw_try(r, &call, &m);
}
