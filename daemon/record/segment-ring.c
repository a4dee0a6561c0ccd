/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "segment-ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "disk-file.h"

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
	int n = scandirat(s->directory_fd, ".", &ret->entries, only_segments, by_name);

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

	if (fstatat(s->directory_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
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
			if (s->fd >= 0 && kept == s->current)
				own = bytes;
		}
	if (s->fd >= 0)
		kept = s->current;
	for (size_t i = 0; i < names->n && (total + size > s->max_bytes || n > SEGMENTS_MAX); i++) {
		const struct dirent *d = names->entries[i];

		if (number_of(d) == kept || !segment_size(s, d, &bytes))
			continue;
		if (unlinkat(s->directory_fd, d->d_name, 0) < 0) {
			error = -errno;
			text_copy(s->failed, sizeof(s->failed), d->d_name);
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

void segment_ring_init(SegmentRing *ret, const char *state_directory, uint64_t max_bytes)
{
	*ret = (SegmentRing){.state_directory = state_directory,
			     .max_bytes = max_bytes,
			     .directory_fd = -EBADF,
			     .fd = -EBADF};
}

void segment_ring_done(SegmentRing *s)
{
	s->fd = close_fd(s->fd);
	s->directory_fd = close_fd(s->directory_fd);
}

int segment_ring_open(SegmentRing *s)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	_cleanup_close_ int state_fd = open(s->state_directory, flags), fd = -EBADF;
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
	close_fd(s->directory_fd);
	s->directory_fd = steal_fd(&fd);
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
			 renameat2(s->directory_fd, d->d_name, s->directory_fd, name,
				   RENAME_NOREPLACE) == 0)
			next++;
	}
	return realtime_usec <= CLOCK_MAX ? MAX(next, realtime_usec) : next;
}

/* Makes NEW_NAME with TEXT, on the disk. Returns its descriptor. */
static int write_new(const SegmentRing *s, const char *text, size_t size)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (unlinkat(s->directory_fd, NEW_NAME, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = disk_file_open(s->directory_fd, NEW_NAME, O_EXCL, 0644);
	if (fd < 0)
		return fd;
	(void)fchmod(fd, 0644);
	r = disk_file_write(fd, text, size, 0);
	if (r >= 0 && fdatasync(fd) < 0)
		r = -errno;
	return r < 0 ? r : steal_fd(&fd);
}

int segment_ring_begin(SegmentRing *s, uint64_t realtime_usec, const char *text, size_t size)
{
	_cleanup_(names_done) Names names = {};
	_cleanup_close_ int fd = -EBADF;
	char name[SEGMENT_NAME_SIZE];
	uint64_t number;
	int r;

	/* the directory may have been removed */
	s->failed[0] = '\0';
	r = segment_ring_open(s);
	if (r >= 0)
		r = read_names(s, &names);
	if (r < 0)
		return r;
	number = next_number(s, &names, realtime_usec);
	r = read_and_make_room(s, size, 1);
	if (r < 0)
		return r;
	text_copy(s->failed, sizeof(s->failed), NEW_NAME);
	fd = write_new(s, text, size);
	name_of(number, name);
	if (fd >= 0)
		text_copy(s->failed, sizeof(s->failed), name);
	if (fd < 0 || renameat(s->directory_fd, NEW_NAME, s->directory_fd, name) < 0) {
		r = fd < 0 ? fd : -errno;
		(void)unlinkat(s->directory_fd, NEW_NAME, 0);
		return r;
	}
	/* otherwise a power cut may take away the whole file */
	(void)fsync(s->directory_fd);
	(void)segment_ring_sync(s);
	if (s->fd >= 0)
		s->others += s->size;
	close_fd(s->fd);
	s->fd = steal_fd(&fd);
	s->current = number;
	s->size = size;
	s->cut = false;
	/* The one before, which was kept until now. A failure is one of the next append, too. */
	(void)read_and_make_room(s, 0, 0);
	return 0;
}

int segment_ring_append(SegmentRing *s, const char *text, size_t size)
{
	int r = 0;

	if (s->fd < 0)
		return -EBADF;
	s->failed[0] = '\0';
	if (s->others > 0 && s->others + s->size + size > s->max_bytes)
		r = read_and_make_room(s, size, 0);
	if (r < 0)
		return r;
	name_of(s->current, s->failed);
	return disk_file_append(s->fd, text, size, &s->size, &s->cut);
}

int segment_ring_sync(const SegmentRing *s)
{
	return s->fd >= 0 && fdatasync(s->fd) < 0 ? -errno : 0;
}

bool segment_ring_removed(const SegmentRing *s)
{
	struct stat st;

	return s->fd >= 0 && fstat(s->fd, &st) == 0 && st.st_nlink == 0;
}
