/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-open-snapshot.h"

#include "bus-options.h"
#include "bus-private.h"
#include "log.h"
#include "memory-layout.h"
#include "names.h"

static int open_for(SharedMemory *s, sd_bus_message *call, uid_t uid, sd_bus_error *error)
{
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	int r = shared_memory_open(s, uid, &memory, &changed);

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
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = bus_call_of(call);
	int r = m ? open_for(userdata, m, user, &error) : 0;

	if (r < 0)
		r = sd_bus_reply_method_errno(m, r, &error);
	if (r < 0)
		log_debug_errno(r, "Cannot answer OpenSnapshot(), ignoring: %m");
	pending_call_free(call);
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
