/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Completes rdmad-metrics(7): copies standard input to standard output, and puts in the place of a
 * line "@metrics PREFIX@" the families whose names begin with PREFIX, but for those of a longer
 * prefix, and of "@labels port@" and "@labels device@" the labels of the info metric. All of it
 * comes from the attribute tables.
 */

#include <stdio.h>

#include "mdoc.h"
#include "metrics.h"

static const char *const prefixes[] = {"rdma_port_hw_", "rdma_port_", "rdma_device_",
				       "node_infiniband_"};

/* Which prefix NAME has: the longest. */
static const char *prefix_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (startswith(name, prefixes[i]))
			return prefixes[i];
	return "";
}

static const char *type_text(MetricType type)
{
	static const char *const names[_METRIC_TYPE_MAX] = {
		[METRIC_TYPE_GAUGE] = "gauge",	   [METRIC_TYPE_COUNTER] = "counter",
		[METRIC_TYPE_STATESET] = "states", [METRIC_TYPE_INFO] = "info",
		[METRIC_TYPE_UNKNOWN] = "unknown",
	};

	return names[type];
}

static int put_family(void *userdata, const MetricFamily *f)
{
	const char *prefix = userdata;

	if (!streq(prefix_of(f->name), prefix))
		return 0;
	printf(".It Va %s Pq %s\n", f->name, type_text(f->type));
	mdoc_put_text(f->help);
	putchar('\n');
	return 0;
}

static void put_families(const char *prefix)
{
	static const MetricsVisitor visitor = {.family = put_family};
	unsigned int flags = METRICS_ALL_FAMILIES | METRICS_UNAVAILABLE;

	if (startswith(prefix, "node_"))
		flags |= METRICS_NODE_EXPORTER;
	puts(".Bl -tag -width indent -compact");
	if (metrics_visit(NULL, flags, &visitor, CONST_CAST(char *, prefix_of(prefix))) < 0)
		exit(1);
	puts(".El");
}

static void put_labels(const Attribute *rows, size_t n)
{
	puts(".Bl -tag -width indent -compact");
	for (size_t i = 0; i < n; i++) {
		char name[METRIC_NAME_MAX];

		if (rows[i].metric != METRIC_INFO)
			continue;
		metric_label_name(&rows[i], name);
		printf(".It Va %s\n", name);
		mdoc_put_text(attr_help(&rows[i]));
		putchar('\n');
	}
	puts(".El");
}

int main(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line + strlen("@metrics ");

		if (startswith(line, "@metrics ") && strchr(rest, '@')) {
			*strchr(rest, '@') = '\0';
			put_families(rest);
		} else if (streq(line, "@labels port@\n")) {
			put_labels(port_attributes, _PORT_ATTR_MAX);
		} else if (streq(line, "@labels device@\n")) {
			put_labels(device_attributes, _DEVICE_ATTR_MAX);
		} else {
			fputs(line, stdout);
		}
	}
	return fflush(stdout) == 0 && !ferror(stdout) && !ferror(stdin) ? 0 : 1;
}
