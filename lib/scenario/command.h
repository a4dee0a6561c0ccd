/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The verbs of commands. */

typedef enum ScenarioVerb {
#define VERB(id, name) VERB_##id,
#include "scenario-verbs.def"
#undef VERB
	_VERB_MAX,
} ScenarioVerb;

const char *scenario_verb_name(ScenarioVerb v);
/* _VERB_MAX: TEXT is no command. */
ScenarioVerb scenario_verb_parse(const char *text);

typedef enum RecordKey {
#define KEY(id, name) RECORD_KEY_##id,
#include "record-keys.def"
#undef KEY
	_RECORD_KEY_MAX,
} RecordKey;

const char *record_key_name(RecordKey k);
/* The key of WORD, which is KEY or KEY=VALUE. _RECORD_KEY_MAX: it is none of these, but that of a
 * value. */
RecordKey record_key_of(const char *word);
