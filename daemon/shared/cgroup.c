/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cgroup.h"

#include <fnmatch.h>

#define CONTAINER_DIGITS 64U
#define UUID_LENGTH	 36U

#define DIGITS	     "0123456789"
#define LETTERS	     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define UNIT_LETTERS DIGITS LETTERS ":-_.\\@"

/* A component of a path. */
typedef struct Component {
	char text[256];
} Component;

/* Where root's programs make control groups for jobs, pods and containers: the beginning of a path,
 * and which of its components, from 1, is which. */
static const struct {
	const char *pattern;
	unsigned int job, pod, container;
} layouts[] = {
	/* Slurm's plugins cgroup/v1 and cgroup/v2; one with several slurmd on a machine adds the
	 * name of the node */
	{"/slurm/uid_*/job_*", .job = 3},
	{"/slurm_*/uid_*/job_*", .job = 3},
	{"/system.slice/slurmstepd.scope/job_*", .job = 3},
	{"/system.slice/*_slurmstepd.scope/job_*", .job = 3},
	/* the kubelet's drivers systemd, where the container is a scope, and cgroupfs */
	{"/kubepods.slice/kubepods-pod*.slice", .pod = 2},
	{"/kubepods.slice/kubepods-*.slice/kubepods-*-pod*.slice", .pod = 3},
	{"/kubepods/pod*", .pod = 2, .container = 3},
	{"/kubepods/besteffort/pod*", .pod = 3, .container = 4},
	{"/kubepods/burstable/pod*", .pod = 3, .container = 4},
	/* Docker and Podman without systemd */
	{"/docker/*", .container = 2},
	{"/libpod_parent/*", .container = 2},
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && streq(text + n - m, end);
}

/* The first component of *PATH, which moves behind it. Returns whether there is one. */
static bool next_component(const char **path, Component *ret)
{
	const char *at = *path + strspn(*path, "/");
	size_t n = strcspn(at, "/");

	*path = at + n;
	if (n == 0)
		return false;
	/* the kernel has no longer ones */
	snprintf(ret->text, sizeof(ret->text), "%.*s", (int)n, at);
	return true;
}

/* A name that systemd allows: in it is nothing that ends the name in a sentence. */
static bool is_unit(const char *name)
{
	return (ends_with(name, ".service") || ends_with(name, ".scope")) &&
	       strspn(name, UNIT_LETTERS) == strlen(name);
}

static void read_job(const char *component, CgroupOwner *o)
{
	const char *number = startswith(component, "job_");

	if (number && *number && strspn(number, DIGITS) == strlen(number) &&
	    strlen(number) < sizeof(o->job))
		text_copy(o->job, sizeof(o->job), number);
}

/* podUID or kubepods-...podUID.slice. Static pods have an id without hyphens: 32 digits. */
static void read_pod(const char *component, CgroupOwner *o)
{
	const char *uid = startswith(component, "pod"), *at = strstr(component, "-pod");
	char text[UUID_LENGTH + 1];
	size_t n;

	if (!uid && at)
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

/* ID, PREFIX-ID or PREFIX-ID.scope */
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

/* systemd puts '_' before a name that the kernel could mistake for a file of its own. */
static const char *unit_name(const Component *c)
{
	return c->text + (c->text[0] == '_');
}

static void read_unit(const char *path, CgroupOwner *o)
{
	bool is_user;
	Component c;

	do {
		if (!next_component(&path, &c))
			return;
	} while (ends_with(c.text, ".slice"));
	if (!is_unit(unit_name(&c)))
		return;
	text_copy(o->unit, sizeof(o->unit), unit_name(&c));
	is_user = startswith(o->unit, "user@") && ends_with(o->unit, ".service");
	if (!is_user) {
		read_container(c.text, o);
		return;
	}
	while (next_component(&path, &c))
		if (is_unit(unit_name(&c))) {
			size_t n = strlen(o->unit);

			snprintf(o->unit + n, sizeof(o->unit) - n, "/%s", unit_name(&c));
			return;
		}
}

static void read_layout(const char *path, size_t i, CgroupOwner *o)
{
	Component c;

	for (unsigned int k = 1; next_component(&path, &c); k++) {
		if (k == layouts[i].job)
			read_job(c.text, o);
		if (k == layouts[i].pod)
			read_pod(c.text, o);
		if (k == layouts[i].container)
			read_container(c.text, o);
	}
}

void cgroup_owner(const char *path, CgroupOwner *ret)
{
	*ret = (CgroupOwner){};
	read_unit(path, ret);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (fnmatch(layouts[i].pattern, path, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
			read_layout(path, i, ret);
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
