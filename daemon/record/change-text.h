/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Published values and changes as lines of a scenario, rdmad-scenario(5): the sections of the
 * devices, and a step for each change. The values are those of the sources; rdmad derives the
 * others again when the scenario is played.
 */

#include <glib.h>

#include "cache.h"

/* The first lines of a record. */
typedef struct ChangeHead {
	uint64_t realtime_usec, monotonic_usec; /* of the moment that the steps count from */
	const char *boot;			/* the boot of the machine, 32 hexadecimal digits */
	const char *begins; /* why it begins: "start", "full", "lost", "day", "ports", "names" */
} ChangeHead;

void change_put_head(GString *to, const ChangeHead *head);
/* The sections of D and its ports. */
void change_put_sections(GString *to, const Device *d);
/* Begins the script, which follows the sections. */
void change_put_script(GString *to);

/* When a step happened. */
typedef struct ChangeTime {
	uint64_t offset_usec;	/* CLOCK_MONOTONIC, from the moment in the head */
	uint64_t realtime_usec; /* CLOCK_REALTIME */
} ChangeTime;

/* Puts the last errors of D: a step each for the device and its ports. */
void change_put_errors(GString *to, const ChangeTime *t, const Device *d);
/* D is new, and has just been published. Nothing is said of its ports: each is said when it has
 * been read. */
void change_put_added(GString *to, const ChangeTime *t, const Device *d);
/* The first question to the device NAME, which is about all of it, has ended. */
void change_put_asked(GString *to, const ChangeTime *t, const char *name);
/* The device NAME has gone. */
void change_put_removed(GString *to, const ChangeTime *t, const char *name);
/* The device of C was called WAS, and its rows ROWS are other ones. */
void change_put_renamed(GString *to, const ChangeTime *t, const char *was, const DeviceChange *c,
			const AttrMask *rows);
/* The rows ROWS of the device of C are other ones. */
void change_put_device(GString *to, const ChangeTime *t, const DeviceChange *c,
		       const AttrMask *rows);

/* Whether an answer because of which nothing is published has changed the port: what a port that is
 * down has for a LID is not published, but when it comes up it is. */
bool change_is_silent(const PortChange *c);
/* A port of the device that the record calls NAME has been read, which has made it IS. */
void change_put_port(GString *to, const ChangeTime *t, const char *name, const PortChange *c,
		     const PortSnapshot *is);
/* Port NUMBER has been read for the first time, for REASONS, and is IS. IS_BACK: the record has
 * said that a device of its name has gone. IS_OPEN: an event that came since then says more of its
 * state. */
void change_put_first(GString *to, const ChangeTime *t, const char *name, uint32_t number,
		      const PortSnapshot *is, bool is_back, uint32_t reasons, bool is_open);
/* P could not be read. */
void change_put_port_error(GString *to, const ChangeTime *t, const char *name, const Port *p);
/* An event about port NUMBER, or with 0 about the device, said REASON. */
void change_put_noted(GString *to, const ChangeTime *t, const char *name, uint32_t number,
		      EventReason reason);
/* Port NUMBER, 0: the device, has the finding F, which began, ended or was acknowledged just now.
 */
void change_put_finding(GString *to, const ChangeTime *t, const char *name, uint32_t number,
			const PastFinding *f);
