/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kinds of evidence: the rows of evidence-kinds.def. */

#include "attribute.h"

typedef enum EvidenceKind {
#define EVIDENCE(kind, name, help)	    EVIDENCE_##kind,
#define PORT_EVIDENCE(field)		    EVIDENCE_PORT_##field,
#define DEVICE_EVIDENCE(field)		    EVIDENCE_DEVICE_##field,
#define COUNTER_EVIDENCE(field, least)	    EVIDENCE_DEVICE_##field,
#define PORT_COUNTER_EVIDENCE(field, least) EVIDENCE_PORT_##field,
#include "evidence-kinds.def"
	_EVIDENCE_MAX
} EvidenceKind;

typedef struct EvidenceRow {
	const char *name, *help; /* of what is no attribute */
	const Attribute *port;	 /* the row of a port that it is about, NULL: none */
	const Attribute *device; /* the row of a device, NULL: none */
	uint64_t least;		 /* of a row that counts: by how much it must have grown; else 0 */
} EvidenceRow;

extern const EvidenceRow evidence_rows[_EVIDENCE_MAX];

/* The name of KIND, as it is published. */
const char *evidence_name(EvidenceKind kind);
