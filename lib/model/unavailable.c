/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "unavailable.h"

#include <assert.h>

#include "util.h"

#define ON_BUS_BUS    true
#define ON_BUS_CLIENT false

#define UNAVAILABLE(name, code_, where_, text_)                                                    \
	static_assert(sizeof(code_) <= sizeof(unavailable_rows->code) &&                           \
			      sizeof(text_) <= sizeof(unavailable_rows->text),                     \
		      code_ ": is longer than its place");
#include "unavailable.def"
#undef UNAVAILABLE

const Unavailable unavailable_rows[_UNAVAILABLE_MAX] = {
#define UNAVAILABLE(name, code_, where_, text_)                                                    \
	[UNAVAILABLE_##name] = {.code = (code_), .on_bus = ON_BUS_##where_, .text = (text_)},
#include "unavailable.def"
#undef UNAVAILABLE
};

const Unavailable *unavailable_find(const char *code)
{
	return array_find(unavailable_rows, _UNAVAILABLE_MAX, code, code);
}

const char *unavailable_text(const char *code)
{
	const Unavailable *row = unavailable_find(code);

	return row ? row->text : code;
}
