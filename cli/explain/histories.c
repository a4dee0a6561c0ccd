/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "histories.h"

#include <fnmatch.h>

#include "bus.h"
#include "format.h"
#include "names.h"
#include "selection.h"
#include "suggestion.h"
#include "unavailable.h"

void histories_done(Histories *h)
{
	object_list_done(&h->objects);
	value_done(&h->all);
	free(h->chosen);
}

/* Members of the answer. A member that is not there, or has another type, reads as empty. */

const char *history_entry_name(const Value *entry)
{
	return value_text(&entry->items[0]);
}

const Value *history_entry_member(const Value *entry, const char *key)
{
	return value_lookup(&entry->items[1], key);
}

const char *history_entry_text(const Value *entry, const char *key)
{
	return value_text(history_entry_member(entry, key));
}

uint64_t history_entry_number(const Value *entry, const char *key)
{
	return value_number(history_entry_member(entry, key));
}

bool history_entry_is_present(const Value *entry)
{
	return value_is_true(history_entry_member(entry, "Present"));
}

static const Object *history_entry_object(const Histories *h, const Value *entry)
{
	return object_list_find(&h->objects, history_entry_text(entry, "Port"));
}

/* Entry I of the array KEY, a structure whose members FIRST and behind it are numbers, before its
 * tail at TAIL; NULL: there is none. */
static const Value *read_item(const Value *entry, const char *key, size_t i, size_t first,
			      size_t tail)
{
	const Value *all = history_entry_member(entry, key), *t;

	if (i >= value_count(all))
		return NULL;
	t = &all->items[i];
	return t->type == VALUE_STRUCT && t->n >= tail && t->items[first].type == VALUE_UNSIGNED &&
			       t->items[first + 1].type == VALUE_UNSIGNED
		       ? t
		       : NULL;
}

bool history_read_transition(const Value *entry, size_t i, PastState *ret)
{
	const Value *t = read_item(entry, "Transitions", i, 0, 5);

	if (!t)
		return false;
	*ret = (PastState){.realtime_usec = t->items[0].number,
			   .monotonic_usec = t->items[1].number,
			   .from = value_text(&t->items[2]),
			   .to = value_text(&t->items[3]),
			   .reason = value_text(&t->items[4]),
			   .rate = value_number(value_tail(t, 5, "Rate")),
			   .qps = value_number(value_tail(t, 5, "Qps")),
			   .processes = value_number(value_tail(t, 5, "Processes"))};
	return true;
}

bool history_read_finding(const Value *entry, size_t i, FormerFinding *ret)
{
	const Value *t = read_item(entry, "Findings", i, 2, 4);

	if (!t)
		return false;
	*ret = (FormerFinding){.check = value_text(&t->items[0]),
			       .severity = value_text(&t->items[1]),
			       .since_usec = t->items[2].number,
			       .until_usec = t->items[3].number,
			       .attribute = value_text(value_tail(t, 4, "Attribute")),
			       .cause = value_text(value_tail(t, 4, "Cause")),
			       .acknowledged_usec = value_number(value_tail(t, 4, "Acknowledged")),
			       .acknowledged_text =
				       value_text(value_tail(t, 4, "AcknowledgedText"))};
	return true;
}

bool history_read_cable(const Value *entry, size_t i, FormerFinding *ret)
{
	const Value *t = read_item(entry, "Cables", i, 1, 3);

	if (!t)
		return false;
	*ret = (FormerFinding){.check = value_text(&t->items[0]),
			       .severity = HISTORY_CABLE,
			       .since_usec = t->items[1].number,
			       .until_usec = t->items[2].number,
			       .attribute = value_text(value_tail(t, 3, "PartNumber")),
			       .cause = "",
			       .acknowledged_text = ""};
	return true;
}

/* Choosing */

static void choose_entry(Histories *h, const Value *entry)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->chosen[i] == entry)
			return;
	h->chosen[h->n++] = entry;
}

/* Whether PATTERN matches a name of the port: mlx5_0/1, mlx5_0:1, mlx5_0, and for a port that is
 * there its network interfaces. */
static bool entry_matches(const Histories *h, const Value *entry, const char *pattern)
{
	const Object *o = history_entry_object(h, entry);
	char device[80], colon[80];
	char *slash;

	if (o)
		return object_matches(o, pattern);
	text_copy(device, sizeof(device), history_entry_name(entry));
	text_copy(colon, sizeof(colon), history_entry_name(entry));
	slash = strrchr(device, '/');
	if (slash) {
		colon[slash - device] = ':';
		*slash = '\0';
	}
	return fnmatch(pattern, history_entry_name(entry), 0) == 0 ||
	       fnmatch(pattern, colon, 0) == 0 || fnmatch(pattern, device, 0) == 0;
}

/* Chooses what ARGUMENT, a pattern or the name of a port that has gone, matches. Returns how many
 * these are; of a name that several match none is chosen. */
static size_t choose_matching(Histories *h, const char *argument)
{
	bool pattern = object_is_pattern(argument);
	const Value *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->all.n; i++) {
		const Value *entry = &h->all.items[i];

		if ((!pattern && *history_entry_text(entry, "Port")) ||
		    !entry_matches(h, entry, argument))
			continue;
		found = entry;
		n++;
		/* the whole name, of a device without ports, is not that of its former ports */
		if (!pattern && streq(history_entry_name(entry), argument)) {
			n = 1;
			break;
		}
		if (pattern)
			choose_entry(h, entry);
	}
	if (!pattern && n == 1)
		choose_entry(h, found);
	return n;
}

static const Value *find_path(const Histories *h, const char *path)
{
	for (size_t i = 0; i < h->all.n; i++)
		if (streq(history_entry_text(&h->all.items[i], "Port"), path))
			return &h->all.items[i];
	return NULL;
}

static void complain_missing(const Histories *h, const char *argument)
{
	Suggestion suggestion = suggestion_for(argument);

	for (size_t i = 0; i < h->all.n; i++)
		suggestion_offer(&suggestion, history_entry_name(&h->all.items[i]));
	complain("%s: no port has %s, and none that has gone had it%s", argument,
		 object_is_pattern(argument) ? "such a name" : "this name",
		 suggestion_text(&suggestion));
}

/* Chooses the histories of the ports that are there. Returns how many these are. */
static size_t choose_found(Histories *h, const FoundPaths *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		const Value *entry = find_path(h, found->items[i].path);

		if (entry)
			choose_entry(h, entry);
		n += entry != NULL;
	}
	return n;
}

/* Why the port at PATH, which is there, has no history. */
static const char *why_none(Context *c, const char *path)
{
	_cleanup_objects_ ObjectList l = {};
	const char *code = "";

	if (ports_read_one(c->bus, path, &l, NULL) >= 0 && l.n > 0)
		code = object_unavailable_code(l.items[0], PORT_ATTR_state);
	return streq(code ? code : "", unavailable_rows[UNAVAILABLE_NOT_MEASURED].code)
		       ? "it has no history: the driver does not measure its state"
		       : "the port has not been read yet";
}

static ExitStatus choose_named(Context *c, Histories *h, const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(found_paths_done) FoundPaths found = {};
	size_t n;
	int r = object_is_pattern(argument) ? 0
					    : ports_find(c->bus, argument, NULL, &found, &error);

	if (r < 0)
		return bus_complain(argument, &error, r);
	if (found.n > 0) {
		n = choose_found(h, &found);
		if (n == 0)
			complain("%s: %s", argument, why_none(c, found.items[0].path));
		return n > 0 ? STATUS_OK : STATUS_NO_PORT;
	}
	n = choose_matching(h, argument);
	if (n == 1 || (n > 1 && object_is_pattern(argument)))
		return STATUS_OK;
	if (n > 1)
		complain("%s: several ports that have gone had this name; say which", argument);
	else
		complain_missing(h, argument);
	return STATUS_NO_PORT;
}

static void choose_all(Histories *h)
{
	for (size_t i = 0; i < h->all.n; i++) {
		const Object *o = history_entry_object(h, &h->all.items[i]);

		if (!o || !object_list_is_plane(&h->objects, o))
			choose_entry(h, &h->all.items[i]);
	}
}

ExitStatus histories_choose(Context *c, Histories *h)
{
	ExitStatus worst = STATUS_OK;

	if (c->n_arguments == 0)
		choose_all(h);
	for (unsigned int i = 0; i < c->n_arguments; i++) {
		ExitStatus status = choose_named(c, h, c->arguments[i]);

		if (status != STATUS_OK && status != STATUS_NO_PORT)
			return status;
		worst = MAX(worst, status);
	}
	return worst;
}

/* Of arguments that are all names, rdmad says which ports they mean. */
static ExitStatus read_objects(Context *c, const char *const *properties, ObjectList *ret)
{
	bool patterns = false;

	for (unsigned int i = 0; i < c->n_arguments; i++)
		patterns |= object_is_pattern(c->arguments[i]);
	if (c->n_arguments > 0 && !patterns && properties == selection_names)
		return STATUS_OK;
	return selection_read_all(c, properties, patterns, ret);
}

ExitStatus histories_read(Context *c, const char *const *properties, Histories *h)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	ExitStatus status = read_objects(c, properties, &h->objects);
	int r;

	if (status != STATUS_OK)
		return status;
	r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "ListHistories", &error, &reply, "a{sv}", 1, "transitions", "b", 1);
	if (r >= 0)
		r = value_read(reply, &h->all);
	for (size_t i = 0; r >= 0 && i < h->all.n; i++)
		if (h->all.items[i].type != VALUE_STRUCT || h->all.items[i].n < 2)
			r = -EBADMSG;
	if (r < 0)
		return bus_complain("history", &error, r);
	h->chosen = calloc(h->all.n + 1, sizeof(*h->chosen));
	return h->chosen ? STATUS_OK : out_of_memory();
}
