/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "log.h"

#include <assert.h>
#include <stdarg.h>
#include <sys/uio.h>

/* Without this each message would carry the file and the line of this file. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "util.h"

int log_max_level = LOG_INFO;

static bool only_stderr;

static const char *const level_names[] = {
	[LOG_EMERG] = "emerg", [LOG_ALERT] = "alert",	  [LOG_CRIT] = "crit",
	[LOG_ERR] = "err",     [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",   [LOG_DEBUG] = "debug",
};

/* Set by systemd for services whose output goes to the journal (systemd.exec(5)). */
static bool to_journal(void)
{
	return getenv("JOURNAL_STREAM") != NULL;
}

void log_to_stderr(void)
{
	only_stderr = true;
}

const char *log_target(void)
{
	return to_journal() ? "journal" : "console";
}

/* Many processes share the connection to the journal: one write() keeps a message in one piece. */
static void print_with_level(int level, const char *format, va_list args)
{
	char line[1024];
	size_t n;

	snprintf(line, sizeof(line), "<%d>", level);
	n = strlen(line);
	vsnprintf(line + n, sizeof(line) - n, format, args);
	n = MIN(strlen(line), sizeof(line) - 2);
	line[n] = '\n';
	(void)!write(STDERR_FILENO, line, n + 1);
}

int log_full(int level, int r, const char *format, ...)
{
	int saved_errno = errno;
	va_list args;

	errno = -r;
	va_start(args, format);
	if (to_journal() && only_stderr) {
		print_with_level(level, format, args);
	} else if (to_journal()) {
		sd_journal_printv(level, format, args);
	} else {
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
	}
	va_end(args);
	errno = saved_errno;
	return r;
}

void log_with_fields(int level, const LogField *fields, size_t n, const char *format, ...)
{
	char lines[18][512] = {"MESSAGE="};
	struct iovec iov[ARRAY_SIZE(lines)];
	char *text = lines[0] + strlen(lines[0]);
	va_list args;

	if (level > log_max_level)
		return;
	assert(n + 2 <= ARRAY_SIZE(lines));
	va_start(args, format);
	vsnprintf(text, sizeof(lines[0]) - (size_t)(text - lines[0]), format, args);
	va_end(args);
	if (!to_journal()) {
		fprintf(stderr, "%s\n", text);
		return;
	}
	snprintf(lines[1], sizeof(lines[1]), "PRIORITY=%d", level);
	for (size_t i = 0; i < n; i++)
		snprintf(lines[i + 2], sizeof(lines[i + 2]), "%s=%s", fields[i].key,
			 fields[i].value);
	for (size_t i = 0; i < n + 2; i++)
		iov[i] = (struct iovec){lines[i], strlen(lines[i])};
	sd_journal_sendv(iov, (int)n + 2);
}

int log_level_from_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (streq(level_names[i], name))
			return (int)i;
	return -EINVAL;
}

const char *log_level_name(int level)
{
	return level >= 0 && level < (int)ARRAY_SIZE(level_names) ? level_names[level] : "unknown";
}
