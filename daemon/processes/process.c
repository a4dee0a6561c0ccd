/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

#define FILE_MAX 4096U

/* The file NAME in the directory of a process, terminated, and whose it is. RET_OWNER may be NULL.
 */
static int read_file(int directory, const char *name, char text[FILE_MAX], uid_t *ret_owner)
{
	struct stat owner;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n = 0;
	ssize_t k = 1;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (k > 0 && n < FILE_MAX - 1) {
		k = read(fd, text + n, FILE_MAX - 1 - n);
		if (k < 0 && errno == EINTR)
			k = 1;
		else if (k > 0)
			n += (size_t)k;
	}
	k = k < 0 || fstat(fd, &owner) < 0 ? -errno : 0;
	close(fd);
	if (k == 0 && ret_owner)
		*ret_owner = owner.st_uid;
	text[n] = '\0';
	return (int)k;
}

/* The text behind KEY at the beginning of a line of TEXT, NULL if there is no such line. */
static const char *find_line(const char *text, const char *key)
{
	while (text && strncmp(text, key, strlen(key)) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + strlen(key) : NULL;
}

/* PID of the process, and its user if the three ids are the same. */
static int read_status(int directory, Process *p)
{
	char text[FILE_MAX];
	uint32_t real, effective, saved;
	const char *tgid, *uid;
	uid_t owner = PROCESS_NO_UID;
	int r = read_file(directory, "status", text, &owner);

	if (r < 0)
		return r;
	tgid = find_line(text, "Tgid:");
	uid = find_line(text, "Uid:");
	if (!tgid || sscanf(tgid, " %" SCNu32, &p->pid) != 1 || !uid ||
	    sscanf(uid, " %" SCNu32 " %" SCNu32 " %" SCNu32, &real, &effective, &saved) != 3)
		return -EBADMSG;
	p->uid = PROCESS_NO_UID;
	if (owner == real && real == effective && real == saved)
		p->uid = real;
	return 0;
}

/* "PID (NAME) STATE ...": NAME may have brackets and blanks; the 22nd field is the start, in clock
 * ticks. */
static int read_stat(int directory, Process *p)
{
	char text[FILE_MAX];
	const char *name, *at;
	uint64_t ticks;
	int r = read_file(directory, "stat", text, NULL);

	if (r < 0)
		return r;
	name = strchr(text, '(');
	at = strrchr(text, ')');
	if (!name || !at || at < name)
		return -EBADMSG;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(at - name - 1), name + 1);
	/* behind the bracket is a blank, and then field 3 */
	for (unsigned int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %" SCNu64, &ticks) != 1)
		return -EBADMSG;
	/* 0 stands for a process that is not known */
	p->started_usec = MAX(ticks * (USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)), 1U);
	return 0;
}

/* Whether PATH is below a group that Slurm has made at the top of a hierarchy of version 1. */
static bool is_of_slurm(const char *path)
{
	return startswith(path, "/slurm/") || startswith(path, "/slurm_");
}

/* A path that is too long loses its last component: half a name is another name. */
static void take_path(Process *p, const char *path)
{
	text_copy(p->cgroup, sizeof(p->cgroup), path);
	if (strlen(path) >= sizeof(p->cgroup))
		*strrchr(p->cgroup, '/') = '\0';
}

/* Lines "HIERARCHY:CONTROLLERS:PATH", see cgroups(7). A path can be too long for the kernel to say
 * it: what else is known of such a process is known all the same. */
static int read_cgroup(int directory, Process *p)
{
	char text[FILE_MAX], *line, *rest = text;
	int r = read_file(directory, "cgroup", text, NULL);

	p->cgroup[0] = '\0';
	if (r < 0)
		return r == -ENAMETOOLONG ? 0 : r;
	while ((line = strsep(&rest, "\n"))) {
		const char *controllers = strchr(line, ':');
		const char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		path++;
		if (is_of_slurm(path) ||
		    (!is_of_slurm(p->cgroup) &&
		     (startswith(line, "0::") || startswith(controllers, ":name=systemd:"))))
			take_path(p, path);
	}
	return 0;
}

static int open_process(int proc, uint32_t pid)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%" PRIu32, pid);
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

int process_read(int proc, uint32_t tid, Process *ret)
{
	Process p = {};
	int directory = open_process(proc, tid), r;

	if (directory < 0)
		return directory;
	r = read_status(directory, &p);
	if (r == 0 && p.pid != tid) {
		close(directory);
		directory = open_process(proc, p.pid);
		if (directory < 0)
			return directory;
		r = read_status(directory, &p);
	}
	if (r == 0)
		r = read_stat(directory, &p);
	if (r == 0)
		r = read_cgroup(directory, &p);
	close(directory);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}
