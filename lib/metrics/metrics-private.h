/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The result of reading the replies, for visiting. */

#include "metrics.h"
#include "object.h"

/* A counter with a row. */
typedef struct MetricCounter {
	bool valid; /* there is a value */
	bool saturated;
	bool was_valid, was_saturated; /* in the reply before */
	uint64_t value;
} MetricCounter;

/* Why a row of an object has no value. */
typedef struct MetricReason {
	uint16_t row, code; /* CODE of Metrics.codes */
} MetricReason;

/* A device or a port. */
typedef struct MetricObject {
	AttrMask rows; /* those that metrics are made of and that have a valid value */
	Value *values; /* of ROWS, in their order; of a table, how many entries it has */
	uint8_t n_before[ATTR_MASK_WORDS]; /* how many of VALUES are before each word of ROWS */
	MetricReason *reasons;
	size_t n_reasons;
	uint32_t device;  /* kernel index */
	uint32_t port;	  /* number; of a device PORT_NUMBER_NONE */
	const char *name; /* of the device; NULL if it is not known */
	char number[12];  /* of the port, as text; "" of a device */
	char *labels;	  /* that each sample has, as text */
	bool is_function; /* the device is a virtual function or a subfunction */
	/* of a port, after metrics_read_counters(): by row of counters.def; NULL: they were not
	 * asked for */
	MetricCounter *counters;
	bool has_counters; /* they could be read */
	bool had_counters; /* in the reply before */
	uint64_t layout;   /* of the machine, when this object was changed last */
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
	MetricObject machine; /* it has no name, and no values but these */
	Value findings;
	char **codes; /* those of all reasons, each once */
	size_t n_codes;
	ForeignCounters foreign,
		foreign_before; /* those of the last reply, and room for the next */
	/* The layout, and what it was when more than some objects changed. Each is a number that no
	 * machine has had before. */
	uint64_t layout, whole;
	bool has_objects;		/* they were read */
	sd_bus_message *counters_reply; /* NULL: not read */
};

/* The layout is another one, because O has changed; NULL: because more has. */
void metrics_change_layout(Metrics *m, MetricObject *o);

/* The port with number PORT of the device with index DEVICE; NULL if there is none. */
MetricObject *metrics_find_port(const Metrics *m, uint32_t device, uint32_t port);
/* The port at PATH; NULL if there is none. */
MetricObject *metrics_find_path(const Metrics *m, const char *path);

/* The unit of a row or counter, as metrics call it: "bytes_per_second"; "" if it has none. */
const char *metric_row_unit(const Attribute *row);
const char *metric_counter_unit(const CounterRow *row);

/* Writes N so that it ends before END. Returns its first digit. */
char *metrics_put_digits(char *end, uint64_t n);

/* The N labels as they stand in a text, without brackets. The caller frees them. NULL without
 * memory. */
char *metrics_labels_text(const MetricLabel *labels, size_t n);
