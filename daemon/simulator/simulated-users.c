/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-users.h"

#define USERS_MAX 256U /* of one port */

/* When processes of a scenario have started: it does not matter, but it is known. */
#define STARTED_USEC USEC_PER_SEC

bool simulated_is_user(const char *key)
{
	return startswith(key, "user.") || startswith(key, "kernel_user.");
}

/* Whose KEY is. */
static int parse_key(const char *key, HolderEntry *ret, char **ret_message)
{
	const char *name = startswith(key, "kernel_user."), *number = startswith(key, "user.");
	HolderEntry e = {.kind = USER_KERNEL, .uid = USER_NO_UID};
	uint64_t pid = 0;

	if (name ? !*name || strlen(name) >= sizeof(e.name)
		 : text_to_u64(number, INT32_MAX, &pid) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected user.PID, or kernel_user.NAME of up to "
				       "%zu bytes",
				       key, sizeof(e.name) - 1);
	if (name) {
		text_copy_clean(e.name, sizeof(e.name), name);
	} else {
		e.kind = pid > 0 ? USER_PROCESS : USER_UNKNOWN;
		e.pid = (uint32_t)pid;
	}
	*ret = e;
	return 0;
}

/* Takes the next word out of *TEXT into the SIZE bytes at RET. False: there is none, or it is too
 * long. */
static bool take_word(const char **text, char *ret, size_t size)
{
	size_t n;

	*text += strspn(*text, " ,");
	n = strcspn(*text, " ,");
	if (n == 0 || n >= size)
		return false;
	memcpy(ret, *text, n);
	ret[n] = '\0';
	*text += n;
	return true;
}

static bool take_number(const char **text, uint32_t *ret)
{
	uint64_t number;
	char word[16];

	if (!take_word(text, word, sizeof(word)) || text_to_u64(word, UINT32_MAX - 1, &number) < 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static int parse_value(const char *key, const char *value, HolderEntry *e, char **ret_message)
{
	const char *at = value;
	bool good = take_number(&at, &e->qps);

	if (good && *at && e->kind == USER_PROCESS) {
		good = take_number(&at, &e->uid) && take_word(&at, e->name, sizeof(e->name)) &&
		       take_word(&at, e->cgroup, sizeof(e->cgroup));
		e->started = STARTED_USEC;
	}
	if (!good || *at)
		return scenario_refuse(
			-EINVAL, ret_message, "%.100s = %.100s: expected %s", key, value,
			e->kind == USER_PROCESS ? "QPS, or QPS UID NAME CGROUP" : "a number");
	text_sanitize(e->name, sizeof(e->name));
	text_sanitize(e->cgroup, sizeof(e->cgroup));
	return 0;
}

int simulated_users_set(const Table *old, const char *key, const char *value, Table **ret,
			char **ret_message)
{
	_cleanup_free_ HolderEntry *entries = NULL;
	char name[sizeof(entries->name)];
	size_t n = 0;
	HolderEntry e;
	int r = parse_key(key, &e, ret_message);

	if (r < 0)
		return r;
	memcpy(name, e.name, sizeof(name));
	entries = calloc((old ? old->n : 0U) + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	TABLE_FOREACH(HolderEntry, o, old)
		if (o->kind != e.kind || o->pid != e.pid ||
		    (e.kind == USER_KERNEL && !streq(o->name, name)))
			entries[n++] = *o;
	if (*value) {
		r = parse_value(key, value, &e, ret_message);
		if (r < 0)
			return r;
		entries[n++] = e;
	}
	if (n > USERS_MAX)
		return scenario_refuse(-ENOSPC, ret_message,
				       "%.100s: too many, expected at most %u users of a port", key,
				       USERS_MAX);
	return table_make(entries, n, sizeof(*entries), ret);
}
