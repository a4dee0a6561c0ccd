/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-door.h"
#include "bus-open.h"
#include "bus-peer.h"
#include "bus-private.h"
#include "clock.h"
#include "log.h"
#include "long-reply-kinds.h"
#include "names.h"

/* At the end rdmad waits so long for a bus that takes nothing. */
#define FLUSH_USEC USEC_PER_SEC

/* D-Bus specification, RequestName: DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER */
#define NAME_OWNER 1U

static int export_objects(Bus *b)
{
	int r = bus_export_list(b);

	long_reply_kinds_init();
	if (r >= 0)
		r = sd_bus_add_object_manager(b->bus, NULL, RDMAD_ROOT_PATH);
	if (r >= 0)
		r = long_replies_new(b->bus, b->callers, b->turns, b->event, b->cache,
				     long_reply_rows, b->config->long_reply_rate, &b->long_replies);
	if (r >= 0)
		r = bus_manager_add(b);
	if (r >= 0)
		r = bus_log_add(b);
	return r < 0 ? r : bus_door_add(b);
}

/* The connection */

static void on_broken(void *userdata)
{
	Bus *b = userdata;

	b->handler->disconnected(b->userdata);
}

int bus_new(const BusSetup *setup, Bus **ret)
{
	_cleanup_(bus_free_pointer) Bus *b = calloc(1, sizeof(Bus));
	int r;

	if (!b)
		return log_error_errno(-ENOMEM, "No memory for the bus connection: %m");
	b->event = setup->event;
	b->held_end = &b->held;
	b->cache = setup->cache;
	b->config = setup->config;
	b->memory = setup->memory;
	b->handler = setup->handler;
	b->userdata = setup->userdata;
	r = bus_open_address(setup->address, &b->bus);
	if (r < 0)
		return log_error_errno(r, "Cannot connect to the bus %s: %m",
				       setup->address ? setup->address : "of the system");
	r = bus_callers_new(b->bus, &b->callers);
	if (r >= 0)
		r = bus_turns_new(b->bus, b->callers, &b->turns);
	if (r >= 0)
		r = pending_calls_new(b->bus, b->callers, &b->calls);
	if (r >= 0)
		r = bus_wait_new(b, &b->waits);
	if (r < 0)
		return log_error_errno(r, "No memory for the bus connection: %m");
	r = export_objects(b);
	if (r < 0)
		return log_error_errno(r, "Cannot export the objects: %m");
	r = bus_loop_new(b->bus, b->event, b->turns, on_broken, b, &b->loop);
	if (r < 0)
		return log_error_errno(r, "Cannot attach the bus to the event loop: %m");
	*ret = steal_pointer(&b);
	return 0;
}

/* Of what comes in while the last is written, nothing reaches the objects. */
static int on_late_message(_unused_ sd_bus_message *m, _unused_ void *userdata,
			   _unused_ sd_bus_error *error)
{
	return 1;
}

/* Writes what is queued. sd_bus_flush() would wait for ever for a bus that takes nothing, or only
 * some of it. sd_bus_process() also takes messages in: no slot of ours may be left but those of the
 * objects, which on_late_message() protects. */
static void flush_queue(sd_bus *bus)
{
	uint64_t now = monotonic_now_usec(), end = now + FLUSH_USEC;
	int r = sd_bus_add_filter(bus, NULL, on_late_message, NULL);

	for (; r >= 0 && now < end; now = monotonic_now_usec()) {
		if (sd_bus_is_ready(bus) <= 0 || bus_peer_unsent(bus) == 0)
			return;
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, end - now);
	}
}

Bus *bus_free(Bus *b)
{
	if (!b)
		return NULL;
	bus_loop_free(b->loop);
	sd_bus_slot_unref(b->request);
	sd_bus_slot_unref(b->door);
	bus_signals_done(b);
	pending_calls_free(b->calls);
	bus_wait_free(b->waits);
	long_replies_free(b->long_replies);
	bus_turns_free(b->turns);
	bus_callers_free(b->callers);
	if (b->bus)
		flush_queue(b->bus);
	sd_bus_close_unref(b->bus);
	free(b);
	return NULL;
}

int bus_enter_answer(sd_bus_message *answer, const char *entry)
{
	char array[16];

	snprintf(array, sizeof(array), "a%s", entry);
	if (sd_bus_message_is_method_error(answer, NULL))
		return -sd_bus_message_get_errno(answer);
	if (!sd_bus_message_has_signature(answer, array))
		return -EBADMSG;
	return MIN(sd_bus_message_enter_container(answer, 'a', entry), 0);
}

sd_bus *bus_connection(const Bus *b)
{
	return b->bus;
}

static int on_name(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	Bus *b = userdata;
	uint32_t owner = 0;
	int r;

	if (bus_error_is_end(error)) {
		/* nobody has refused anything */
		r = -ECONNRESET;
	} else if (error) {
		r = log_error_errno(-sd_bus_message_get_errno(m),
				    "Cannot own " RDMAD_BUS_NAME " on the bus: %s", error->message);
	} else {
		r = sd_bus_message_read_basic(m, 'u', &owner);
		if (r >= 0 && owner != NAME_OWNER)
			r = log_error_errno(-EEXIST, "Another process owns " RDMAD_BUS_NAME
						     " on this bus; rdmad runs once a bus");
	}
	b->handler->name(b->userdata, MIN(r, 0));
	return 0;
}

int bus_acquire_name(Bus *b)
{
	int r = sd_bus_request_name_async(b->bus, &b->request, RDMAD_BUS_NAME, 0, on_name, b);

	if (r < 0)
		return log_error_errno(r, "Cannot own " RDMAD_BUS_NAME " on the bus: %m");
	/* what is sent from now on comes after the request */
	b->signals = true;
	return 0;
}
