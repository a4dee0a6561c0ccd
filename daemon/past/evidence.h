/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The evidence of a device and its ports: the last changes of the rows that evidence-kinds.def
 * names, and events that say something by themselves. An explanation of a port joins them with its
 * history, which has the state.
 *
 * A log belongs to the name of a device, as a history does: that of a device that has gone is kept
 * until there is one of that name again. The log is in memory only, and bounded: see the limits. No
 * I/O, no clock: times come in as arguments.
 */

#include "event.h"
#include "evidence-kind.h"
#include "port.h"
#include "source.h"

/* The most entries of one device with all its ports, and the most devices that have gone of which
 * the log is kept. */
#define EVIDENCE_ENTRIES 256U
#define EVIDENCE_KEPT	 64U

/* Room for a value as text: the longest is a GID with its index. A longer text is cut. */
typedef char EvidenceText[48];

typedef struct EvidenceMoment {
	uint64_t realtime_usec, monotonic_usec;
	EventReason reason; /* why it was looked at, or the event itself */
} EvidenceMoment;

/* The value of KIND was FROM and is TO. A value that came has no FROM, a value that went has no TO.
 */
typedef struct EvidenceEntry {
	EvidenceMoment when;
	uint32_t port; /* its place on the device, from 1; 0: the device itself */
	EvidenceKind kind;
	EvidenceText from, to;
} EvidenceEntry;

typedef struct EvidenceLog EvidenceLog;

/* The logs of devices that have gone, the one that went last first. All zero: none. */
typedef struct EvidenceList {
	EvidenceLog *first;
	size_t n;
} EvidenceList;

/* Frees L, which may be NULL; returns NULL. */
EvidenceLog *evidence_free(EvidenceLog *l);
void evidence_list_done(EvidenceList *list);

/* The number of entries of L, which may be NULL, and entry I of them: 0 is the oldest. */
size_t evidence_count(const EvidenceLog *l);
const EvidenceEntry *evidence_entry(const EvidenceLog *l, size_t i);

/*
 * Each of these notes something in *L, which is made if it is NULL. Without memory, nothing is
 * noted. PORT is the place of the port on its device.
 */

/* The rows CHANGED of a port are now as in S. A first value is no evidence. */
void evidence_note_port(EvidenceLog **l, uint32_t port, const PortSnapshot *s,
			const AttrMask *changed, const EvidenceMoment *when);
/* The tables of a port were as in WAS, and are as in S: of each table that both have, the entries
 * that have gone and come. */
void evidence_note_tables(EvidenceLog **l, uint32_t port, const PortSnapshot *was,
			  const PortSnapshot *s, const EvidenceMoment *when);
/* The rows CHANGED of the device are now as in S. */
void evidence_note_device(EvidenceLog **l, const DeviceSnapshot *s, const AttrMask *changed,
			  const EvidenceMoment *when);
/* The rows of the device that count have been read and are as in S. A row that has grown by its
 * step in evidence-kinds.def makes an entry. If the step is more than 1, soon growing again belongs
 * to that entry. */
void evidence_note_counts(EvidenceLog **l, const DeviceSnapshot *s, const EvidenceMoment *when);
/* The same of the rows of a port. */
void evidence_note_port_counts(EvidenceLog **l, uint32_t port, const PortSnapshot *s,
			       const EvidenceMoment *when);
/* The health reporters of the device were as in WAS, and are as in S. */
void evidence_note_health(EvidenceLog **l, const DeviceSnapshot *was, const DeviceSnapshot *s,
			  const EvidenceMoment *when);
/* An event about a port, or with PORT 0 about all of the device, if it says something by itself.
 * Returns whether it does. */
bool evidence_note_event(EvidenceLog **l, uint32_t port, const EvidenceMoment *when);

/* The device is there, and its hardware is IDENTITY, which another piece of hardware at the same
 * place does not have (0: not known). If the device was away, it is evidence whether the hardware
 * is the same. */
void evidence_note_parent(EvidenceLog **l, const char *path, uint64_t identity,
			  const EvidenceMoment *when);

/* Moves *L, the log of the device S, which goes NOW, on CLOCK_REALTIME, to LIST; *L is NULL then.
 */
void evidence_keep(EvidenceList *list, const DeviceSnapshot *s, uint64_t now, EvidenceLog **l);
/* Moves what was kept of the device called NAME, if anything was, to *L, which must be NULL. */
void evidence_recall(EvidenceList *list, const char *name, EvidenceLog **l);
/* The log that was kept of the device called NAME; NULL if there is none. */
const EvidenceLog *evidence_find(const EvidenceList *list, const char *name);

/* An adapter that has gone with its hardware, and as it was. */
typedef struct EvidenceLoss {
	const char *name, *driver, *model;
	const char *guid, *adapter; /* GUIDs: its own, and that of the system image; "": none */
	const char *path;	    /* of the hardware, in sysfs */
	uint64_t realtime_usec;	    /* when the device went */
} EvidenceLoss;

/* Number I of those in LIST; false: there are no more. */
bool evidence_loss(const EvidenceList *list, size_t i, EvidenceLoss *ret);

/* The first log in LIST whose hardware has an unknown fate; NULL: there is none. *RET_PATH is the
 * directory of the hardware. */
EvidenceLog *evidence_unjudged(const EvidenceList *list, const char **ret_path);
/* STATE is the fate of the hardware of L. IDENTITY is that of the hardware in its place now (0: not
 * known). */
void evidence_judge(EvidenceLog *l, ParentState state, uint64_t identity,
		    const EvidenceMoment *when);
