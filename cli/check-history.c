/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the history of a port says: that its link goes down again and again, or that it came back
 * slower than it was. */

#include "bus.h"
#include "check-parts.h"
#include "checks.h"
#include "clock.h"
#include "names.h"
#include "parse.h"

/* The members of a transition; behind them rdmad may have a dictionary. */
enum { MEMBER_REALTIME, MEMBER_MONOTONIC, MEMBER_FROM, MEMBER_TO, MEMBER_REASON, MEMBER_TAIL };

bool flap_limit_parse(const char *text, FlapLimit *ret)
{
	const char *slash = strchr(text, '/');
	char count[16];
	FlapLimit limit = {.text = slash ? slash + 1 : NULL};

	if (streq(text, "off")) {
		*ret = (FlapLimit){};
		return true;
	}
	if (!slash || (size_t)(slash - text) >= sizeof(count))
		return false;
	memcpy(count, text, (size_t)(slash - text));
	count[slash - text] = '\0';
	if (text_to_u64(count, FLAPS_MAX, &limit.n) < 0 || limit.n == 0 ||
	    !parse_duration(slash + 1, &limit.usec))
		return false;
	*ret = limit;
	return true;
}

/* The transitions of the port that the run looks at; without any, an empty array. */
static int read_transitions(CheckRun *r, Value *ret)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	char name[96];
	int k = sd_bus_call_method(r->c->bus, RDMAD_BUS_NAME, r->port->path, RDMAD_INTERFACE_PORT,
				   "GetHistory", &error, &reply, "a{sv}", 0);

	if (k >= 0)
		k = value_read(reply, ret);
	/* the port has gone since the others were read */
	if (sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_OBJECT))
		return 0;
	if (k < 0)
		r->status = bus_complain(object_name(r->port, name), &error, k);
	return k;
}

static bool is_active_state(const Value *state)
{
	return streq(value_text(state), "active") || streq(value_text(state), "active-defer");
}

/* Whether the link went down: the device that goes away with its port is no flap. */
static bool is_link_down(const Value *t)
{
	const Value *from = &t->items[MEMBER_FROM], *to = &t->items[MEMBER_TO];

	return is_active_state(from) && !is_active_state(to) && !streq(value_text(to), "absent") &&
	       !streq(value_text(to), "unknown");
}

static bool is_transition(const Value *t)
{
	return t->type == VALUE_STRUCT && t->n > MEMBER_REASON &&
	       t->items[MEMBER_REALTIME].type == VALUE_UNSIGNED;
}

void look_for_flaps(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_link_downs];
	_cleanup_free_ char *last = NULL;
	_cleanup_value_ Value transitions = {};
	uint64_t now = realtime_now_usec(), n = 0;
	Value when = {};

	if (r->flap.n == 0 || check_is_ignored(r, r->check->name) || check_is_expected(r, row) ||
	    read_transitions(r, &transitions) < 0)
		return;
	for (size_t i = 0; transitions.type == VALUE_ARRAY && i < transitions.n; i++) {
		const Value *t = &transitions.items[i];

		if (!is_transition(t) || !is_link_down(t) ||
		    t->items[MEMBER_REALTIME].number + r->flap.usec < now)
			continue;
		when = t->items[MEMBER_REALTIME];
		n++;
	}
	if (n < r->flap.n)
		return;
	last = format_value(&port_attributes[PORT_ATTR_state_change], &when);
	check_find(r, row, "the link went down %u times in %s, the last time at %s",
		   (unsigned int)n, r->flap.text, last ? last : "");
}
