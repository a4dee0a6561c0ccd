/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The metrics of one machine: what rdmad says of the devices and ports, as families of samples, and
 * these as text for Prometheus.
 *
 * There are three steps, each of which stands alone:
 *   1. Read: metrics_read_objects() and metrics_read_counters() take the replies to two calls,
 *      GetManagedObjects() and GetCounters(), as they come from the bus.
 *   2. Visit: metrics_visit() goes through the families, and the samples of each.
 *   3. Write: metrics_text_add() visits them and writes text. A program that needs another form
 *      than text visits them itself.
 *
 * No name of a metric is written down. A family is a row of port-attributes.def,
 * device-attributes.def or counters.def: its kind is the column "metric" there, and its name is
 * made of the name of the row, the unit and the kind (metric_row_name(), metric_counter_name()).
 * Numbers are in base units: seconds and bytes, not microseconds and bits.
 *
 * What has no value has no sample: properties that "Unavailable" names, properties and interfaces
 * that an object does not have, and counters that are missing. Such a value is never 0. A family
 * without samples is not visited (but see METRICS_ALL_FAMILIES).
 *
 * Nothing here logs, blocks, or does I/O. Errors are negative errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "attribute.h"
#include "counters.h"

/* The longest name of a family, with its terminator; longer ones, of counters that a driver
 * invents, are cut. */
#define METRIC_NAME_MAX 128
/* Room for a number as text, with its terminator: "-18446744073709551615.999999" */
#define METRIC_NUMBER_MAX 32

/* Machines */

/* The devices, ports and counters of one machine at one moment. */
typedef struct Metrics Metrics;

/* A machine without devices. NULL without memory. */
Metrics *metrics_new(void);
/* Takes NULL too; returns NULL. */
Metrics *metrics_free(Metrics *m);
DEFINE_CLEANUP(Metrics, metrics_free);

/*
 * Reads REPLY, which is that to org.freedesktop.DBus.ObjectManager.GetManagedObjects() of rdmad:
 * a{oa{sa{sv}}}; or a message like it, in which the interface "" is all of an object. A property
 * without a row, which a later rdmad sends, is skipped. A device or port without a name is left
 * out, and of those with the same name and number all but the first. -EINVAL: M has
 * read such a reply before. -ENOMEM; -EBADMSG, -ENXIO: the message has another type or is damaged.
 * After an error M can only be freed.
 */
int metrics_read_objects(Metrics *m, sd_bus_message *reply);

/*
 * Reads REPLY, which is that to org.freedesktop.DBus.Properties.GetAll("") of the object at PATH:
 * its values replace those that M has of that object. -ENOENT: M has no such object, or one with
 * another name; then and after other errors, which are those of metrics_read_objects(), M is as
 * before.
 */
int metrics_read_object(Metrics *m, const char *path, sd_bus_message *reply);

/*
 * Sets the property NAME of the port with number PORT of the device with index DEVICE to TEXT,
 * which is as rdmad_field_text() (rdmad.h) writes it. A property that has no value, or that no
 * metric is made of, stays so. -ENOENT: there is no such port; -EINVAL: TEXT is no such value;
 * -EOPNOTSUPP: it is of another type than number or text; -ENOMEM. Then M is as before.
 */
int metrics_set_property(Metrics *m, uint32_t device, uint32_t port, const char *name,
			 const char *text);

/*
 * Reads REPLY, which is that to org.freedesktop.DBus.Properties.Get() for the property Findings of
 * org.rdma.Manager: what is wrong with the machine, and not with one device or port. It replaces
 * what was read before. After an error, which is one of metrics_read_objects(), M is as before.
 */
int metrics_read_machine(Metrics *m, sd_bus_message *reply);

/*
 * Reads REPLY, which is that to org.rdma.Manager.GetCounters(), a(asasasa{sv})a(ouattta{sv}).
 * The call comes after metrics_read_objects(): the counters of a port that was not read there are
 * left out. Another call, with a later reply, replaces the counters. The errors are those of
 * metrics_read_objects().
 */
int metrics_read_counters(Metrics *m, sd_bus_message *reply);

/* Removes all that metrics_read_counters() has read. */
void metrics_drop_counters(Metrics *m);

/* Which samples M has and with which labels, as a number: another one after
 * metrics_read_counters(), metrics_read_object(), metrics_set_property(), metrics_read_machine()
 * or metrics_keep() has changed that, and for another machine. As long as it stays, a visit differs
 * from the last one only by the numbers of counters. */
uint64_t metrics_layout(const Metrics *m);

/* Removes the devices and ports for whose object path KEEP returns false. */
void metrics_keep(Metrics *m, bool (*keep)(void *userdata, const char *path), void *userdata);

/* Families and samples */

typedef enum MetricType {
	METRIC_TYPE_GAUGE,
	METRIC_TYPE_COUNTER,
	METRIC_TYPE_STATESET, /* for each state a sample, of which one is 1 */
	METRIC_TYPE_INFO,     /* 1; what it says are the labels */
	METRIC_TYPE_UNKNOWN,  /* a counter without a row: it may be anything */
	_METRIC_TYPE_MAX
} MetricType;

typedef struct MetricFamily {
	/* of the samples, and so with the suffix: "rdma_port_xmit_bytes_total", "rdma_port_info" */
	const char *name;
	unsigned int number; /* the families of a machine are visited in this order */
	MetricType type;
	const char *unit; /* "bytes_per_second"; "": none */
	const char *help; /* one sentence or more, with any characters */
} MetricFamily;

typedef struct MetricLabel {
	const char *name;
	const char *value; /* UTF-8, not escaped, not empty */
} MetricLabel;

/* VALUE / DIVISOR. A floating-point number cannot hold every counter. */
typedef struct MetricNumber {
	uint64_t value;
	uint64_t divisor; /* 8 (bits as bytes), or a power of ten: 1000000 (microseconds as
			     seconds) */
	bool negative;
} MetricNumber;

typedef struct MetricSample {
	/* the first is "device", of a port the second "port"; of the machine neither is there */
	const MetricLabel *labels;
	size_t n_labels;
	const char *text; /* the first N_TEXT of the labels as text has them; NULL: not known */
	size_t n_text;
	unsigned int object; /* the samples of a family are visited in this order: ports, devices,
				the machine */
	bool of_function;    /* of a virtual function or a subfunction, or of a port of one */
	MetricNumber number;
	/* of a counter, where its value is: metrics_read_counters() writes the next one there
	 * unless the layout changes. NULL: the number stays until then */
	const uint64_t *counter;
} MetricSample;

/* The functions that metrics_visit() calls. All that the pointers refer to stays only until the
 * function returns. A negative result ends the visit, and is its result. */
typedef struct MetricsVisitor {
	/* Before the samples of each family. May be NULL. */
	int (*family)(void *userdata, const MetricFamily *f);
	/* May be NULL. */
	int (*sample)(void *userdata, const MetricFamily *f, const MetricSample *s);
} MetricsVisitor;

enum {
	/* rdma_port_unavailable and rdma_device_unavailable too: which attributes have no value,
	 * and why */
	METRICS_UNAVAILABLE = 1 << 0,
	/* families without samples too: all that there can be, but for counters without a row */
	METRICS_ALL_FAMILIES = 1 << 1,
	/* nothing but the families that the collector "infiniband" of node_exporter 1.5 has, with
	 * its names, labels and units: node_infiniband_* */
	METRICS_NODE_EXPORTER = 1 << 2,
	/* without rdma_finding, which is about ports, devices and the machine: rdma_port_findings
	 * and rdma_device_findings say how many there are */
	METRICS_ONE_KIND = 1 << 3,
};

/*
 * Visits the families of M, each once, with all its samples: those of ports, of devices, and of
 * counters, in the order of the rows; the samples of a family by device index and port number. M
 * may be NULL: a machine without devices. FLAGS is of METRICS_*. 0, -ENOMEM, or what VISITOR
 * returned.
 */
int metrics_visit(const Metrics *m, unsigned int flags, const MetricsVisitor *visitor,
		  void *userdata);

/* rdma_rdmad_up, which has no labels: 0 or 1. The asking program has this metric, and
 * metrics_visit() does not visit it. */
extern const MetricFamily metrics_up;

/* The number as text: decimal, exact, without an exponent: "400000000000", "0.004096". Returns RET.
 */
const char *metric_number_format(MetricNumber n, char ret[METRIC_NUMBER_MAX]);

/* Names */

/* The name of the family that ROW is: "rdma_port_rate_bytes_per_second". False if it is none: its
 * metric is NONE, INFO or LABEL. */
bool metric_row_name(const Attribute *row, char ret[METRIC_NAME_MAX]);
/* The name of the family of which ROW, whose metric is INFO, is a label: "rdma_device_info". */
const char *metric_info_name(const Attribute *row);
/* The name of that label: "firmware_version". */
void metric_label_name(const Attribute *row, char ret[METRIC_NAME_MAX]);
/* The name of the family that a counter is: "rdma_port_xmit_bytes_total". One without a row has the
 * unit COUNTER_UNKNOWN. */
void metric_counter_name(CounterGroup group, const char *name, CounterUnit unit,
			 char ret[METRIC_NAME_MAX]);

/* Text */

typedef enum MetricsFormat {
	METRICS_PROMETHEUS,  /* text format 0.0.4 */
	METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
	_METRICS_FORMAT_MAX
} MetricsFormat;

/* "prometheus", "openmetrics" */
const char *metrics_format_name(MetricsFormat format);
/* The content type in HTTP: "text/plain; version=0.0.4; charset=utf-8" */
const char *metrics_content_type(MetricsFormat format);

/* A text that grows. The struct begins as {.format = FORMAT}, and ends with metrics_text_done().
 * The functions below do nothing after an error, so that only the last has to be asked for it. */
typedef struct MetricsText {
	MetricsFormat format;
	char *text; /* not terminated before metrics_text_finish() */
	size_t size;
	size_t allocated;
	int error;
} MetricsText;

/* Frees the text and makes it empty, in the same format. */
void metrics_text_done(MetricsText *t);
#define _cleanup_metrics_text_ _cleanup_(metrics_text_done)

/* The lines HELP, TYPE and UNIT of F. All samples of a family must follow at once. */
void metrics_text_family(MetricsText *t, const MetricFamily *f);
void metrics_text_sample(MetricsText *t, const MetricFamily *f, const MetricSample *s);
/* Writes what it visits; its userdata is the MetricsText. */
extern const MetricsVisitor metrics_text_visitor;
/* All that metrics_visit() visits. */
void metrics_text_add(MetricsText *t, const Metrics *m, unsigned int flags);

/* All that metrics_visit() visits, as text without the values of counters: those can be written
 * again and again, as long as the layout stays. The template refers to the machine. */
typedef struct MetricsTemplate MetricsTemplate;
/* Makes *T, which is NULL or was made with the same FORMAT and FLAGS, the template for the layout
 * that M has now. FLAGS as for metrics_text_add(). The text of objects that have not changed is
 * kept. -ENOMEM: *T is as before. */
int metrics_template_renew(MetricsTemplate **t, const Metrics *m, MetricsFormat format,
			   unsigned int flags);
/* Takes NULL too; returns NULL. */
MetricsTemplate *metrics_template_free(MetricsTemplate *t);
DEFINE_CLEANUP(MetricsTemplate, metrics_template_free);
/* Adds the same as metrics_text_add(). T has the format of the template. */
void metrics_text_add_template(MetricsText *t, const MetricsTemplate *template);

/* Ends the text: in OpenMetrics with "# EOF". Terminates it; SIZE does not count the terminator.
 * -ENOMEM if memory lacked anywhere. */
int metrics_text_finish(MetricsText *t);
