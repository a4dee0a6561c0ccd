/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Virtual functions that cannot work as the host has configured them. On InfiniBand a function
 * without GUIDs gets no LID; a link that is disabled stays down, whatever is done in the guest.
 */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"

/* The most numbers of functions in a sentence, and room for them. If there are more, it ends in
 * "...". */
#define NUMBERS_MAX 8U
typedef char Numbers[NUMBERS_MAX * sizeof("4294967295, ") + sizeof(", ...")];

static const char *member(const Value *vf, const char *name)
{
	return format_member_text(ATTR_VFS, name, vf);
}

static bool has_no_guid(const Value *vf)
{
	static const char none[] = "0000:0000:0000:0000";

	return streq(member(vf, "node_guid"), none) || streq(member(vf, "port_guid"), none);
}

static bool is_disabled(const Value *vf)
{
	return streq(member(vf, "policy"), "disable");
}

/* The numbers of the functions of the port of which IS_BAD is true; returns how many. */
static size_t find(const Object *port, bool (*is_bad)(const Value *vf), Numbers ret)
{
	const Value *vfs = object_value(port, PORT_ATTR_vfs);
	size_t n = 0, used = 0;

	VALUE_FOREACH(vf, vfs) {
		if (vf->type != VALUE_STRUCT || vf->n == 0 || vf->items[0].type != VALUE_UNSIGNED ||
		    !is_bad(vf))
			continue;
		if (n < NUMBERS_MAX)
			used += (size_t)snprintf(ret + used, sizeof(Numbers) - used, "%s%" PRIu64,
						 n ? ", " : "", vf->items[0].number);
		else if (n == NUMBERS_MAX)
			snprintf(ret + used, sizeof(Numbers) - used, ", ...");
		n++;
	}
	return n;
}

void look_at_vf_guids(CheckRun *r)
{
	Numbers numbers = "";
	size_t n = find(r->port, has_no_guid, numbers);

	if (n > 0)
		check_find(r, &port_attributes[PORT_ATTR_vfs],
			   "no GUID is set for %s %s: \"ip link set\" with node_guid and port_guid "
			   "sets it",
			   n == 1 ? "virtual function" : "virtual functions", numbers);
}

void look_at_vf_policies(CheckRun *r)
{
	Numbers numbers = "";
	size_t n = find(r->port, is_disabled, numbers);

	if (n > 0)
		check_find(r, &port_attributes[PORT_ATTR_vfs],
			   "the link of %s %s is disabled: \"ip link set\" with state auto lets it "
			   "come up",
			   n == 1 ? "virtual function" : "virtual functions", numbers);
}

typedef struct VfGuid {
	const Object *port; /* of the physical function */
	size_t order;	    /* of that among those that are checked */
	const char *text;
	uint64_t number; /* of the function */
} VfGuid;

static int compare_guids(const void *a, const void *b)
{
	const VfGuid *x = a, *y = b;
	int r = strcmp(x->text, y->text);

	if (r == 0)
		r = (x->order > y->order) - (x->order < y->order);
	return r ?: (x->number > y->number) - (x->number < y->number);
}

/* Whether TEXT tells a function from others: a function that waits for a container has zeros, or
 * all ones from one that has ended. */
static bool is_guid(const char *text)
{
	return *text && !streq(text, "0000:0000:0000:0000") && !streq(text, "ffff:ffff:ffff:ffff");
}

/* Whether A and B are one function: both ports of a device list those of the device. */
static bool is_same_function(const CheckRun *r, const VfGuid *a, const VfGuid *b)
{
	return a->number == b->number &&
	       object_list_device(r->objects, a->port) == object_list_device(r->objects, b->port);
}

static size_t count_functions(const Object *port)
{
	return value_count(object_value(port, PORT_ATTR_vfs));
}

/* Fills RET, in the order of the texts; returns how many. */
static size_t gather_guids(const CheckRun *r, VfGuid *ret)
{
	static const char *const members[] = {"node_guid", "port_guid"};
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++)
		for (size_t k = 0; k < 2 * count_functions(r->ports[i]); k++) {
			const Value *vf = &object_value(r->ports[i], PORT_ATTR_vfs)->items[k / 2];
			const char *text = member(vf, members[k % 2]);

			if (is_guid(text))
				ret[n++] = (VfGuid){r->ports[i], i, text,
						    format_member_number(ATTR_VFS, "number", vf)};
		}
	sort(ret, n, sizeof(*ret), compare_guids);
	return n;
}

/* The node and the port of a function may have one GUID, and mostly do. Of a port one is told. */
void look_at_same_vf_guids(CheckRun *r)
{
	_cleanup_free_ bool *told = NULL;
	_cleanup_free_ VfGuid *g = NULL;
	char name[96];
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++)
		n += 2 * count_functions(r->ports[i]);
	if (n == 0)
		return;
	g = calloc(n, sizeof(*g));
	told = calloc(r->n_ports, sizeof(*told));
	if (!g || !told) {
		r->error = -ENOMEM;
		return;
	}
	n = gather_guids(r, g);
	for (size_t i = 1; i < n; i++) {
		if (!streq(g[i].text, g[i - 1].text) || told[g[i].order] ||
		    is_same_function(r, &g[i], &g[i - 1]))
			continue;
		told[g[i].order] = true;
		r->port = g[i].port;
		r->device = object_list_device(r->objects, r->port);
		check_find(r, &port_attributes[PORT_ATTR_vfs],
			   "virtual function %" PRIu64 " has the GUID %s, as %" PRIu64
			   " of %s has: the subnet manager takes them for one",
			   g[i].number, g[i].text, g[i - 1].number,
			   object_name(g[i - 1].port, name));
	}
}
