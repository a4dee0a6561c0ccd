/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The reports of rdmactl monitor: the objects that are watched, and the news in the difference
 * between an object before and after. Each function prints at once.
 */

#include <systemd/sd-event.h>

#include "monitor-exec.h"
#include "monitor-print.h"

/* A port that an argument named at the start. */
typedef struct WatchedPort {
	char *path;
	char name[96]; /* a device may come back with another index; "" if the port was away */
} WatchedPort;

typedef struct Report {
	Context *c;
	sd_event *event; /* the loop to end when nobody reads the output any more */
	/* Without arguments everything is watched. With them these ports are, and those whose names
	 * match an argument: a pattern, or the name of a port that was not there yet. */
	WatchedPort *ports;
	size_t n_ports;
	bool is_named; /* report_name_ports() was called */
	/* The names of the attributes to report; NULL: all that tell a person something. */
	const char *const *properties;
	bool fold; /* what changes because the link went down or came up is no line of its own */
	NewsDate date; /* of the lines */
	Exec *exec;    /* NULL: no command is run */
} Report;

/* Takes the ports from the arguments of C; says which can be none. */
ExitStatus report_choose_ports(Report *r);
/* Learns the names of these ports, once. */
void report_name_ports(Report *r, const ObjectList *objects);
/* Frees the ports, and what runs the command. */
void report_done(Report *r);

/* Whether O is one of the objects to report. */
bool report_is_watched(const Report *r, const Object *o);

/* Whether changes of the attribute ROW are reported. */
bool report_has_property(const Report *r, const Attribute *row);

/* Prints NEWS, of whichever object, and runs the command for it. */
void report_news(Report *r, const News *news);
/* Prints each attribute that differs between WAS and IS, for REASON if that is known. */
void report_difference(Report *r, const Object *was, const Object *is, const char *reason);
/* Prints that O was added, with its state, or removed. */
void report_presence(Report *r, const Object *o, bool added);
/* Prints the difference between all objects before and after. */
void report_all(Report *r, const ObjectList *was, const ObjectList *is);
/* Prints that rdmad runs and how many of OBJECTS are watched ports. */
void report_running(Report *r, const ObjectList *objects);
/* Prints that rdmad has started or stopped. */
void report_daemon(Report *r, bool started);
