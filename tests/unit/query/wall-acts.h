/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a worker that was taken over might try: see test-query-wall.c. */

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

/* What the acts are tried on */
typedef struct Surroundings {
	pid_t victim; /* another process of the same user, in the place of the core */
	int victim_pidfd;
	int socket; /* of AF_UNIX, made before the wall */
	struct sockaddr_un bus;
	char directory[64], file[80]; /* a file in the directory */
} Surroundings;

extern Surroundings around;

/* An act returns a negative errno, or something else if it succeeded. */
typedef struct Act {
	const char *name;
	int (*act)(void);
	enum {
		SUCCEEDS,    /* without the wall; with it: ENOSYS */
		DIFFERS,     /* without the wall it may fail, but not with ENOSYS */
		MAY_BE_AWAY, /* this kernel may not have it */
		BY_NAME	     /* succeeds without the wall; Landlock denies it with EACCES */
	} kind;
} Act;

/* The last one has no name. */
extern const Act acts[];

/* Open and close. Return 0 or a negative errno. */
int act_open_file(const char *path, int flags);
int act_make_socket(int family, int type, int protocol);

/* The act with this name. */
int (*act_named(const char *name))(void);
