/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The ports that the arguments of a command choose. An argument is anything by which rdmad finds
 * ports (FindPorts), or a pattern of fnmatch(3) for the names of ports, devices and network
 * interfaces.
 */

#include "object.h"
#include "rdmactl.h"

typedef struct Selection {
	ObjectList objects; /* what was read: see SelectionFlags */
	Object **ports;	    /* those that are chosen, each once, in the order of the arguments */
	size_t n;
	char **missing; /* of each argument that chooses nothing: "mlx5_7: no such port" */
	size_t n_missing;
} Selection;

/* The objects that a command needs beside the ports that are chosen. */
typedef enum SelectionFlags {
	SELECTION_PLANES = 1 << 0,  /* without arguments the ports of planes are chosen too */
	SELECTION_DEVICES = 1 << 1, /* their devices are read */
	SELECTION_OTHERS = 1 << 2,  /* all devices and ports are read */
	SELECTION_EVENTS = 1 << 3,  /* of their devices is read how changes reach rdmad */
} SelectionFlags;

/* Up to so many devices are read one by one. */
#define SELECTION_FEW 16U

/* Reads the ports that the arguments choose, or more. Without arguments all are chosen. A name of
 * which there is no port is no error yet. With PROPERTIES, the command looks at no more of the
 * ports and their devices than these, see ports_list(); NULL: at everything. */
ExitStatus selection_read(Context *c, SelectionFlags flags, const char *const *properties,
			  Selection *ret);
/* For PROPERTIES: at the names only. */
extern const char *const selection_names[];
/* Reads PROPERTIES of all ports and their devices, and what a choice among them needs; with
 * PATTERNS, by patterns too. */
ExitStatus selection_read_all(Context *c, const char *const *properties, bool patterns,
			      ObjectList *ret);
void selection_done(Selection *s);
#define _cleanup_selection_ _cleanup_(selection_done)

/* Says what is missing. STATUS_NO_PORT if anything is. */
ExitStatus selection_complain(const Selection *s);
/* Prints one of the ports that are chosen, behind N others; with its name above if HEADING. */
typedef ExitStatus SelectionPrint(Context *c, const Selection *s, const Object *port, size_t n,
				  bool heading);
/* Runs a command that prints the ports that are chosen, or the list "Ports" in JSON. One that is
 * missing or fails does not keep the others from being printed. Returns the worst status. */
ExitStatus selection_print(Context *c, SelectionFlags flags, const char *const *properties,
			   SelectionPrint *print);

/* The device of PORT; NULL if rdmad has not published it, or it was not asked for. */
const Object *selection_device(const Selection *s, const Object *port);
