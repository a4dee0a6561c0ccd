/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-open-snapshot.h"

#include "bus-options.h"
#include "bus-private.h"
#include "memory-layout.h"
#include "names.h"

static int open_for(void *userdata, sd_bus_message *call, uid_t uid, sd_bus_error *error)
{
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	int r = shared_memory_open(userdata, uid, &memory, &changed);

	if (r == -EUSERS)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "User %u has too many snapshots open", uid);
	if (r == -ENFILE || r == -EMFILE)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "Too many snapshots are open");
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(call, "hha{sv}", memory, changed, 2, "major", "u",
					  (uint32_t)MEMORY_MAJOR, "minor", "u",
					  (uint32_t)MEMORY_MINOR);
}

/* How many a user may have open counts by user, and only the bus knows who made the call. */
static void on_identified(PendingCall *call, uid_t user, void *userdata)
{
	bus_answer_identified(call, user, open_for, userdata);
}

int bus_open_snapshot(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const PendingKind kind = {.identified = on_identified};
	Bus *b = userdata;
	PendingCall *call;
	int r = bus_read_options(m, "OpenSnapshot", NULL, 0, error);

	if (r < 0)
		return r;
	return pending_call_new(b->calls, m, &kind, b->memory, &call, error);
}
