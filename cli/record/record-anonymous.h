/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A record that says nothing of whose it is, to go with the report of a bug. What names or numbers
 * one thing, and is another on another machine (UNIT_ID of the attribute tables), has an alias:
 *
 *   name      of a device, an interface, a switch, a cable: "name-17". Aliases sort as the names do.
 *             Names that the kernel or udev makes of the place of a thing stay, such as mlx5_0,
 *             ens1f0np0 and 0000:3b:00.0.
 *   GUID, half of a GID, MAC address
 *             a number of the same kind. The same one has the same alias everywhere, so a GID is
 *             still that of its port, or of its interface. The prefix of link-local GIDs stays.
 *   IPv4 address
 *             10.X.Y.Z: addresses of one /24 are of one /24 again, and Z stays.
 *
 * The text of an error goes; its code stays. So do the time of each change, and all other values.
 */

#include "rdmactl.h"

/* Prints TEXT, an exported record, to OUT. Says what is wrong with a line. */
ExitStatus record_anonymous_print(const char *text, FILE *out);
