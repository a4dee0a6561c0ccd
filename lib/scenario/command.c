/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "command.h"

#include "util.h"

static const char *const verbs[] = {
#define VERB(id, name) [VERB_##id] = name,
#include "scenario-verbs.def"
#undef VERB
};

static const char *const keys[] = {
#define KEY(id, name) [RECORD_KEY_##id] = name,
#include "record-keys.def"
#undef KEY
};

const char *scenario_verb_name(ScenarioVerb v)
{
	return verbs[v];
}

ScenarioVerb scenario_verb_parse(const char *text)
{
	ScenarioVerb v = 0;

	while (v < _VERB_MAX && !streq(verbs[v], text))
		v++;
	return v;
}

const char *record_key_name(RecordKey k)
{
	return keys[k];
}

RecordKey record_key_of(const char *word)
{
	size_t n = strcspn(word, "=");
	RecordKey k = 0;

	while (k < _RECORD_KEY_MAX && (strlen(keys[k]) != n || strncmp(keys[k], word, n) != 0))
		k++;
	return k;
}
