/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A copy of all devices and ports that follows what rdmad publishes: it is read once, changed as
 * the signals say, and read again when rdmad was restarted. The calls are asynchronous, so nothing
 * waits for rdmad.
 */

#include "object.h"

/* The handlers of the owner of the copy. A handler that is NULL is not called. Those that return an
 * int return a negative errno if they fail, and then failed() is called. */
typedef struct FollowHandlers {
	/* A signal is going to change these interfaces (1 << AttrInterface) of O; 0: not known
	 * which. */
	int (*before)(void *userdata, const Object *o, unsigned int interfaces);
	/* A signal has changed O. */
	void (*changed)(void *userdata, const Object *o);
	/* O is a new object of the copy. */
	void (*added)(void *userdata, const Object *o);
	/* O has lost all its interfaces, after a call of before(), and is freed next. */
	void (*removed)(void *userdata, const Object *o);
	/* rdmad has sent a signal that changes no property, such as StateChanged. */
	int (*signal)(void *userdata, sd_bus_message *signal);
	/* All objects were read. WAS is the copy as it was before, NULL the first time. */
	void (*read)(void *userdata, const ObjectList *was, const ObjectList *is);
	/* rdmad has started or stopped. The copy stays as it is until all objects were read. */
	void (*daemon)(void *userdata, bool runs);
	/* The copy cannot be kept: WHAT failed with ERROR (may be NULL) and R. */
	void (*failed)(void *userdata, const char *what, const sd_bus_error *error, int r);
} FollowHandlers;

typedef struct Follow {
	sd_bus *bus;
	const FollowHandlers *handlers;
	void *userdata;
	ObjectList objects;
	bool started; /* all objects were read once */
	bool runs;    /* rdmad has a name on the bus, as far as is known */
	bool synced;  /* all objects were read from the rdmad that runs now; before that its signals
			 are ignored, because what they say is read anyway */
} Follow;

/* Begins to follow. The bus must be attached to an event loop, and *F stay where it is. */
int follow_start(Follow *f);
/* Frees the copy. The bus must not be used any more. */
void follow_done(Follow *f);
