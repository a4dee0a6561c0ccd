/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "replay.h"

#include <stdio.h>

#include "laws.h"
#include "port.h"
#include "published.h"
#include "verified.h"
#include "virtual-time.h"

/* Times, what is counted from the start of rdmad, and what is judged, by the time that has passed
 * and by counters, which are not in the record */
static bool is_compared(const char *name)
{
	static const char *const others[] = {"Health", "Findings", "FitSince", "LinkDownCount"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (streq(name, others[i]))
			return false;
	return !strstr(name, "Timestamp") && !strstr(name, "Generation");
}

/* Whether NAME is a property of org.rdma.Port.Signal. */
static bool is_of_signal(const char *name)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (port_attributes[a].interface == INTERFACE_SIGNAL &&
		    streq(port_attributes[a].name, name))
			return true;
	return false;
}

/* Whether the property NAME is not in the record: rdmad has measured it between two readings of
 * counters. Such a property may be the only one that brings its interface to the port. */
static bool is_measured(const char *name, const Object *played)
{
	return startswith(name, "BitError") ||
	       (!object_get(played, "BitErrorRatio") && is_of_signal(name));
}

/* Writes to RET, which has SIZE bytes, the rows of UNAVAILABLE that are in the record. */
static const char *leave_out(const char *unavailable, const Object *played, char *ret, size_t size)
{
	_cleanup_free_ char *text = strdup(unavailable);
	char *state, *entry;
	size_t n = 0;

	LAW(text, "no memory");
	*ret = '\0';
	for (entry = strtok_r(text, ";", &state); entry; entry = strtok_r(NULL, ";", &state)) {
		char name[64] = "";

		(void)sscanf(entry, " %63s", name);
		if (!is_measured(name, played))
			n += (size_t)snprintf(ret + n, size - n, "%s;", entry);
		LAW(n < size, "%s is too long", unavailable);
	}
	return ret;
}

static void compare_objects(const Object *was, const Object *is)
{
	char a_left[8192], b_left[8192];

	for (size_t i = 0; i < was->n; i++) {
		const char *name = was->properties[i].name, *a = was->properties[i].text;
		const char *b = object_get(is, name);

		if (is_measured(name, is))
			continue;
		if (streq(name, "Unavailable") && a && b) {
			a = leave_out(a, is, a_left, sizeof(a_left));
			b = leave_out(b, is, b_left, sizeof(b_left));
		}
		if (is_compared(name))
			LAW(a && b && streq(a, b), "%s of %s was %s, played it is %s", name,
			    was->path, a ? a : "not there", b ? b : "not there");
	}
}

void check_played(const struct Objects *published, const struct Objects *played)
{
	for (size_t i = 0; i < published->n; i++) {
		const Object *was = &published->objects[i], *is = objects_find(played, was->path);

		/* the manager, of which not all is in the record */
		if (streq(was->path, RDMAD_ROOT_PATH))
			continue;
		LAW(is, "%s is not there when the record is played", was->path);
		compare_objects(was, is);
	}
	LAW(published->n == played->n, "%zu objects were there, played there are %zu", published->n,
	    played->n);
}

void check_verified(const char *what)
{
	char command[512], said[4096];

	snprintf(command, sizeof(command), VERIFY " %s 2>&1", what);
	LAW(are_verified(command, said, sizeof(said)), "the record cannot have been so:\n%s", said);
}

uint64_t replay_usec(const char *path)
{
	FILE *f = fopen(path, "re");
	uintmax_t begin = 0;
	int n;

	LAW(f, "%s cannot be read", path);
	n = fscanf(f, "# rdmad record %*u\n# realtime %*u\n# monotonic %ju", &begin);
	fclose(f);
	LAW(n == 1, "%s does not begin as a record does", path);
	return virtual_now_usec() - begin;
}
