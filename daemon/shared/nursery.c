/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "nursery.h"

#include <sched.h>
#include <sys/socket.h>

#include "compat.h"
#include "util.h"

/* A message of one byte, with room for one descriptor */
typedef struct NurseryMessage {
	char byte;
	struct iovec part;
	struct msghdr message;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary;
} NurseryMessage;

static struct msghdr *message_init(NurseryMessage *r)
{
	*r = (NurseryMessage){.part = {.iov_base = &r->byte, .iov_len = sizeof(r->byte)},
			      .message = {.msg_iov = &r->part,
					  .msg_iovlen = 1,
					  .msg_control = &r->ancillary,
					  .msg_controllen = sizeof(r->ancillary)}};
	return &r->message;
}

int nursery_ask(int nursery, int fd)
{
	NurseryMessage r;
	struct msghdr *m = message_init(&r);

	r.ancillary.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS,
					      .cmsg_len = CMSG_LEN(sizeof(fd))};
	memcpy(CMSG_DATA(&r.ancillary.header), &fd, sizeof(fd));
	return sendmsg(nursery, m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int nursery_start(int nursery, char *const argv[], Child *ret)
{
	_cleanup_close_ int own = -EBADF, theirs = -EBADF;

	if (nursery < 0 || child_connect(&own, &theirs) < 0 || nursery_ask(nursery, theirs) < 0)
		return child_start(argv[0], argv, ret);
	*ret = (Child){.pidfd = -EBADF, .fd = steal_fd(&own)};
	return 0;
}

int nursery_receive(int nursery, pid_t *ret)
{
	pid_t pid;
	ssize_t n = recv(nursery, &pid, sizeof(pid), 0);

	if (n < 0)
		return -errno;
	if (n != 0 && n != sizeof(pid))
		return -EBADMSG;
	*ret = n == 0 ? 0 : pid;
	return n > 0;
}

int nursery_read_request(int fd)
{
	NurseryMessage r;
	struct msghdr *m = message_init(&r);
	ssize_t n = recvmsg(fd, m, MSG_CMSG_CLOEXEC);
	int theirs;

	if (n <= 0)
		return n < 0 ? -errno : 0;
	if (!CMSG_FIRSTHDR(m) || r.ancillary.header.cmsg_type != SCM_RIGHTS)
		return -EBADMSG;
	memcpy(&theirs, CMSG_DATA(&r.ancillary.header), sizeof(theirs));
	return theirs;
}

/* fork(), but the new process is a child of this one's parent. clone() of the C library would need
 * another stack. */
static pid_t fork_sibling(void)
{
#ifdef __s390__
	long r = syscall(SYS_clone, 0, CLONE_PARENT, 0, 0, 0);
#else
	long r = syscall(SYS_clone, CLONE_PARENT, 0, 0, 0, 0);
#endif

	return r < 0 ? -errno : (pid_t)r;
}

int nursery_serve(int fd)
{
	int theirs;

	while ((theirs = nursery_read_request(fd)) > 0) {
		pid_t pid = fork_sibling();

		if (pid == 0) {
			close(fd);
			return theirs;
		}
		close(theirs);
		if (send(fd, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return theirs;
}
