/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-asked.h"

#include <assert.h>
#include <string.h>

void asked_begin(AskedBy *a)
{
	assert(n_checks <= CHECKS_MAX);
	for (size_t i = 0; i < n_checks; i++) {
		if (checks[i].scope == SCOPE_DEVICE)
			mask_set(&a->of_device, (unsigned int)i, true);
		if (checks[i].scope == SCOPE_PORT)
			mask_set(&a->of_port, (unsigned int)i, true);
	}
}

int asked_reserve(AskedBy *a)
{
	if (!a->by_check)
		a->by_check = calloc(n_checks, sizeof(*a->by_check));
	return a->by_check ? 0 : -ENOMEM;
}

void asked_done(AskedBy *a)
{
	free(a->by_check);
}

static void note_rows(AskedBy *a, unsigned int place, const AttrMask rows[_ASKED_MAX])
{
	for (AskedOf i = 0; i < _ASKED_MAX; i++) {
		AttrMask new;

		if (mask_is_empty(&rows[i]))
			continue;
		new = mask_without(rows[i], a->by_check[place][i]);
		/* a check asks for the same nearly every time */
		if (mask_is_empty(&new))
			continue;
		a->by_check[place][i] = mask_or(a->by_check[place][i], new);
		a->any[i] = mask_or(a->any[i], new);
	}
	if (!mask_is_empty(&rows[ASKED_OTHER_PORT]) || !mask_is_empty(&rows[ASKED_OTHER_DEVICE]))
		mask_set(&a->others, place, true);
}

void asked_note(AskedBy *a, const Check *check, const Asked *now)
{
	unsigned int place = CHECK_PLACE(check);

	note_rows(a, place, now->rows);
	/* who compares looks at the evidence of a row that is asked for too */
	if (now->evidence && check->scope != SCOPE_MACHINE)
		mask_set(&a->evidence, place, true);
	if (now->counters)
		mask_set(&a->counters, place, true);
	if (now->time)
		mask_set(&a->time, place, true);
}

CheckSet asked_who(const AskedBy *a, AskedOf of, AttrMask rows)
{
	AttrMask asked = mask_and(rows, a->any[of]);
	CheckSet who = {};

	for (unsigned int i = 0; i < n_checks && !mask_is_empty(&asked); i++) {
		AttrMask both = mask_and(asked, a->by_check[i][of]);

		if (!mask_is_empty(&both))
			mask_set(&who, i, true);
	}
	return who;
}
