/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Devices and ports of the cache as the checks see them: an object of lib/ports whose rows are made
 * when a check asks for them. */

#include "cache.h"
#include "object.h"
#include "seen.h"

/* READ gets the rows that are asked for; it can be another set at any time: (*ret)->made->read. */
int health_object_of_device(const Device *d, AttrMask *read, Object **ret);
/* DEVICE is the object of its device, and outlives it. */
int health_object_of_port(const Port *p, const Object *device, AttrMask *read, Object **ret);

/* Of what O is: of a port its device in the cache, and the port; NULL for a device itself. */
Device *health_object_device(const Object *o);
Port *health_object_port(const Object *o);

/* The history of P with what the checks look at, as ListHistories() has it: the last link downs
 * since SINCE_USEC, and the transitions. -ENOMEM. */
int health_history(const Port *p, uint64_t since_usec, Value *ret);

/* What a device has shown, and its port at place PORT, 0 for none. */
typedef struct PortEvidence {
	const EvidenceLog *log;
	uint32_t port;
} PortEvidence;

/* As seen_read(), OF a PortEvidence. The entries of other ports are empty. */
bool health_evidence(const void *of, size_t i, Seen *ret);
