/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All attributes of a port, from every source in the order that makes them fresh. */

#include "query-target.h"

/*
 * S is empty before. Returns a negative errno if the port's own query failed: S then has what other
 * sources said.
 */
int port_query(Target *t, uint32_t port, PortSnapshot *s);
