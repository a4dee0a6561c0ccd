/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-asked.h"

#include <assert.h>
#include <string.h>

int asked_begin(AskedBy *a)
{
	assert(n_checks <= CHECKS_MAX);
	a->last = calloc(n_checks, sizeof(*a->last));
	if (!a->last)
		return -ENOMEM;
	for (size_t i = 0; i < n_checks; i++) {
		if (checks[i].scope == SCOPE_DEVICE)
			mask_set(&a->of_device, (unsigned int)i, true);
		if (checks[i].scope == SCOPE_PORT)
			mask_set(&a->of_port, (unsigned int)i, true);
	}
	return 0;
}

void asked_done(AskedBy *a)
{
	free(a->last);
}

static void note(CheckSet *by, AttrMask *any, const AttrMask *rows, unsigned int check)
{
	MASK_FOREACH(i, *rows)
	mask_set(&by[i], check, true);
	*any = mask_or(*any, *rows);
}

void asked_note(AskedBy *a, const Check *check, const Asked *now)
{
	unsigned int place = CHECK_PLACE(check);
	Asked *last = &a->last[place];

	/* a check asks for the same nearly every time */
	if (memcmp(last, now, sizeof(*now)) == 0)
		return;
	*last = *now;
	note(a->port, &a->any.port, &now->port, place);
	note(a->device, &a->any.device, &now->device, place);
	note(a->other_port, &a->any.other_port, &now->other_port, place);
	note(a->other_device, &a->any.other_device, &now->other_device, place);
	/* who compares looks at the evidence of a row that is asked for too */
	if (now->evidence && check->scope != SCOPE_MACHINE)
		mask_set(&a->evidence, place, true);
	if (now->counters)
		mask_set(&a->counters, place, true);
	if (now->time)
		mask_set(&a->time, place, true);
	if (!mask_is_empty(&now->other_port) || !mask_is_empty(&now->other_device))
		mask_set(&a->others, place, true);
}

CheckSet asked_who(const CheckSet *by, AttrMask rows)
{
	CheckSet who = {};

	MASK_FOREACH(i, rows)
	who = mask_or(who, by[i]);
	return who;
}
