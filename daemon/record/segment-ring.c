/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "segment-ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "log.h"

#define DIRECTORY "record"
#define NEW_NAME  "begin.new"
#define DIGITS	  16
/* No clock gives a greater number, in the year 2255, so that there are always more: 16 digits would
 * end in 2286. */
#define CLOCK_MAX UINT64_C(9000000000000000)

static void name_of(uint64_t number, char ret[SEGMENT_NAME_SIZE])
{
	snprintf(ret, SEGMENT_NAME_SIZE, "%0*" PRIu64 ".conf", DIGITS, number);
}

static bool is_segment(const char *name)
{
	return strspn(name, "0123456789") == DIGITS && streq(name + DIGITS, ".conf");
}

static int only_segments(const struct dirent *d)
{
	return is_segment(d->d_name);
}

/* Not alphasort(): that asks the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

typedef struct Names {
	struct dirent **entries; /* the oldest first; a directory may have such a name, too */
	size_t n;
} Names;

static void names_done(Names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->entries[i]);
	free(names->entries);
}

static int read_names(const SegmentRing *s, Names *ret)
{
	int n = scandirat(s->file.disk.directory_fd, ".", &ret->entries, only_segments, by_name);

	if (n < 0)
		return -errno;
	ret->n = (size_t)n;
	return 0;
}

static uint64_t number_of(const struct dirent *d)
{
	return strtoull(d->d_name, NULL, 10);
}

/* The size of a segment; false: there is no such file. */
static bool segment_size(const SegmentRing *s, const struct dirent *d, uint64_t *ret)
{
	struct stat st;

	if (fstatat(s->file.disk.directory_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	*ret = (uint64_t)st.st_size;
	return true;
}

/*
 * Removes the oldest segments until there is room for SIZE more bytes and for N_MORE more files.
 * The current one stays, and before there is one the newest: it may say why rdmad has ended. An
 * error: there is no room, because a file cannot be removed.
 */
static int make_room(SegmentRing *s, const Names *names, uint64_t size, unsigned int n_more)
{
	uint64_t total = 0, own = 0, bytes, kept = 0;
	unsigned int n = n_more;
	int error = 0;

	for (size_t i = 0; i < names->n; i++)
		if (segment_size(s, names->entries[i], &bytes)) {
			total += bytes;
			n++;
			kept = number_of(names->entries[i]);
			if (s->file.disk.fd >= 0 && kept == s->current)
				own = bytes;
		}
	if (s->file.disk.fd >= 0)
		kept = s->current;
	for (size_t i = 0; i < names->n && (total + size > s->max_bytes || n > SEGMENTS_MAX); i++) {
		const struct dirent *d = names->entries[i];

		if (number_of(d) == kept || !segment_size(s, d, &bytes))
			continue;
		if (unlinkat(s->file.disk.directory_fd, d->d_name, 0) < 0) {
			error = -errno;
			text_copy(s->file.failed, sizeof(s->file.failed), d->d_name);
			continue;
		}
		total -= bytes;
		n--;
	}
	s->others = total - own;
	return total + size > s->max_bytes || n > SEGMENTS_MAX ? error : 0;
}

static int read_and_make_room(SegmentRing *s, uint64_t size, unsigned int n_more)
{
	_cleanup_(names_done) Names names = {};
	int r = read_names(s, &names);

	return r < 0 ? r : make_room(s, &names, size, n_more);
}

int segment_ring_open(SegmentRing *s)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	_cleanup_close_ int state_fd = open(s->file.directory, flags), fd = -EBADF;
	bool made;

	if (state_fd < 0)
		return -errno;
	made = mkdirat(state_fd, DIRECTORY, 0755) == 0;
	if (!made && errno != EEXIST)
		return -errno;
	fd = openat(state_fd, DIRECTORY, flags | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (made) {
		/* whatever the umask is: everybody may read it */
		(void)fchmod(fd, 0755);
		(void)fsync(state_fd);
	}
	close_fd(s->file.disk.directory_fd);
	s->file.disk.directory_fd = steal_fd(&fd);
	return 0;
}

/*
 * Greater than the number of each other segment. One whose number no clock and no segment before
 * explains gets the one behind its predecessor: somebody has made it, or a version of rdmad that
 * did not have CLOCK_MAX, and there may be no number behind it.
 */
static uint64_t next_number(const SegmentRing *s, const Names *names, uint64_t realtime_usec)
{
	uint64_t next = 0, bytes;
	char name[SEGMENT_NAME_SIZE];

	for (size_t i = 0; i < names->n; i++) {
		const struct dirent *d = names->entries[i];
		uint64_t number = number_of(d);

		name_of(next, name);
		if (number <= MAX(CLOCK_MAX, next))
			next = number + 1;
		else if (segment_size(s, d, &bytes) &&
			 renameat2(s->file.disk.directory_fd, d->d_name, s->file.disk.directory_fd,
				   name, RENAME_NOREPLACE) == 0)
			next++;
	}
	return realtime_usec <= CLOCK_MAX ? MAX(next, realtime_usec) : next;
}

int segment_ring_begin(SegmentRing *s, uint64_t realtime_usec, const char *text, size_t size)
{
	_cleanup_(names_done) Names names = {};
	DiskFile *disk = &s->file.disk;
	char name[SEGMENT_NAME_SIZE];
	uint64_t number, others;
	int fd, r;

	/* the directory may have been removed */
	s->file.failed[0] = '\0';
	r = segment_ring_open(s);
	if (r >= 0)
		r = read_names(s, &names);
	if (r < 0)
		return r;
	number = next_number(s, &names, realtime_usec);
	r = read_and_make_room(s, size, 1);
	if (r < 0)
		return r;
	text_copy(s->file.failed, sizeof(s->file.failed), NEW_NAME);
	fd = disk_file_make(disk->directory_fd, NEW_NAME, 0644, text, size);
	if (fd < 0)
		return fd;
	(void)disk_file_sync(disk);
	others = disk->fd >= 0 ? disk->size : 0;
	name_of(number, name);
	text_copy(s->file.failed, sizeof(s->file.failed), name);
	r = disk_file_rename(disk, fd, size, NEW_NAME, name);
	if (r < 0)
		return r;
	s->others += others;
	s->current = number;
	/* The one before, which was kept until now. A failure is one of the next append, too. */
	(void)read_and_make_room(s, 0, 0);
	return 0;
}

int segment_ring_append(SegmentRing *s, const char *text, size_t size)
{
	int r = 0;

	s->file.failed[0] = '\0';
	if (s->others > 0 && s->others + s->file.disk.size + size > s->max_bytes)
		r = read_and_make_room(s, size, 0);
	if (r < 0)
		return r;
	name_of(s->current, s->file.failed);
	return disk_file_append(&s->file.disk, text, size);
}

/* The functions that the writer calls */

static int ring_open(LineFile *f)
{
	return segment_ring_open((SegmentRing *)f);
}

static int ring_begin(LineFile *f, uint64_t realtime_usec, const char *text, size_t size)
{
	return segment_ring_begin((SegmentRing *)f, realtime_usec, text, size);
}

static int ring_append(LineFile *f, const char *text, size_t size)
{
	return segment_ring_append((SegmentRing *)f, text, size);
}

static void ring_free(LineFile *f)
{
	segment_ring_done((SegmentRing *)f);
	free(f->directory);
	free(f);
}

void segment_ring_init(SegmentRing *ret, char *state_directory, uint64_t max_bytes)
{
	static const LineFileKind kind = {"record of changes", DIRECTORY,   ring_open,
					  ring_begin,	       ring_append, ring_free};

	*ret = (SegmentRing){
		.file = {.kind = &kind, .directory = state_directory, .disk = DISK_FILE_NONE},
		.max_bytes = max_bytes};
}

void segment_ring_done(SegmentRing *s)
{
	disk_file_close(&s->file.disk);
}

LineWriter *segment_writer_new(const char *state_directory, uint64_t max_bytes)
{
	SegmentRing *s = max_bytes > 0 ? malloc(sizeof(*s)) : NULL;
	char *directory = s ? strdup(state_directory) : NULL;

	if (directory) {
		segment_ring_init(s, directory, max_bytes);
		return line_writer_new(&s->file, max_bytes);
	}
	free(s);
	if (max_bytes > 0)
		log_warning("No memory to keep the record of changes in %s", state_directory);
	return NULL;
}
