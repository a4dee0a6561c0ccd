/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tries ACT...: tries each, and prints a line with "ok" or the error behind it. An act is
 * read:PATH, write:PATH, both:PATH (open and close), socket:FAMILY:TYPE, kill:PID (signal 0) or
 * userns: (a user namespace of its own, last). */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int try_socket(const char *what)
{
	const char *type = strchr(what, ':');

	return socket(atoi(what), type ? atoi(type + 1) : 0, 0);
}

static int try_act(const char *act, const char *what)
{
	if (strcmp(act, "read") == 0)
		return open(what, O_RDONLY | O_NONBLOCK);
	if (strcmp(act, "write") == 0)
		return open(what, O_WRONLY | O_NONBLOCK);
	if (strcmp(act, "both") == 0)
		return open(what, O_RDWR | O_NONBLOCK);
	if (strcmp(act, "socket") == 0)
		return try_socket(what);
	if (strcmp(act, "kill") == 0)
		return kill(atoi(what), 0);
	if (strcmp(act, "userns") == 0)
		return unshare(CLONE_NEWUSER);
	errno = ENOTSUP;
	return -1;
}

/* What is open stays open until the end. */
int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		char act[16];
		size_t n = strcspn(argv[i], ":");

		snprintf(act, sizeof(act), "%.*s", (int)n, argv[i]);
		printf("%s %s\n", argv[i],
		       try_act(act, argv[i] + n + (argv[i][n] == ':')) < 0 ? strerror(errno)
									   : "ok");
	}
	return EXIT_SUCCESS;
}
