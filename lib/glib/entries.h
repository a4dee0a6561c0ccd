/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The entries of the daemon's answers as boxed types. A later daemon may have more in the
 * dictionary that an entry ends in: the field "details" has all of it. */

#include "method.h"

/* The types of the structures. */
#define ENTRY_TRANSITION     "(ttsssa{sv})"
#define ENTRY_HISTORY	     "(sa{sv})"
#define ENTRY_COUNTER_SET    "(asasasa{sv})"
#define ENTRY_COUNTER_VALUES "(ouattta{sv})"
#define ENTRY_MATCH	     "(oa{sv})"

/* New arrays of what ENTRIES has, an array of such structures. */
GPtrArray *entries_histories(RdmadClient *c, GVariant *entries);
/* Of SETS and PORTS, without the ports that C does not have. NULL and an error if they do not fit.
 */
GPtrArray *entries_port_counters(RdmadClient *c, GVariant *sets, GVariant *ports, GError **error);
/* NULL and an error if C does not have one of the ports. */
GPtrArray *entries_matches(RdmadClient *c, GVariant *entries, GError **error);
/* The port of C with PATH; NULL and an error if there is none. */
RdmadPort *entries_find_port(RdmadClient *c, const char *path, GError **error);
/* For Method, of an answer that begins with an array of transitions. */
gpointer entries_take_transitions(const Answer *a, GError **error);
