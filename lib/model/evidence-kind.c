/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "evidence-kind.h"

const EvidenceRow evidence_rows[_EVIDENCE_MAX] = {
#define EVIDENCE(kind, name_, help_) [EVIDENCE_##kind] = {.name = name_, .help = help_},
#define PORT_EVIDENCE(field)                                                                       \
	[EVIDENCE_PORT_##field] = {.port = &port_attributes[PORT_ATTR_##field]},
#define DEVICE_EVIDENCE(field)                                                                     \
	[EVIDENCE_DEVICE_##field] = {.device = &device_attributes[DEVICE_ATTR_##field]},
#define COUNTER_EVIDENCE(field, least_)                                                            \
	[EVIDENCE_DEVICE_##                                                                        \
		field] = {.device = &device_attributes[DEVICE_ATTR_##field], .least = least_},
#define PORT_COUNTER_EVIDENCE(field, least_)                                                       \
	[EVIDENCE_PORT_##field] = {.port = &port_attributes[PORT_ATTR_##field], .least = least_},
#include "evidence-kinds.def"
};

const char *evidence_name(EvidenceKind kind)
{
	const EvidenceRow *row = &evidence_rows[kind];

	return row->port ? row->port->name : row->device ? row->device->name : row->name;
}
