/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-error.h"

#include "compat.h"

static const struct {
	const char *code;
	int error;
	const char *meaning;
} rows[_QUERY_ERROR_MAX] = {
#define QUERY_ERROR(name, code_, error_, meaning_)                                                 \
	[QUERY_ERROR_##name] = {.code = (code_), .error = -(error_), .meaning = (meaning_)},
#include "query-errors.def"
#undef QUERY_ERROR
};

const char *query_error_format(QueryErrorCode code, int error, AttrText ret)
{
	const char *name = strerrorname_np(-error);

	if (code != QUERY_ERROR_DEVICE)
		text_copy(ret, sizeof(AttrText), rows[code].code);
	else if (name)
		snprintf(ret, sizeof(AttrText), "%s:%s", rows[code].code, name);
	else
		snprintf(ret, sizeof(AttrText), "%s:%d", rows[code].code, -error);
	return ret;
}

int query_error_parse(const char *code, QueryErrorCode *ret)
{
	size_t n = strcspn(code, ":");

	for (QueryErrorCode i = 0; i < _QUERY_ERROR_MAX; i++)
		if (strlen(rows[i].code) == n && strncmp(rows[i].code, code, n) == 0) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

QueryErrorCode query_error_of(int error, const char *text)
{
	if (streq(text, QUERY_ERROR_TEXT_NOT_ASKED))
		return QUERY_ERROR_NOT_ASKED;
	for (QueryErrorCode i = QUERY_ERROR_DEVICE + 1; i < _QUERY_ERROR_MAX; i++)
		if (error < 0 && rows[i].error == error)
			return i;
	return QUERY_ERROR_DEVICE;
}

const char *query_error_name(QueryErrorCode code)
{
	return rows[code].code;
}

const char *query_error_meaning(QueryErrorCode code)
{
	return rows[code].meaning;
}
