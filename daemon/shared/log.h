/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages to the journal, or to standard error where that is not the journal. %m is
 * strerror(errno); log_*_errno() set errno to the negative errno R first and return R.
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

extern int log_max_level; /* LOG_ERR to LOG_DEBUG; messages of a level above it are dropped */

int log_full(int level, int r, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define log_at(level, r, ...) ((level) <= log_max_level ? log_full(level, r, __VA_ARGS__) : (r))

#define log_debug(...)		  ((void)log_at(LOG_DEBUG, 0, __VA_ARGS__))
#define log_info(...)		  ((void)log_at(LOG_INFO, 0, __VA_ARGS__))
#define log_notice(...)		  ((void)log_at(LOG_NOTICE, 0, __VA_ARGS__))
#define log_warning(...)	  ((void)log_at(LOG_WARNING, 0, __VA_ARGS__))
#define log_error(...)		  ((void)log_at(LOG_ERR, 0, __VA_ARGS__))
#define log_debug_errno(r, ...)	  log_at(LOG_DEBUG, r, __VA_ARGS__)
#define log_warning_errno(r, ...) log_at(LOG_WARNING, r, __VA_ARGS__)
#define log_error_errno(r, ...)	  log_at(LOG_ERR, r, __VA_ARGS__)

/* A field of a message in the journal, systemd.journal-fields(7). */
typedef struct LogField {
	const char *key, *value;
} LogField;

/* A message with up to 16 fields of its own; on the console it is the text alone. */
void log_with_fields(int level, const LogField *fields, size_t n, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "debug", "info", ... as syslog and LogControl1 name the levels; -EINVAL. */
int log_level_from_name(const char *name);
const char *log_level_name(int level);
/* "journal" or "console", for LogControl1. */
const char *log_target(void);
