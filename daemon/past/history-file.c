/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <systemd/sd-id128.h>

#include "history-text.h"
#include "log.h"

#define NAME	 "history"
#define NEW_NAME "history.new"
/* The file begins anew when it has a quarter of this, and twice its beginning. */
#define FILE_SIZE (UINT64_C(4) << 20)
/* How many files of later versions are kept */
#define LATER_MAX 9U
/* For so many lines a message says what is wrong with each. */
#define WRONG_SAID 10U

typedef struct HistoryFile {
	LineFile file;
	char boot[BOOT_ID_SIZE];
	HistoryList list;	 /* what was read */
	size_t n_lines, n_wrong; /* that were read */
} HistoryFile;

/* The unit sets it, because /proc/sys is hidden from the service. */
void boot_id_text(char ret[BOOT_ID_SIZE])
{
	const char *text = getenv("RDMAD_BOOT_ID");
	sd_id128_t id;

	if ((!text || sd_id128_from_string(text, &id) < 0) && sd_id128_get_boot(&id) < 0 &&
	    sd_id128_randomize(&id) < 0)
		id = (sd_id128_t){};
	sd_id128_to_string(id, ret);
}

/* Reading */

static void say_wrong(HistoryFile *f, const char *wrong)
{
	if (++f->n_wrong <= WRONG_SAID)
		log_warning("%s/" NAME ":%zu: %s; the line is left out", f->file.directory,
			    f->n_lines, wrong);
}

/* Reads a line of SIZE bytes; WRONG: why it is none. A negative errno: the file is none of this
 * form or version. */
static int read_line(HistoryFile *f, HistoryReader *r, char *line, size_t size, const char *wrong)
{
	if (++f->n_lines == 1)
		return wrong ? -EBADMSG : history_check_head(line);
	if (!wrong)
		wrong = history_read_line(r, line, size);
	if (wrong)
		say_wrong(f, wrong);
	return 0;
}

/* Reads the lines of the N bytes at BUFFER. A line that is not whole yet is moved to the beginning.
 * *IS_LONG: the next bytes are the rest of a line that is too long. */
static int read_buffer(HistoryFile *f, HistoryReader *r, char *buffer, size_t *n, bool *is_long)
{
	char *line = buffer, *end;
	size_t left = *n;
	int error = 0;

	while (error >= 0 && (end = memchr(line, '\n', left))) {
		size_t size = (size_t)(end - line);

		*end = '\0';
		error = read_line(f, r, line, size,
				  *is_long || size > HISTORY_LINE_MAX ? "it is too long" : NULL);
		*is_long = false;
		line = end + 1;
		left -= size + 1;
	}
	*is_long |= left > HISTORY_LINE_MAX;
	if (*is_long)
		left = 0;
	memmove(buffer, line, left);
	*n = left;
	return error;
}

static int read_lines(HistoryFile *f, HistoryReader *r, int fd)
{
	char buffer[2 * HISTORY_LINE_MAX];
	off_t offset = 0;
	bool is_long = false;
	size_t n = 0;
	int error = 0;

	while (error >= 0) {
		ssize_t k = pread(fd, buffer + n, sizeof(buffer) - n, offset);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		offset += k;
		n += (size_t)k;
		error = read_buffer(f, r, buffer, &n, &is_long);
	}
	/* the last line, which does not end */
	if (error >= 0 && (n > 0 || is_long))
		error = read_line(f, r, buffer, n, "it is cut");
	return error;
}

/* Reads the file, if there is one. -EBADMSG or -EPROTONOSUPPORT: it is not of this form or version.
 */
static int load(HistoryFile *f)
{
	HistoryReader r = {.list = &f->list, .boot = f->boot};
	_cleanup_close_ int fd = disk_file_open(f->file.disk.directory_fd, NAME, 0, 0600);
	struct stat st;
	int error;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* nobody is to be able to use up all time with it */
	if ((uint64_t)st.st_size > HISTORY_FILE_MAX)
		return -EBADMSG;
	error = read_lines(f, &r, fd);
	history_list_trim(&f->list);
	if (f->n_wrong > WRONG_SAID)
		log_warning("%s/" NAME ": %zu lines are left out in all", f->file.directory,
			    f->n_wrong);
	return error;
}

/* A name for a file of a later version that no other file has: the later version may want them
 * all. False: there are too many. */
static bool find_later_name(const HistoryFile *f, char *ret, size_t size)
{
	snprintf(ret, size, NAME ".later");
	for (unsigned int i = 2;
	     faccessat(f->file.disk.directory_fd, ret, F_OK, AT_SYMLINK_NOFOLLOW) == 0; i++) {
		if (i > LATER_MAX)
			return false;
		snprintf(ret, size, NAME ".later.%u", i);
	}
	return true;
}

/* Renames the file, which is not ours to read. */
static int set_aside(HistoryFile *f, int error)
{
	char name[sizeof(NAME) + 16] = NAME ".damaged";
	int fd = f->file.disk.directory_fd;

	if (error == -EPROTONOSUPPORT && !find_later_name(f, name, sizeof(name)))
		return -EEXIST;
	log_warning("%s/" NAME " is %s; it is renamed to %s, and a new one is begun",
		    f->file.directory,
		    error == -EPROTONOSUPPORT ? "of a later version of rdmad"
					      : "no file of rdmad, or damaged",
		    name);
	return renameat(fd, NAME, fd, name) < 0 ? -errno : 0;
}

/* The functions that the writer calls */

static int file_open(LineFile *file)
{
	HistoryFile *f = (HistoryFile *)file;
	int r;

	file->disk.directory_fd = open(file->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->disk.directory_fd < 0)
		return -errno;
	if (flock(file->disk.directory_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	r = load(f);
	return r == -EBADMSG || r == -EPROTONOSUPPORT ? set_aside(f, r) : r;
}

static int file_begin(LineFile *f, _unused_ uint64_t realtime_usec, const char *text, size_t size)
{
	int fd = disk_file_make(f->disk.directory_fd, NEW_NAME, 0600, text, size);

	return fd < 0 ? fd : disk_file_rename(&f->disk, fd, size, NEW_NAME, NAME);
}

static int file_append(LineFile *f, const char *text, size_t size)
{
	return disk_file_append(&f->disk, text, size);
}

static void file_free(LineFile *file)
{
	HistoryFile *f = (HistoryFile *)file;

	disk_file_close(&file->disk);
	history_list_done(&f->list);
	free(file->directory);
	free(f);
}

LineFile *history_file_new(const char *directory)
{
	static const LineFileKind kind = {"histories of ports", NAME,	     file_open,
					  file_begin,		file_append, file_free};
	HistoryFile *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->file = (LineFile){.kind = &kind, .directory = strdup(directory), .disk = DISK_FILE_NONE};
	boot_id_text(f->boot);
	if (f->file.directory)
		return &f->file;
	free(f);
	return NULL;
}

HistoryList *history_file_list(LineFile *f)
{
	return &((HistoryFile *)f)->list;
}

LineWriter *history_writer_new(const char *directory, uint64_t patience_usec, HistoryList *list)
{
	LineFile *f = history_file_new(directory);
	LineWriter *w = f ? line_writer_new(f, FILE_SIZE) : NULL;

	if (!f)
		log_warning("No memory to keep the histories of ports in %s", directory);
	if (w)
		w = line_writer_await_open(w, patience_usec);
	if (w) {
		*list = *history_file_list(f);
		*history_file_list(f) = (HistoryList){};
	}
	return w;
}
