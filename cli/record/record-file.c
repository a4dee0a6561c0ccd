/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "section.h"

#define SEGMENTS_MAX 4096U /* in a directory; rdmad keeps at most 400 */

ExitStatus record_file_refuse(const RecordFile *f, const char *what)
{
	return failure("%s:%u: %s", f->path, f->line, what);
}

/* Whether TEXT can be printed. Tabs become blanks. */
static bool is_printable(char *text, size_t size)
{
	char copy[SCENARIO_LINE_MAX + 1];

	for (char *p = text; (p = strchr(p, '\t'));)
		*p = ' ';
	memcpy(copy, text, size + 1);
	text_sanitize(copy, size + 1);
	return streq(copy, text);
}

static void enter_section(RecordFile *f, const char *line)
{
	_cleanup_free_ char *message = NULL;
	char copy[SCENARIO_LINE_MAX + 1];
	Heading h;

	if (line[strspn(line, BLANKS)] != '[')
		return;
	text_copy(copy, sizeof(copy), line);
	f->part = heading_parse(text_trim(copy), &h, &message) == 0 && h.kind == SECTION_SCRIPT
			  ? PART_SCRIPT
			  : PART_STATE;
}

ExitStatus record_file_next(RecordFile *f, char **ret)
{
	bool is_read = !f->at_end && fgets(f->text, sizeof(f->text), f->stream);
	size_t n = is_read ? strlen(f->text) : 0;
	bool is_whole = n > 0 && f->text[n - 1] == '\n';

	*ret = NULL;
	if (!is_read && ferror(f->stream))
		return failure("cannot read %s: %s", f->path, strerror(errno));
	/* without an end: too long, the last one, or followed by a byte 0 */
	f->at_end = !is_whole;
	f->line += is_whole || n > SCENARIO_LINE_MAX;
	if (n > SCENARIO_LINE_MAX && !is_whole)
		return record_file_refuse(f, "a line has more than 4096 bytes");
	if (!is_whole)
		return STATUS_OK;
	f->text[n - 1] = '\0';
	f->n_bytes += n;
	if (!is_printable(f->text, n - 1))
		return record_file_refuse(f, "expected text in UTF-8");
	enter_section(f, f->text);
	*ret = f->text;
	return STATUS_OK;
}

/* Takes "KEY VALUE" of a line of the head; what is not known is passed over. */
static bool read_head_line(RecordHead *head, const char *text)
{
	const char *value;

	if ((value = startswith(text, "realtime ")))
		return text_to_u64(value, RECORD_USEC_MAX, &head->realtime_usec) == 0;
	if ((value = startswith(text, "monotonic ")))
		return text_to_u64(value, RECORD_USEC_MAX, &head->monotonic_usec) == 0;
	if ((value = startswith(text, "boot "))) {
		text_copy(head->boot, sizeof(head->boot), value);
		return strlen(value) == 32 && strspn(value, "0123456789abcdef") == 32;
	}
	if ((value = startswith(text, "begins "))) {
		text_copy(head->begins, sizeof(head->begins), value);
		return *value && strspn(value, "abcdefghijklmnopqrstuvwxyz-") == strlen(value);
	}
	return true;
}

static ExitStatus check_format(const RecordFile *f, const char *line)
{
	const char *version = line ? startswith(line, "# rdmad record ") : NULL;
	uint64_t format;

	if (!version || text_to_u64(version, UINT64_MAX, &format) < 0)
		return failure(
			"%s is no record of rdmad: expected \"# rdmad record %u\" in its first "
			"line",
			f->path, RECORD_FORMAT);
	if (format == RECORD_FORMAT)
		return STATUS_OK;
	return failure(
		"%s: a later rdmad has written this: it has format %s, and this rdmactl reads %u",
		f->path, version, RECORD_FORMAT);
}

static void rewind_file(RecordFile *f)
{
	rewind(f->stream);
	f->at_end = false;
	f->n_bytes = 0;
	f->line = 0;
	f->part = PART_HEAD;
}

/* Reads the head; the next line is then the first one. */
static ExitStatus read_head(RecordFile *f)
{
	char *line;
	ExitStatus status = record_file_next(f, &line);

	if (status == STATUS_OK)
		status = check_format(f, line);
	while (status == STATUS_OK) {
		status = record_file_next(f, &line);
		if (status != STATUS_OK || !line || !startswith(line, "# "))
			break;
		if (!read_head_line(&f->head, line + 2))
			status = record_file_refuse(f, "this line of the head makes no sense");
	}
	if (status == STATUS_OK && (f->head.realtime_usec == 0 || f->head.monotonic_usec == 0))
		status = failure(
			"%s: the head has no times: expected \"# realtime\" and \"# monotonic\"",
			f->path);
	rewind_file(f);
	return status;
}

void record_file_free(RecordFile *f)
{
	if (!f)
		return;
	if (f->stream)
		fclose(f->stream);
	free(f->path);
	free(f);
}

static ExitStatus cannot_open(const char *path, int error)
{
	return failure("cannot open %s: %s", path, strerror(error));
}

/* Takes FD and PATH, of which each may have failed. */
static ExitStatus file_new(int fd, char *path, RecordFile **ret)
{
	_cleanup_(record_file_free_pointer) RecordFile *f = calloc(1, sizeof(*f));
	struct stat st;

	if (!f) {
		close_fd(fd);
		free(path);
		return out_of_memory();
	}
	f->path = path;
	f->stream = fdopen(fd, "r");
	if (!f->stream)
		close_fd(fd);
	if (!f->stream || !f->path)
		return out_of_memory();
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return failure("cannot open %s: it is not a regular file", f->path);
	*ret = steal_pointer(&f);
	return STATUS_OK;
}

/* Opening a FIFO must not wait. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

ExitStatus record_file_open(const char *path, RecordFile **ret)
{
	_cleanup_(record_file_free_pointer) RecordFile *f = NULL;
	int fd = open(path, OPEN_FLAGS);
	ExitStatus status = fd < 0 ? cannot_open(path, errno) : file_new(fd, strdup(path), &f);

	if (status == STATUS_OK)
		status = read_head(f);
	if (status == STATUS_OK)
		*ret = steal_pointer(&f);
	return status;
}

ExitStatus record_file_open_in(int directory_fd, const char *directory, const char *name,
			       RecordFile **ret)
{
	_cleanup_(record_file_free_pointer) RecordFile *f = NULL;
	_cleanup_free_ char *path = NULL;
	ExitStatus status;
	char *line;
	int fd;

	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		path = NULL;
		return out_of_memory();
	}
	*ret = NULL;
	fd = openat(directory_fd, name, OPEN_FLAGS);
	if (fd < 0)
		return errno == ENOENT ? STATUS_OK : cannot_open(path, errno);
	status = file_new(fd, steal_pointer(&path), &f);
	if (status == STATUS_OK)
		status = record_file_next(f, &line);
	if (status != STATUS_OK || !line)
		return status;
	rewind_file(f);
	status = read_head(f);
	if (status == STATUS_OK)
		*ret = steal_pointer(&f);
	return status;
}

/* Directories */

static bool is_segment_name(const char *name)
{
	return strlen(name) == RECORD_NAME_SIZE - 1 && strspn(name, "0123456789") == 16 &&
	       streq(name + 16, ".conf");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

void record_names_done(RecordNames *names)
{
	free(names->names);
	names->names = NULL;
	names->n = 0;
	names->fd = close_fd(names->fd);
}

static ExitStatus cannot_list(const char *directory, int error)
{
	if (error == ENOENT)
		complain("%s: rdmad has written no record there; RecordMaxMiB= in rdmad.conf(5) "
			 "switches it on, and a simulated rdmad needs --state= too",
			 directory);
	else if (error == EACCES && streq(directory, RECORD_DIRECTORY))
		complain("cannot open %s: only root may read the record of the service", directory);
	else
		return cannot_open(directory, error);
	return STATUS_FAILED;
}

static ExitStatus read_names(const char *directory, DIR *d, RecordNames *names)
{
	const struct dirent *entry;

	while ((entry = readdir(d))) {
		if (!is_segment_name(entry->d_name))
			continue;
		if (names->n == SEGMENTS_MAX)
			return failure("%s has more than %u segments", directory, SEGMENTS_MAX);
		text_copy(names->names[names->n++], RECORD_NAME_SIZE, entry->d_name);
	}
	return names->n > 0 ? STATUS_OK : cannot_list(directory, ENOENT);
}

ExitStatus record_names_read(const char *directory, RecordNames *ret)
{
	_cleanup_(record_names_done) RecordNames names = {.fd = -EBADF};
	ExitStatus status;
	DIR *d = opendir(directory);

	if (!d)
		return cannot_list(directory, errno);
	names.names = calloc(SEGMENTS_MAX, sizeof(*names.names));
	names.fd = fcntl(dirfd(d), F_DUPFD_CLOEXEC, 3);
	if (!names.names || names.fd < 0)
		status = out_of_memory();
	else
		status = read_names(directory, d, &names);
	closedir(d);
	if (status != STATUS_OK)
		return status;
	sort(names.names, names.n, sizeof(*names.names), compare_names);
	*ret = names;
	names = (RecordNames){.fd = -EBADF};
	return STATUS_OK;
}
