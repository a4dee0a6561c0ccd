/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "changed-values.h"

#include <inttypes.h>

#include "attribute.h"

/* Whether only numbers of the record differ: not which values there are, and nothing that D-Bus
 * publishes beside them. */
static bool tells_all(const struct rdmad_port *was, const struct rdmad_port *is)
{
	return was->rest_generation == is->rest_generation && was->health == is->health &&
	       was->hot.flags == is->hot.flags && was->hot.valid == is->hot.valid &&
	       was->hot.protocol == is->hot.protocol && was->ifindex == is->ifindex &&
	       streq(was->netdev, is->netdev);
}

static bool set(Metrics *m, const ChangedPort *c, const char *name, const char *text)
{
	return metrics_set_property(m, c->is.hot.device_index, c->is.hot.port_num, name, text) >= 0;
}

static bool take_field(Metrics *m, const ChangedPort *c, unsigned int field)
{
	char was[RDMAD_TEXT_MAX], is[RDMAD_TEXT_MAX];
	int r = rdmad_field_text(&c->was, field, was, sizeof(was));
	int k = rdmad_field_text(&c->is, field, is, sizeof(is));

	/* it has no value, or one of them is a code that has no meaning */
	if (r < 0 || k < 0)
		return r == k;
	return streq(was, is) || set(m, c, rdmad_field_name(field), is);
}

static bool take_number(Metrics *m, const ChangedPort *c, PortAttr a, uint64_t was, uint64_t is)
{
	char text[32];

	if (was == is)
		return true;
	snprintf(text, sizeof(text), "%" PRIu64, is);
	return set(m, c, port_attributes[a].name, text);
}

/* Takes the fields that always have a value. Of those that are no numbers on D-Bus, tells_all() has
 * found that they are the same. */
static bool take_always(Metrics *m, const ChangedPort *c)
{
	bool good = true;

#define ALWAYS(attribute, member, offset, type)                                                    \
	good = good && take_number(m, c, PORT_ATTR_##attribute, c->was.member, c->is.member);
#include "memory-fields.def"
	return good;
}

bool changed_values_take(Metrics *m, const ChangedPort *c)
{
	bool good = tells_all(&c->was, &c->is);

	for (unsigned int f = 0; good && f < _RDMAD_FIELD_MAX; f++)
		good = take_field(m, c, f);
	return good && take_always(m, c);
}
