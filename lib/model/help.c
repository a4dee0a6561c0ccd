/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sentences about attributes, columns, counters and evidence. Only programs that print them
 * have them. */

#include "counters.h"
#include "evidence-kind.h"

#define HELP(field, name, type, unit, interface, class, valid, source, absent, metric, help) help,

static const char *const port_help[_PORT_ATTR_MAX] = {
#define PORT HELP
#include "port-attributes.def"
#undef PORT
};

static const char *const device_help[_DEVICE_ATTR_MAX] = {
#define DEVICE HELP
#include "device-attributes.def"
#undef DEVICE
};

const char *attr_help(const Attribute *a)
{
	return a->is_of_port ? port_help[a - port_attributes] : device_help[a - device_attributes];
}

#define COLUMN_HELP(structure, field, storage, type, signature, tail, unit, help) help,
#define TABLE(T, type, structure, name, columns, ...)                                              \
	static const char *const name##_help[] = {columns(COLUMN_HELP, )};
ALL_TABLES(TABLE, )

const char *column_help(const TableLayout *l, size_t i)
{
#define RETURN(T, type, structure, name, ...)                                                      \
	if (l == &name##_layout)                                                                   \
		return name##_help[i];
	ALL_TABLES(RETURN, )
	return "";
}

static const char *const counter_texts[] = {
#define COUNTER(group, file, name, unit, scale, bits, node_exporter, help) help,
#include "counters.def"
#undef COUNTER
};

const char *counter_help(const CounterRow *row)
{
	return counter_texts[row - counter_rows];
}

/* Of what is no attribute. */
static const char *const evidence_texts[_EVIDENCE_MAX] = {
#define EVIDENCE(kind, name, help) [EVIDENCE_##kind] = help,
#include "evidence-kinds.def"
};

const char *evidence_kind_help(EvidenceKind kind)
{
	const Attribute *a = evidence_attribute(kind);

	return a ? attr_help(a) : evidence_texts[kind];
}
