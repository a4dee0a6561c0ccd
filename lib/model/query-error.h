/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why a query has failed: the rows of query-errors.def. */

#include "attribute.h"

typedef enum QueryErrorCode {
#define QUERY_ERROR(name, ...) QUERY_ERROR_##name,
#include "query-errors.def"
#undef QUERY_ERROR
	_QUERY_ERROR_MAX
} QueryErrorCode;

/* The text in LastError for NOT_ASKED, which is always the same. */
#define QUERY_ERROR_TEXT_NOT_ASKED "not asked, as too many other devices hang"

/* CODE for programs: "no-end". ERROR is the negative errno beside it: "device-error:EIO". Returns
 * RET. */
const char *query_error_format(QueryErrorCode code, int error, AttrText ret);
/* Reads CODE; what is behind a colon counts for nothing. -EINVAL. */
int query_error_parse(const char *code, QueryErrorCode *ret);
/* The code of an error of which only the negative errno ERROR and the words TEXT are known. */
QueryErrorCode query_error_of(int error, const char *text);
/* The code of row CODE without an errno, and what it means. */
const char *query_error_name(QueryErrorCode code);
const char *query_error_meaning(QueryErrorCode code);
