/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of the watchers share: a handler that records, netlink messages made by hand, a
 * network namespace of one's own. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sched.h>
#include <sys/mount.h>
#include <systemd/sd-event.h>

#include "watch.h"

typedef struct Recorder {
	size_t n, n_going;
	size_t overruns; /* counted apart */
	Event events[256];
	uint32_t going[16];
} Recorder;

static inline void record_event(void *userdata, const Event *e)
{
	Recorder *r = userdata;

	if (e->reason == REASON_OVERRUN)
		r->overruns++;
	else if (r->n < ARRAY_SIZE(r->events))
		r->events[r->n++] = *e;
}

static inline void record_going(void *userdata, uint32_t device)
{
	Recorder *r = userdata;

	assert_true(r->n_going < ARRAY_SIZE(r->going));
	r->going[r->n_going++] = device;
}

static const WatchHandler recorder_handler = {record_event, record_going};

static inline bool recorded(const Recorder *r, uint32_t device, uint32_t port, EventReason reason)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->events[i].device == device && r->events[i].port == port &&
		    r->events[i].reason == reason)
			return true;
	return false;
}

/* One datagram under construction; zero-initialise. */
typedef struct Datagram {
	size_t n;
	size_t last; /* where its last message begins */
	uint8_t bytes[8192] __attribute__((aligned(8)));
} Datagram;

static inline void datagram_put(Datagram *d, const void *data, size_t n)
{
	assert_true(d->n + NLMSG_ALIGN(n) <= sizeof(d->bytes));
	if (data)
		memcpy(d->bytes + d->n, data, n);
	d->n += NLMSG_ALIGN(n);
}

static inline struct nlmsghdr *datagram_last(Datagram *d)
{
	return (struct nlmsghdr *)(void *)(d->bytes + d->last);
}

/* Begins a message with a family header of N bytes. */
static inline void datagram_message(Datagram *d, uint16_t type, uint16_t flags, const void *header,
				    size_t n)
{
	struct nlmsghdr m = {.nlmsg_len = sizeof(m), .nlmsg_type = type, .nlmsg_flags = flags};

	d->last = d->n;
	datagram_put(d, &m, sizeof(m));
	datagram_put(d, header, n);
	datagram_last(d)->nlmsg_len = (uint32_t)(d->n - d->last);
}

static inline void datagram_attribute(Datagram *d, uint16_t type, const void *value, size_t n)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + n), .nla_type = type};
	uint8_t bytes[NLA_HDRLEN + 256];

	assert_true(n <= 256);
	memcpy(bytes, &a, sizeof(a));
	memcpy(bytes + NLA_HDRLEN, value, n);
	datagram_put(d, bytes, NLA_HDRLEN + n);
	datagram_last(d)->nlmsg_len = (uint32_t)(d->n - d->last);
}

#define DATAGRAM_NUMBER(d, type, c_type, number)                                                   \
	datagram_attribute(d, type, &(c_type){number}, sizeof(c_type))
#define DATAGRAM_TEXT(d, type, text) datagram_attribute(d, type, text, strlen(text) + 1)

/*
 * Moves the test into network and mount namespaces of its own and mounts their sysfs at PATH, a new
 * directory whose template that is. False, with nothing changed that matters, where that is
 * forbidden.
 */
static inline bool enter_namespace(char *path)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) < 0)
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mkdtemp(path) &&
	       mount("sysfs", path, "sysfs", 0, NULL) == 0;
}

/* Runs the event loop until CONDITION or for ten seconds without a sign of life. */
#define RUN_UNTIL(event, condition)                                                                \
	do {                                                                                       \
		while (!(condition))                                                               \
			assert_true(sd_event_run(event, 60 * USEC_PER_SEC) > 0);                   \
	} while (false)
/* Handles all that is waiting now. */
#define RUN_ALL(event)                                                                             \
	do {                                                                                       \
		while (sd_event_run(event, 0) > 0)                                                 \
			;                                                                          \
	} while (false)
