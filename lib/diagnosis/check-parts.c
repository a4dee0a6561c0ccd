/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-parts.h"

SeenSource check_evidence(const CheckRun *r, const Object *o)
{
	return r->ask.evidence ? r->ask.evidence(r->ask.userdata, o) : (SeenSource){};
}

static bool is_named(const CheckRun *r, const Object *port)
{
	char name[96];

	for (unsigned int i = 0; i < r->n_names; i++)
		if (!object_is_pattern(r->names[i]) &&
		    (streq(r->names[i], object_name(port, name)) ||
		     object_matches(port, r->names[i])))
			return true;
	return false;
}

bool check_may_be_idle(const CheckRun *r, const Object *port)
{
	const Object *device = object_list_device(r->objects, port);

	return (object_is_function(device) ||
		streq(object_text(port, PORT_ATTR_protocol), "raw-packet")) &&
	       !is_named(r, port);
}

bool check_is_expected(const CheckRun *r, const Attribute *row)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].kind == EXPECT_ATTRIBUTE && e->items[i].row == row &&
		    check_applies(r, &e->items[i], r->port))
			return true;
	return false;
}

bool check_has_port(const CheckRun *r, const Object *port)
{
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i] == port)
			return true;
	return false;
}
