/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Completes org.rdma(5): copies standard input to standard output, and puts in the place of a line
 * "@interfaces Device@" or "@interfaces Port@" the interfaces that such an object can have beside
 * its own, of "@properties@" the properties of all interfaces, of "@raw@" the fields of
 * org.rdma.Port.Query(), of "@listed@" the fields of org.rdma.Manager.ListPorts(), of "@counters@",
 * "@counter-columns@" and "@counter-units@" what org.rdma.Manager.GetCounters() knows, of
 * "@transition-columns@" the members of a transition, of "@reasons@" the reasons that signals
 * carry, of "@unavailable@" the codes of why something has no value, of "@errors@" the errors, of
 * "@features@" what org.rdma.Manager.Features has, and of "@member INTERFACE.NAME@" the sentence of
 * members.def. All of it comes from the tables.
 */

#include <stdio.h>

#include "api-feature.h"
#include "counters.h"
#include "event.h"
#include "evidence-kind.h"
#include "mdoc.h"
#include "members.h"
#include "names.h"
#include "query-error.h"
#include "unavailable.h"

/* "One of a, b or c." Names in quotes: some have spaces. */
static void put_names(const char *const *names)
{
	fputs("One of", stdout);
	for (size_t i = 0; names[i]; i++) {
		fputs(i == 0 ? " " : names[i + 1] ? ", " : " or ", stdout);
		printf("\\(dq%s\\(dq", names[i]);
	}
	puts(".");
}

/* The members of an entry. */
static void put_columns(const TableLayout *l)
{
	puts(".Bl -tag -width indent -compact");
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];
		const char *unit = unit_rows[c->unit].name;

		if (!c->is_published)
			continue;
		printf(".It Va %s Pq Vt %s%s%s%s\n", c->tail[0] ? c->tail : c->field, c->signature,
		       *unit ? " , " : "", unit, c->tail[0] ? " , No in the tail" : "");
		mdoc_put_text(column_help(l, i));
		putchar('\n');
	}
	printf(".It tail Pq Vt %s\n", COLUMN_TAIL_SIGNATURE);
	puts("See\n.Sx Entries .\n.El");
}

static const char *signal_sentence(const Attribute *row)
{
	switch (row->class) {
	case CLASS_IDENTITY:
	case CLASS_FIXED:
		return "Never changes.";
	case CLASS_GENERATION:
		return "Is in signals that are sent because of other properties, and causes none.";
	case CLASS_COUNTER:
		return "Changes are not signalled.";
	case CLASS_CONST:
	case CLASS_DYNAMIC:
		return attr_table_entry_size(row->type) > 0
			       ? "A change is signalled without the new value."
			       : NULL;
	case _CLASS_MAX:
		break;
	}
	return NULL;
}

static void put_property(const Attribute *row)
{
	const char *unit = unit_rows[row->unit].name;
	const char *const *names = attr_type_names(row->type);

	printf(".It Va %s Pq Vt %s%s%s\n", row->name, attr_signature(row->type), *unit ? " , " : "",
	       unit);
	mdoc_put_text(attr_help(row));
	putchar('\n');
	if (table_layout(row->type)) {
		puts("Each entry has the members:");
		put_columns(table_layout(row->type));
	}
	if (names)
		put_names(names);
	if (row->valid != VALID_ALWAYS)
		printf("Available %s.\n", attr_validity_text(row->valid));
	if (attr_absent_text(row))
		printf("Reads as %s without a value.\n", attr_absent_text(row));
	if (signal_sentence(row))
		puts(signal_sentence(row));
	printf("Source: %s.\n", attr_source_name(row->source));
}

static void put_interface(const Attribute *rows, size_t n, AttrInterface interface)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].interface != interface)
			continue;
		if (!any)
			printf(".Ss %s\n.Bl -tag -width indent\n", attr_interface_name(interface));
		any = true;
		put_property(&rows[i]);
	}
	if (any)
		puts(".El");
}

static void put_properties(void)
{
	for (AttrInterface i = 0; i < INTERFACE_PORT; i++)
		put_interface(device_attributes, _DEVICE_ATTR_MAX, i);
	for (AttrInterface i = INTERFACE_PORT; i < INTERFACE_RAW; i++)
		put_interface(port_attributes, _PORT_ATTR_MAX, i);
}

/* The interfaces from FIRST to the one before END. */
static void put_interfaces(AttrInterface first, AttrInterface end)
{
	for (AttrInterface i = first; i < end; i++)
		printf(".Sy %s%s\n%s", attr_interface_name(i), i + 2 < end ? " ," : "",
		       i + 2 == end ? "or\n" : "");
}

static void put_raw_fields(void)
{
	puts(".Bl -column vport_steering_icm_rx signature CapabilityFlags\n"
	     ".It Sy field Ta Sy type Ta Sy property");
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];

		if (row->size > 0)
			printf(".It Va %s Ta Vt %s Ta %s\n", row->field,
			       attr_raw_signature(row->type),
			       row->interface == INTERFACE_RAW ? "\\&" : row->name);
	}
	puts(".El");
	puts("Those without a property:\n.Bl -tag -width indent");
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];

		if (row->interface == INTERFACE_RAW && row->size > 0) {
			printf(".It Va %s\n", row->field);
			mdoc_put_text(attr_help(row));
			putchar('\n');
		}
	}
	puts(".El");
}

static void put_listed_fields(void)
{
	puts(".Bl -column \"PortNumber\" \"signature\"\n"
	     ".It Sy field Ta Sy type\n"
	     ".It object path Ta Vt o");
	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		const Attribute *row = &port_attributes[listed_attributes[i]];

		printf(".It Va %s Ta Vt %s\n", row->name, attr_signature(row->type));
	}
	printf(".It tail Ta Vt %s\n.El\n", COLUMN_TAIL_SIGNATURE);
}

static void put_reasons(void)
{
	for (EventReason r = 0; r < _REASON_MAX; r++)
		printf(".Qq %s%s\n", event_reason_name(r), r + 1 < _REASON_MAX ? " ," : " .");
}

static void put_unavailable(void)
{
	puts(".Bl -column \"firmware-timeout\" \"sentence\"\n"
	     ".It Sy code Ta Sy sentence");
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++)
		if (unavailable_rows[i].on_bus)
			printf(".It Qq %s Ta %s\n", unavailable_rows[i].code,
			       unavailable_rows[i].text);
	puts(".El");
}

static void put_query_errors(void)
{
	puts(".Bl -column \"device-error:EIO\" \"sentence\"\n"
	     ".It Sy code Ta Sy sentence");
	for (QueryErrorCode i = 0; i < _QUERY_ERROR_MAX; i++)
		printf(".It Qq %s Ta %s\n", query_error_name(i), query_error_meaning(i));
	puts(".El");
}

static void put_errors(void)
{
	static const struct {
		const char *name, *sentence;
	} errors[] = {
#define SERVICE_ERROR(name, sentence) {RDMAD_ERROR_##name, sentence},
#include "errors.def"
#undef SERVICE_ERROR
	};

	puts(".Bl -tag -width indent");
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		printf(".It Sy %s\n", errors[i].name);
		mdoc_put_text(errors[i].sentence);
		putchar('\n');
	}
	puts(".El");
}

static void put_features(void)
{
	puts(".Bl -tag -width indent -compact");
	for (size_t i = 0; i < n_feature_rows; i++) {
		printf(".It Qq %s\n", feature_rows[i].name);
		mdoc_put_text(feature_rows[i].help);
		putchar('\n');
	}
	puts(".El");
}

/* Of the group "device" no counter is known: each driver has its own. */
static bool is_known(CounterGroup g)
{
	for (size_t i = 0; i < n_counter_rows; i++)
		if (counter_rows[i].group == g)
			return true;
	return false;
}

static void put_counters(void)
{
	for (CounterGroup g = 0; g < _COUNTER_GROUP_MAX; g++) {
		if (!is_known(g))
			continue;
		printf(".Ss %s\n.Bl -tag -width indent\n", counter_group_name(g));
		for (size_t i = 0; i < n_counter_rows; i++) {
			const CounterRow *row = &counter_rows[i];

			if (row->group != g)
				continue;
			printf(".It Va %s Pq %s", row->name, counter_unit_name(row->unit));
			if (row->bits == COUNTER_BITS_EXT)
				printf(" , 64 bits, or 32 without extended counters");
			else if (row->bits > 0)
				printf(" , %u bits", row->bits);
			putchar('\n');
			mdoc_put_text(counter_help(row));
			putchar('\n');
		}
		puts(".El");
	}
}

static void put_counter_units(void)
{
	for (CounterUnit u = 0; u < _COUNTER_UNIT_MAX; u++)
		printf(".Qq %s%s\n", counter_unit_name(u), u + 1 < _COUNTER_UNIT_MAX ? " ," : " .");
}

static void put_evidence(void)
{
	puts(".Bl -tag -width indent -compact");
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		printf(".It Va %s\n", evidence_name(kind));
		mdoc_put_text(evidence_kind_help(kind));
		putchar('\n');
	}
	puts(".El");
}

/* "@member Manager.GetPort@": what the member is for. Returns whether LINE is such a line. */
static bool put_member(const char *line)
{
	const char *rest = startswith(line, "@member "), *dot, *end;
	char interface[64], name[64];
	const Member *m;

	end = rest ? strchr(rest, '@') : NULL;
	dot = end ? memrchr(rest, '.', (size_t)(end - rest)) : NULL;
	if (!dot)
		return false;
	snprintf(interface, sizeof(interface), RDMAD_BUS_NAME ".%.*s", (int)(dot - rest), rest);
	snprintf(name, sizeof(name), "%.*s", (int)(end - dot - 1), dot + 1);
	m = member_find(interface, name);
	if (!m) {
		fprintf(stderr, "%s.%s has no row in members.def\n", interface, name);
		exit(1);
	}
	mdoc_put_text(m->help);
	putchar('\n');
	return true;
}

int main(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		if (streq(line, "@interfaces Device@\n"))
			put_interfaces(INTERFACE_DEVICE + 1, INTERFACE_PORT);
		else if (streq(line, "@interfaces Port@\n"))
			put_interfaces(INTERFACE_PORT + 1, INTERFACE_RAW);
		else if (streq(line, "@properties@\n"))
			put_properties();
		else if (streq(line, "@raw@\n"))
			put_raw_fields();
		else if (streq(line, "@listed@\n"))
			put_listed_fields();
		else if (streq(line, "@counters@\n"))
			put_counters();
		else if (streq(line, "@user-columns@\n"))
			put_columns(&user_layout);
		else if (streq(line, "@transition-columns@\n"))
			put_columns(&transition_layout);
		else if (streq(line, "@past-cable-columns@\n"))
			put_columns(&past_cable_layout);
		else if (streq(line, "@past-finding-columns@\n"))
			put_columns(&past_finding_layout);
		else if (streq(line, "@evidence-columns@\n"))
			put_columns(&evidence_layout);
		else if (streq(line, "@evidence@\n"))
			put_evidence();
		else if (streq(line, "@counter-units@\n"))
			put_counter_units();
		else if (streq(line, "@reasons@\n"))
			put_reasons();
		else if (streq(line, "@errors@\n"))
			put_errors();
		else if (streq(line, "@features@\n"))
			put_features();
		else if (streq(line, "@query-errors@\n"))
			put_query_errors();
		else if (streq(line, "@unavailable@\n"))
			put_unavailable();
		else if (!put_member(line))
			fputs(line, stdout);
	}
	return fflush(stdout) == 0 && !ferror(stdout) && !ferror(stdin) ? 0 : 1;
}
