/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-bond.h"

#include "simulated-value.h"

static bool parse_name(const char *word, BondMember *m)
{
	if (!word || strlen(word) >= sizeof(m->name) || strchr(word, '/'))
		return false;
	text_copy_clean(m->name, sizeof(m->name), word);
	return true;
}

/* WORD may be NULL: it is active then. */
static bool parse_state(const char *word, BondMember *m)
{
	static const char *const states[] = {BOND_MEMBER_ACTIVE, BOND_MEMBER_BACKUP,
					     BOND_MEMBER_DOWN};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (!word || streq(word, states[i])) {
			text_copy(m->state, sizeof(m->state), states[i]);
			return true;
		}
	return false;
}

/* WORD may be NULL: there is none. */
static bool parse_speed(const char *word, BondMember *m)
{
	return !word || text_to_u64(word, UINT64_MAX, &m->speed) == 0;
}

int simulated_bond_member_parse(const char *key, const char *ifindex, const char *value,
				BondMember *ret, char **ret_message)
{
	char copy[256], *save = NULL, *name, *state, *speed;
	BondMember m = {};
	uint64_t number;

	if (text_to_u64(ifindex, INT32_MAX, &number) < 0 || number == 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected the index of a network interface", key);
	m.ifindex = (uint32_t)number;
	text_copy(copy, sizeof(copy), strlen(value) < sizeof(copy) ? value : "/");
	name = strtok_r(copy, " \t,", &save);
	state = strtok_r(NULL, " \t,", &save);
	speed = strtok_r(NULL, " \t,", &save);
	if (*value && (!parse_name(name, &m) || !parse_state(state, &m) ||
		       !parse_speed(speed, &m) || strtok_r(NULL, " \t,", &save)))
		return scenario_refuse(
			-EINVAL, ret_message,
			"%.100s = %.100s: expected the name of an interface, then "
			"active, backup or down, then its speed in bit/s; or nothing",
			key, value);
	*ret = m;
	return 0;
}
