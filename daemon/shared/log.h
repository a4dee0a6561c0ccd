/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages go to the journal if standard error is connected to it, otherwise to standard error.
 * log_*_errno() take a negative errno R, which they return; "%m" in their format is the text of R.
 */

#include <stddef.h>
#include <syslog.h>

/* From now on messages go to standard error even if the journal is at its other end, with their
 * level before them (sd-daemon(3)). For a process that may make no socket. */
void log_to_stderr(void);

/* LOG_ERR to LOG_DEBUG. A message whose level is a greater number is dropped. */
extern int log_max_level;

/* Writes a message whatever log_max_level is; log_at() and the macros below compare the levels.
 * Returns R. */
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

/* A field of a message in the journal: see systemd.journal-fields(7). */
typedef struct LogField {
	const char *key, *value;
} LogField;

/* Writes a message with up to 16 further fields. On the console only the text appears. */
void log_with_fields(int level, const LogField *fields, size_t n, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The level with this name, as syslog and org.freedesktop.LogControl1 call them: "debug", "info"
 * and so on. -EINVAL for another name. */
int log_level_from_name(const char *name);
/* The name of a level; "unknown" for a number that is no level. */
const char *log_level_name(int level);
/* Where messages go: "journal" or "console". For org.freedesktop.LogControl1. */
const char *log_target(void);
