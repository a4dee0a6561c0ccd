/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-asked.h"

#include <assert.h>
#include <string.h>

void asked_begin(AskedBy *a)
{
	assert(n_checks <= ARRAY_SIZE(a->last));
	for (size_t i = 0; i < n_checks; i++) {
		if (checks[i].scope == SCOPE_DEVICE)
			a->of_device |= CHECK_BIT(&checks[i]);
		if (checks[i].scope == SCOPE_PORT)
			a->of_port |= CHECK_BIT(&checks[i]);
	}
}

static void note(CheckSet *by, AttrMask *any, const AttrMask *rows, CheckSet check)
{
	MASK_FOREACH(i, *rows)
	by[i] |= check;
	*any = mask_or(*any, *rows);
}

void asked_note(AskedBy *a, const Check *check, const Asked *now)
{
	CheckSet bit = CHECK_BIT(check);
	Asked *last = &a->last[check - checks];

	/* a check asks for the same nearly every time */
	if (memcmp(last, now, sizeof(*now)) == 0)
		return;
	*last = *now;
	note(a->port, &a->any.port, &now->port, bit);
	note(a->device, &a->any.device, &now->device, bit);
	note(a->other_port, &a->any.other_port, &now->other_port, bit);
	note(a->other_device, &a->any.other_device, &now->other_device, bit);
	/* who compares looks at the evidence of a row that is asked for too */
	if (now->evidence && check->scope != SCOPE_MACHINE)
		a->evidence |= bit;
	if (now->counters)
		a->counters |= bit;
	if (now->time)
		a->time |= bit;
	if (!mask_is_empty(&now->other_port) || !mask_is_empty(&now->other_device))
		a->others |= bit;
}

CheckSet asked_who(const CheckSet *by, AttrMask rows)
{
	CheckSet who = 0;

	MASK_FOREACH(i, rows)
	who |= by[i];
	return who;
}
