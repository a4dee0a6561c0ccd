/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-vf.h"

#include "simulated-value.h"

bool simulated_is_vf(const char *key, const char **ret_number)
{
	*ret_number = startswith(key, "vf.");
	return *ret_number != NULL;
}

static bool parse_guid(const char *text, uint64_t *guid, VfEntry *e)
{
	e->has_guids = 1;
	return guid_parse(text, guid) == 0;
}

static bool parse_trust(const char *text, VfEntry *e)
{
	e->trust = streq(text, "on");
	return e->trust || streq(text, "off");
}

static bool parse_address(const char *text, VfEntry *e)
{
	if (!*text || strlen(text) >= sizeof(e->address) || text[strspn(text, "0123456789abcdef:")])
		return false;
	text_copy(e->address, sizeof(e->address), text);
	return true;
}

static bool parse_word(const char *word, VfEntry *e)
{
	const char *text;

	if ((text = startswith(word, "node_guid=")))
		return parse_guid(text, &e->node_guid, e);
	if ((text = startswith(word, "port_guid=")))
		return parse_guid(text, &e->port_guid, e);
	if ((text = startswith(word, "policy=")))
		return vf_policy_parse(text, &e->policy) == 0;
	if ((text = startswith(word, "trust=")))
		return parse_trust(text, e);
	if ((text = startswith(word, "address=")))
		return parse_address(text, e);
	return false;
}

int simulated_vf_parse(const char *key, const char *number, const char *value, VfEntry *ret,
		       char **ret_message)
{
	VfEntry e = {.trust = UINT32_MAX};
	char copy[256], *save = NULL;
	uint64_t index;

	if (text_to_u64(number, UINT16_MAX, &index) < 0 || index >= TABLE_ENTRIES_MAX)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected the number of a virtual function, less "
				       "than %u",
				       key, TABLE_ENTRIES_MAX);
	e.number = (uint32_t)index;
	text_copy(copy, sizeof(copy), strlen(value) < sizeof(copy) ? value : "?");
	for (char *word = strtok_r(copy, " \t,", &save); word; word = strtok_r(NULL, " \t,", &save))
		if (!parse_word(word, &e))
			return scenario_refuse(
				-EINVAL, ret_message,
				"%.100s = %.100s: expected node_guid=GUID, port_guid=GUID, "
				"policy=auto, enable or disable, trust=on or off, address=MAC; or "
				"nothing",
				key, value);
	*ret = e;
	return 0;
}
