/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "evidence-kind.h"

/* The origin of an EvidenceRow: an attribute of a port or of a device, or texts. */
static const struct {
	const char *name, *help;
	const Attribute *table;
	unsigned int row;
	uint64_t least;
} rows[_EVIDENCE_MAX] = {
#define EVIDENCE(kind, name_, help_) [EVIDENCE_##kind] = {.name = name_, .help = help_},
#define PORT_EVIDENCE(field)                                                                       \
	[EVIDENCE_PORT_##field] = {.table = port_attributes, .row = PORT_ATTR_##field},
#define DEVICE_EVIDENCE(field)                                                                     \
	[EVIDENCE_DEVICE_##field] = {.table = device_attributes, .row = DEVICE_ATTR_##field},
#define COUNTER_EVIDENCE(field, least_)                                                            \
	[EVIDENCE_DEVICE_##field] = {                                                              \
		.table = device_attributes, .row = DEVICE_ATTR_##field, .least = least_},
#define PORT_COUNTER_EVIDENCE(field, least_)                                                       \
	[EVIDENCE_PORT_##                                                                          \
		field] = {.table = port_attributes, .row = PORT_ATTR_##field, .least = least_},
#include "evidence-kinds.def"
};

EvidenceRow evidence_row(EvidenceKind kind)
{
	const Attribute *table = rows[kind].table, *row = table ? table + rows[kind].row : NULL;

	return (EvidenceRow){
		.name = row ? row->name : rows[kind].name,
		.help = row ? row->help : rows[kind].help,
		.port = table == port_attributes ? row : NULL,
		.device = table == device_attributes ? row : NULL,
		.least = rows[kind].least,
	};
}
