/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All attributes of a port, from every source. The order of the sources matters: see netdev_get().
 */

#include "query-target.h"

/*
 * S is empty before. Returns a negative errno if the port's own query failed: S then has what other
 * sources said.
 */
int port_query(Target *t, uint32_t port, PortSnapshot *s);

/* Decides about S, for which verbs has not answered because of S->open_error (0: verbs was asked,
 * and failed); FILES_ERROR is the result of reading sysfs. Returns 0 if S is published, and notes
 * there if verbs should be tried again soon; else the error of the query. For the tests. */
int port_judge_without_verbs(PortSnapshot *s, int files_error);

/* Puts into S what nldev says AGAIN of a port without verbs, but not of its links. Returns whether
 * any of that is another value. For the tests. */
bool port_take_again(PortSnapshot *s, const PortSnapshot *again);

/* Takes out of S what nldev has said of an InfiniBand port beside its links, for a query that does
 * not ask verbs. nldev has the state and the LIDs, but not all that the subnet manager sets with
 * them, and the rest is of an older query. For the tests. */
void port_keep_links(PortSnapshot *s);
