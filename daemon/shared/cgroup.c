/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cgroup.h"

#include <ctype.h>

#define CONTAINER_DIGITS 64U
#define UUID_LENGTH	 36U

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && streq(text + n - m, end);
}

static bool is_unit(const char *component)
{
	return ends_with(component, ".service") || ends_with(component, ".scope");
}

static void read_unit(const char *component, CgroupOwner *o)
{
	bool in_user = startswith(o->unit, "user@") && ends_with(o->unit, ".service");

	/* systemd puts '_' before a name that the kernel could mistake for a file of its own */
	if (is_unit(component) && (!o->unit[0] || in_user))
		text_copy(o->unit, sizeof(o->unit), component + (component[0] == '_'));
}

static void read_job(const char *component, CgroupOwner *o)
{
	const char *number = startswith(component, "job_");

	if (number && *number && strspn(number, "0123456789") == strlen(number) &&
	    strlen(number) < sizeof(o->job))
		text_copy(o->job, sizeof(o->job), number);
}

/* Static pods have an id without hyphens: 32 digits. */
static void read_pod(const char *component, CgroupOwner *o)
{
	const char *uid = startswith(component, "pod"), *at = strstr(component, "-pod");
	char text[UUID_LENGTH + 1];
	size_t n;

	if (!uid && startswith(component, "kubepods") && at && ends_with(component, ".slice"))
		uid = at + strlen("-pod");
	if (!uid)
		return;
	n = strspn(uid, "0123456789abcdef-_");
	if ((n != UUID_LENGTH && n != UUID_LENGTH - 4) || (uid[n] && !streq(uid + n, ".slice")))
		return;
	memcpy(text, uid, n);
	text[n] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = '-';
	text_copy(o->pod, sizeof(o->pod), text);
}

static void read_container(const char *component, CgroupOwner *o)
{
	size_t n = strlen(component) - (ends_with(component, ".scope") ? strlen(".scope") : 0);
	const char *id;

	if (n < CONTAINER_DIGITS)
		return;
	id = component + n - CONTAINER_DIGITS;
	if (strspn(id, "0123456789abcdef") != CONTAINER_DIGITS || (id > component && id[-1] != '-'))
		return;
	memcpy(o->container, id, CONTAINER_DIGITS);
	o->container[CONTAINER_DIGITS] = '\0';
}

void cgroup_owner(const char *path, CgroupOwner *ret)
{
	char component[256];

	*ret = (CgroupOwner){};
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n > 0 && n < sizeof(component)) {
			memcpy(component, path, n);
			component[n] = '\0';
			read_unit(component, ret);
			read_job(component, ret);
			read_pod(component, ret);
			read_container(component, ret);
		}
		path += n + (path[n] == '/');
	}
}

const char *cgroup_label(const CgroupOwner *o, char buffer[CGROUP_LABEL_MAX])
{
	if (o->job[0])
		snprintf(buffer, CGROUP_LABEL_MAX, "job %s", o->job);
	else if (o->pod[0])
		snprintf(buffer, CGROUP_LABEL_MAX, "pod %s", o->pod);
	else if (o->container[0])
		snprintf(buffer, CGROUP_LABEL_MAX, "container %.12s", o->container);
	else
		snprintf(buffer, CGROUP_LABEL_MAX, "%s", o->unit);
	return buffer;
}
