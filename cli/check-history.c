/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the history of a port says: that its link goes down again and again. */

#include "bus.h"
#include "check-parts.h"
#include "checks.h"
#include "clock.h"
#include "names.h"
#include "parse.h"

/* The members of an entry of ListHistories() */
enum { MEMBER_NAME, MEMBER_HISTORY, _MEMBER_MAX };

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

/* Reads all histories, for the first port that needs one. */
static int read_histories(CheckRun *r)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int k;

	if (r->status != STATUS_OK)
		return -ECANCELED;
	if (r->histories.type == VALUE_ARRAY)
		return 0;
	/* rdmad has more times at which a link went down than it has transitions */
	k = sd_bus_call_method(r->c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "ListHistories", &error, &reply, "a{sv}", 1,
			       "link-downs-within-usec", "t", r->flap.usec);
	if (k >= 0)
		k = value_read(reply, &r->histories);
	if (k >= 0 && r->histories.type != VALUE_ARRAY)
		k = -EBADMSG;
	if (k < 0)
		r->status = bus_complain("the histories cannot be read", &error, k);
	return k;
}

static bool is_history_of(const Value *entry, const Object *port)
{
	const Value *path = entry->type == VALUE_STRUCT && entry->n >= _MEMBER_MAX
				    ? value_lookup(&entry->items[MEMBER_HISTORY], "Port")
				    : NULL;

	return path && streq(value_text(path), port->path);
}

/* Member NAME, an array, of the history of the port that the run looks at; NULL if it has none. The
 * histories are in the order of the ports: the search goes on where the last one ended. */
static const Value *find_history(CheckRun *r, const char *name)
{
	const Value *all = &r->histories, *member;

	if (read_histories(r) < 0)
		return NULL;
	for (size_t i = 0; i < all->n; i++, r->history++) {
		const Value *entry = &all->items[r->history % all->n];

		if (!is_history_of(entry, r->port))
			continue;
		member = value_lookup(&entry->items[MEMBER_HISTORY], name);
		return member && member->type == VALUE_ARRAY ? member : NULL;
	}
	return NULL;
}

void look_for_flaps(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_link_downs];
	_cleanup_free_ char *last = NULL;
	const Value *downs;

	if (r->flap.n == 0 || check_is_ignored(r, r->check->name) || check_is_expected(r, row))
		return;
	downs = find_history(r, "LinkDowns");
	if (!downs || downs->n < r->flap.n)
		return;
	last = format_value(&port_attributes[PORT_ATTR_state_change], &downs->items[downs->n - 1]);
	check_find(r, row, "the link went down %zu times in %s, the last time at %s", downs->n,
		   r->flap.text, last ? last : "");
}
