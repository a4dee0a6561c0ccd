/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <systemd/sd-id128.h>

#include "clock.h"
#include "log.h"

#define NAME	 "history"
#define NEW_NAME "history.new"
/* How many files of later versions are kept */
#define LATER_MAX 9U

/* The unit sets it, because /proc/sys is hidden from the service. */
BootId record_boot_id(void)
{
	const char *text = getenv("RDMAD_BOOT_ID");
	sd_id128_t id;
	BootId boot;

	if ((!text || sd_id128_from_string(text, &id) < 0) && sd_id128_get_boot(&id) < 0 &&
	    sd_id128_randomize(&id) < 0)
		id = (sd_id128_t){};
	memcpy(boot.bytes, id.bytes, sizeof(boot.bytes));
	return boot;
}

/* Reads the first SIZE bytes, or what there is of them. *RET is to be freed. */
static int read_file(int fd, size_t size, uint8_t **ret, size_t *ret_size)
{
	_cleanup_free_ uint8_t *data = malloc(size + 1);
	size_t done = 0;

	if (!data)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*ret = steal_pointer(&data);
	*ret_size = done;
	return 0;
}

/* Reads the file, whose records go into L; *RET is how many of its bytes are good. -EBADMSG or
 * -EPROTONOSUPPORT: it is not of this form or version. */
static int load(const RecordFile *f, HistoryList *l, size_t *ret)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct stat st;
	size_t size;
	int r;

	if (fstat(f->disk.fd, &st) < 0)
		return -errno;
	/* it does not grow that large, and nobody is to be able to use up all memory with it */
	r = read_file(f->disk.fd, (size_t)MIN((uint64_t)st.st_size, 2 * f->max), &data, &size);
	if (r < 0)
		return r;
	if (size == 0) {
		*ret = 0;
		return 0;
	}
	r = record_check_head(data, size);
	if (r < 0)
		return r;
	*ret = RECORD_HEAD_SIZE +
	       history_replay(data + RECORD_HEAD_SIZE, size - RECORD_HEAD_SIZE, &f->boot, l);
	if (*ret < (uint64_t)st.st_size)
		log_warning("%s/" NAME ": what follows the first %zu of %llu bytes is damaged, and "
			    "is left out",
			    f->directory, *ret, (unsigned long long)st.st_size);
	return 0;
}

/* Adds the head, if there is none, and the boot. */
static int begin(RecordFile *f)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	uint8_t head[RECORD_HEAD_SIZE];
	bool is_new = f->disk.size == 0;
	int r;

	if (is_new) {
		record_write_head(head);
		record_put_bytes(&b, head, sizeof(head));
	}
	history_record_boot(&b, &f->boot, realtime_now_usec());
	r = b.failed ? -ENOMEM : record_file_append(f, b.data, b.size);
	/* otherwise a power cut may take away the whole file, however much of it is on the disk */
	if (r >= 0 && is_new)
		(void)fsync(f->disk.directory_fd);
	return r;
}

/* A name for a file of a later version that no other file has: the later version may want them
 * all. False: there are too many. */
static bool find_later_name(const RecordFile *f, char *ret, size_t size)
{
	snprintf(ret, size, NAME ".later");
	for (unsigned int i = 2;
	     faccessat(f->disk.directory_fd, ret, F_OK, AT_SYMLINK_NOFOLLOW) == 0; i++) {
		if (i > LATER_MAX)
			return false;
		snprintf(ret, size, NAME ".later.%u", i);
	}
	return true;
}

/* Renames the file, which is not ours to read, and makes a new one. */
static int start_again(RecordFile *f, int error)
{
	char name[sizeof(NAME) + 16] = NAME ".damaged";

	if (error == -EPROTONOSUPPORT && !find_later_name(f, name, sizeof(name)))
		return -EEXIST;
	log_warning("%s/" NAME " is %s; it is renamed to %s, and a new one is begun", f->directory,
		    error == -EPROTONOSUPPORT ? "of a later version of rdmad"
					      : "no file of rdmad, or damaged",
		    name);
	f->disk.fd = close_fd(f->disk.fd);
	if (renameat(f->disk.directory_fd, NAME, f->disk.directory_fd, name) < 0)
		return -errno;
	f->disk.fd = disk_file_open(f->disk.directory_fd, NAME, O_EXCL, 0600);
	f->disk.size = 0;
	return MIN(f->disk.fd, 0);
}

static int open_and_read(RecordFile *f, HistoryList *l)
{
	int r;

	f->disk.directory_fd = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->disk.directory_fd < 0)
		return -errno;
	if (flock(f->disk.directory_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	f->disk.fd = disk_file_open(f->disk.directory_fd, NAME, 0, 0600);
	if (f->disk.fd < 0)
		return f->disk.fd;
	r = load(f, l, &f->disk.size);
	if (r == -EBADMSG || r == -EPROTONOSUPPORT)
		r = start_again(f, r);
	f->disk.cut = true;
	return r < 0 ? r : begin(f);
}

int record_file_open(const char *directory, RecordFile *ret, HistoryList *l)
{
	RecordFile f = {.directory = directory,
			.boot = record_boot_id(),
			.max = RECORD_FILE_MAX,
			.disk = DISK_FILE_NONE};
	int r = open_and_read(&f, l);

	if (r < 0) {
		record_file_close(&f);
		return log_warning_errno(r, "Cannot keep the histories of ports in %s/" NAME ": %m",
					 directory);
	}
	*ret = f;
	return 0;
}

void record_file_close(RecordFile *f)
{
	disk_file_close(&f->disk);
}

/* Writes NEW_NAME: the histories as the file says them, and nothing twice. */
static int write_new(const RecordFile *f, int fd, size_t *ret)
{
	_cleanup_(history_list_done) HistoryList list = {};
	_cleanup_record_buffer_ RecordBuffer b = {};
	_cleanup_free_ uint8_t *data = NULL;
	uint8_t head[RECORD_HEAD_SIZE];
	size_t size;
	int r = read_file(f->disk.fd, f->disk.size, &data, &size);

	if (r < 0)
		return r;
	if (size < RECORD_HEAD_SIZE)
		return -EIO;
	(void)history_replay(data + RECORD_HEAD_SIZE, size - RECORD_HEAD_SIZE, &f->boot, &list);
	record_write_head(head);
	record_put_bytes(&b, head, sizeof(head));
	history_record_boot(&b, &f->boot, realtime_now_usec());
	history_record_list(&b, &list, f->max / 2);
	if (b.failed)
		return -ENOMEM;
	r = disk_file_write(fd, b.data, b.size, 0);
	*ret = b.size;
	return r < 0 ? r : fdatasync(fd) < 0 ? -errno : 0;
}

/* The file is full: the new one takes its place in one step, so that there is always one of them.
 */
static int write_again(RecordFile *f)
{
	int fd = disk_file_open(f->disk.directory_fd, NEW_NAME, O_TRUNC, 0600), r;
	size_t size;

	if (fd < 0)
		return fd;
	r = write_new(f, fd, &size);
	if (r >= 0 && renameat(f->disk.directory_fd, NEW_NAME, f->disk.directory_fd, NAME) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(f->disk.directory_fd, NEW_NAME, 0);
		close(fd);
		return r;
	}
	(void)fsync(f->disk.directory_fd);
	close(f->disk.fd);
	f->disk.fd = fd;
	f->disk.size = size;
	f->disk.cut = false;
	return 0;
}

int record_file_append(RecordFile *f, const uint8_t *data, size_t size)
{
	int r = f->disk.size + size > f->max ? write_again(f) : 0;

	if (r < 0)
		return r;
	return disk_file_append(&f->disk, data, size);
}

int record_file_sync(const RecordFile *f)
{
	return disk_file_sync(&f->disk);
}
