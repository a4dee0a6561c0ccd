/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "evidence-kind.h"

#include <assert.h>

#define ROW(OF, field, least_)                                                                     \
	[EVIDENCE_##OF##_##field] = {"", EVIDENCE_OF_##OF, OF##_ATTR_##field, least_},

#define EVIDENCE(kind, name_, help)                                                                \
	static_assert(sizeof(name_) <= sizeof(evidence_rows->name),                                \
		      name_ ": is longer than its place");
#include "evidence-kinds.def"

const EvidenceRow evidence_rows[_EVIDENCE_MAX] = {
#define EVIDENCE(kind, name_, help)	    [EVIDENCE_##kind] = {.name = name_},
#define PORT_EVIDENCE(field)		    ROW(PORT, field, 0)
#define DEVICE_EVIDENCE(field)		    ROW(DEVICE, field, 0)
#define COUNTER_EVIDENCE(field, least)	    ROW(DEVICE, field, least)
#define PORT_COUNTER_EVIDENCE(field, least) ROW(PORT, field, least)
#include "evidence-kinds.def"
};

const Attribute *evidence_attribute(EvidenceKind kind)
{
	const EvidenceRow *row = &evidence_rows[kind];

	switch (row->of) {
	case EVIDENCE_OF_PORT:
		return &port_attributes[row->row];
	case EVIDENCE_OF_DEVICE:
		return &device_attributes[row->row];
	default:
		return NULL;
	}
}

const char *evidence_name(EvidenceKind kind)
{
	const Attribute *a = evidence_attribute(kind);

	return a ? a->name : evidence_rows[kind].name;
}
