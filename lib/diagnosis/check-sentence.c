/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sentences about checks. Only programs that print them have them. */

#include "checks.h"

static const char *const sentences[] = {
#define CHECK(name, severity, condition, scope, clear_usec, look, sentence) sentence,
#include "checks.def"
};

const char *check_sentence(const Check *check)
{
	return sentences[check - checks];
}
