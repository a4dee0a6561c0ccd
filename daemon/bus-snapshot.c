/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-snapshot.h"

#include "bus-options.h"
#include "manager.h"
#include "names.h"
#include "snapshot-layout.h"

/* The user on whose behalf M was sent: the bus knows. */
static int sender_uid(sd_bus_message *m, uid_t *ret)
{
	_cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
	int r = sd_bus_query_sender_creds(m, SD_BUS_CREDS_EUID, &creds);

	return r < 0 ? r : sd_bus_creds_get_euid(creds, ret);
}

int bus_snapshot_open(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	uid_t uid;
	int r = bus_read_options(m, "OpenSnapshot", NULL, 0, error);

	if (r < 0)
		return r;
	r = sender_uid(m, &uid);
	if (r < 0)
		return r;
	r = snapshot_open(manager_snapshot(userdata), uid, &memory, &changed);
	if (r == -EUSERS)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "User %u has too many snapshots open", uid);
	if (r == -ENFILE || r == -EMFILE)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "Too many snapshots are open");
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "hha{sv}", memory, changed, 2, "major", "u",
					  (uint32_t)SNAPSHOT_MAJOR, "minor", "u",
					  (uint32_t)SNAPSHOT_MINOR);
}
