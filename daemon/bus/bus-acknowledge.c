/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Port.Acknowledge(), which only root and the user that rdmad runs as may call: the call waits
 * until the bus has said whose it is. */

#include "bus-options.h"
#include "bus-private.h"
#include "bus-shown.h"
#include "lookup.h"
#include "names.h"

typedef struct Acknowledgement {
	Bus *bus;
	char path[RDMAD_PATH_MAX]; /* of the port */
	char check[sizeof(((FindingEntry *)0)->check)];
	char text[sizeof(((FindingEntry *)0)->acknowledged_text)];
} Acknowledgement;

/* A BusAnswer */
static int acknowledge(void *userdata, sd_bus_message *call, uid_t user, sd_bus_error *error)
{
	const Acknowledgement *a = userdata;
	char name[80];
	Device *d;
	Port *p;

	if (!bus_user_may_change(user))
		return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
					 "Only root may acknowledge a finding");
	if (lookup_path(a->bus->cache, a->path, &d, &p) < 0 || !p)
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "The port has gone");
	if (a->bus->handler->acknowledge(a->bus->userdata, p, a->check, a->text) < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "%s has no finding \"%s\"",
					 port_name(p, name), BUS_SHOW(a->check));
	return sd_bus_reply_method_return(call, NULL);
}

static void on_identified(PendingCall *call, uid_t user, void *userdata)
{
	bus_answer_identified(call, user, acknowledge, userdata);
}

int bus_acknowledge(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const PendingKind kind = {.identified = on_identified, .freed = free};
	const char *check, *text = "";
	const BusOption options[] = {{"text", 's', &text}};
	Acknowledgement *a;
	PendingCall *call;
	int r = sd_bus_message_read_basic(m, 's', &check);

	if (r >= 0)
		r = bus_read_options(m, "Acknowledge", options, ARRAY_SIZE(options), error);
	if (r < 0)
		return r;
	if (strlen(text) >= sizeof(a->text))
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "The text has more than %zu bytes", sizeof(a->text) - 1);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->bus = bus_current(m);
	port_path(userdata, a->path);
	text_copy(a->check, sizeof(a->check), check);
	text_copy_clean(a->text, sizeof(a->text), text);
	r = pending_call_new(a->bus->calls, m, &kind, a, &call, error);
	if (r < 0)
		free(a);
	return r;
}
