/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sets of rows of the attribute tables that do not change at run time, such as all those that are
 * signalled. The compiler makes a constant of each. A visitor of a few rows takes the set and a
 * mask, and visits the rows that are in both.
 */

#include "attribute.h"

/* The rows of a port, or of a device, for which WHERE returns true. WHERE must be a function that
 * looks at nothing else, and _always_inline_: without that gcc calls it for each row at run time,
 * if it finds the table too long. The table stands here once more, because the compiler sees none
 * of another file; the program has only the constant. */
static _always_inline_ AttrMask port_rows(bool (*where)(const Attribute *))
{
#define PORT(field, ...) [PORT_ATTR_##field] = {ATTR_ROW(PortValues, field, __VA_ARGS__)},
	static const Attribute table[] = {
#include "port-attributes.def"
	};
#undef PORT
	AttrMask rows = {};

#define PORT(field, ...)                                                                           \
	rows.bits[PORT_ATTR_##field / 64] |= (uint64_t)where(&table[PORT_ATTR_##field])            \
					     << PORT_ATTR_##field % 64;
#include "port-attributes.def"
#undef PORT
	return rows;
}

static _always_inline_ AttrMask device_rows(bool (*where)(const Attribute *))
{
#define DEVICE(field, ...) [DEVICE_ATTR_##field] = {ATTR_ROW(DeviceValues, field, __VA_ARGS__)},
	static const Attribute table[] = {
#include "device-attributes.def"
	};
#undef DEVICE
	AttrMask rows = {};

#define DEVICE(field, ...)                                                                         \
	rows.bits[DEVICE_ATTR_##field / 64] |= (uint64_t)where(&table[DEVICE_ATTR_##field])        \
					       << DEVICE_ATTR_##field % 64;
#include "device-attributes.def"
#undef DEVICE
	return rows;
}

/* The predicates that more than one file needs. */

static _always_inline_ bool row_is_any(_unused_ const Attribute *a)
{
	return true;
}

static _always_inline_ bool row_is_of_core(const Attribute *a)
{
	return a->source == SOURCE_CORE;
}

/* What rdmad counts of an object and publishes. */
static _always_inline_ bool row_is_count(const Attribute *a)
{
	return a->source == SOURCE_CORE && a->type == ATTR_U64 && a->unit != UNIT_TIMESTAMP;
}

static _always_inline_ bool row_is_derived(const Attribute *a)
{
	return a->source == SOURCE_DERIVED;
}

static _always_inline_ bool row_is_measured(const Attribute *a)
{
	return a->source == SOURCE_MEASURED;
}

/* The rows that an object has their interface for, once one of them is known. */
static _always_inline_ bool row_brings_interface(const Attribute *a)
{
	return a->source == SOURCE_DV || a->interface == INTERFACE_DEVICE_LIMITS ||
	       (a->interface == INTERFACE_SIGNAL && a->source != SOURCE_MEASURED);
}

static _always_inline_ bool row_is_text(const Attribute *a)
{
	return attr_is_text(a->type);
}

/* The rows without a field are the tables and "unavailable". */
static inline bool row_is_table(const Attribute *a)
{
	return a->size == 0 && a->type != ATTR_UNAVAILABLE;
}
