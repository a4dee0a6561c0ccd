/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The IPoIB interface of a simulated port. */

#include "port.h"

/* Fills in what E, the interface of the port S, is beside its name: as the rows about the interface
 * of the port say it. That of an Ethernet port has only these rows. */
void simulated_ipoib_describe(const PortSnapshot *s, NetdevEntry *e);
