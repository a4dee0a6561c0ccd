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

typedef enum EvidenceOf { EVIDENCE_OF_NOTHING, EVIDENCE_OF_PORT, EVIDENCE_OF_DEVICE } EvidenceOf;

/* A row has no pointers: each would be a number that the dynamic linker writes in each process. */
typedef struct EvidenceRow {
	char name[8];	/* of what is no attribute */
	uint8_t of;	/* EvidenceOf: the attributes that it is about one of */
	uint8_t row;	/* PortAttr or DeviceAttr */
	uint32_t least; /* of a row that counts: by how much it must have grown; else 0 */
} EvidenceRow;

extern const EvidenceRow evidence_rows[_EVIDENCE_MAX];

/* The attribute that KIND is about; NULL: none. */
const Attribute *evidence_attribute(EvidenceKind kind);
/* The name of KIND, as it is published. */
const char *evidence_name(EvidenceKind kind);
/* What KIND is. Only programs that print it have it: help.c. */
const char *evidence_kind_help(EvidenceKind kind);
