/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The result of reading the replies, for visiting. */

#include "metrics.h"

/* The value of a row. */
typedef struct MetricValue {
	enum {
		METRIC_VALUE_NONE, /* the object has no such property */
		METRIC_VALUE_NUMBER,
		METRIC_VALUE_NEGATIVE, /* the number has a minus sign */
		METRIC_VALUE_TEXT,
		METRIC_VALUE_LIST,	 /* TEXT is that of a list, and freed with the object */
		METRIC_VALUE_UNAVAILABLE /* TEXT is the code that says why */
	} kind;
	union {
		uint64_t number; /* of a table, how many entries it has */
		const char *text;
		char *list;
	};
} MetricValue;

/* A counter with a row. */
typedef struct MetricCounter {
	bool valid; /* there is a value */
	bool saturated;
	bool was_valid, was_saturated; /* in the reply before */
	uint64_t value;
} MetricCounter;

/* What is wrong with an object or with the machine, as often as one check has found it. Texts are
 * those of the messages. */
typedef struct MetricFinding {
	const char *check, *severity, *condition;
	uint64_t n;
} MetricFinding;

/* A device or a port. Texts are those of the messages. */
typedef struct MetricObject {
	const char *path;
	uint32_t device;     /* kernel index */
	uint32_t port;	     /* number; of a device 0, as it is of the port of a switch */
	MetricValue *values; /* by row */
	MetricFinding *findings;
	size_t n_findings;
	/* of a port, after metrics_read_counters(): by row of counters.def; NULL: they were not
	 * asked for */
	MetricCounter *counters;
	bool has_counters; /* they could be read */
	bool had_counters; /* in the reply before */
	const char *name;  /* of the device; NULL if it is not known */
	char number[12];   /* of the port, as text; "" of a device */
	bool is_function;  /* the device is a virtual function or a subfunction */
	/* with the values and findings; NULL: they are of the reply with all */
	sd_bus_message *reply;
} MetricObject;

/* A counter without a row. */
typedef struct ForeignCounter {
	uint32_t device, port;
	CounterGroup group;
	const char *name;
	uint64_t value;
	char metric[METRIC_NAME_MAX]; /* the name of the family */
} ForeignCounter;

/* By metric, device index and port number. */
typedef struct ForeignCounters {
	ForeignCounter *items;
	size_t n;
} ForeignCounters;

typedef enum MetricObjectKind {
	METRIC_PORTS,
	METRIC_DEVICES,
	_METRIC_OBJECT_KIND_MAX
} MetricObjectKind;

/* Objects of one kind, by device index and port number. */
typedef struct MetricObjects {
	const Attribute *rows;
	size_t n_rows;
	MetricObject *items;
	size_t n;
} MetricObjects;

struct Metrics {
	MetricObjects objects[_METRIC_OBJECT_KIND_MAX];
	MetricObject machine; /* without a name and values: its findings, and their reply */
	ForeignCounters foreign,
		foreign_before; /* those of the last reply, and room for the next */
	uint64_t layout;
	sd_bus_message *objects_reply, *counters_reply; /* NULL: not read */
};

/* The port with number PORT of the device with index DEVICE; NULL if there is none. */
MetricObject *metrics_find_port(const Metrics *m, uint32_t device, uint32_t port);
/* The port at PATH; NULL if there is none. */
MetricObject *metrics_find_path(const Metrics *m, const char *path);

/* A row of counters.def that does not exist, for the name of a counter without one. */
static inline CounterRow foreign_row(CounterGroup group, const char *name)
{
	return (CounterRow){.group = group, .file = name, .name = name, .unit = COUNTER_UNKNOWN};
}

/* The unit of a row or counter, as metrics call it: "bytes_per_second"; "" if it has none. */
const char *metric_row_unit(const Attribute *row);
const char *metric_counter_unit(const CounterRow *row);

/* Writes N so that it ends before END. Returns its first digit. */
char *metrics_put_digits(char *end, uint64_t n);
