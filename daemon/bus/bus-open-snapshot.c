/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-open-snapshot.h"

#include "bus-options.h"
#include "bus-peer.h"
#include "log.h"
#include "manager.h"
#include "memory-layout.h"
#include "names.h"

/* A call for which the bus is asked whose it is. */
typedef struct Question {
	SharedMemory *memory;
	sd_bus_message *call;
} Question;

static void question_free(void *p)
{
	Question *q = p;

	sd_bus_message_unref(q->call);
	free(q);
}

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

static int on_user(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *ret_error)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Question *q = userdata;
	uid_t user;
	int r = bus_peer_read_user(m, &user);

	if (r == -ENXIO)
		return 0; /* the caller has left */
	if (r >= 0)
		r = open_for(q->memory, q->call, user, &error);
	if (r < 0)
		r = sd_bus_reply_method_errno(q->call, r, &error);
	if (r < 0)
		log_debug_errno(r, "Cannot answer OpenSnapshot(), ignoring: %m");
	return 0;
}

/* The user counts, and only the bus knows it. It is not waited for: the answer comes in the order
 * of the calls, so no more questions are open than calls are on their way. */
int bus_snapshot_open(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Question *q;
	int r = bus_read_options(m, "OpenSnapshot", NULL, 0, error);

	if (r < 0)
		return r;
	q = calloc(1, sizeof(Question));
	if (!q)
		return -ENOMEM;
	q->memory = manager_memory(userdata);
	q->call = sd_bus_message_ref(m);
	r = bus_peer_ask_user_once(sd_bus_message_get_bus(m), sd_bus_message_get_sender(m), on_user,
				   q, question_free);
	if (r < 0) {
		question_free(q);
		return r;
	}
	return 1;
}
