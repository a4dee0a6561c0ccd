/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-value.h"

#include "attribute-cases.h"
#include "row-text.h"

/* A word that text_sanitize() would change is no name: word_parse() would make another one of it.
 */
static bool is_clean(const char *word)
{
	g_autofree char *clean = g_strdup(word);

	text_sanitize(clean, strlen(clean) + 1);
	return streq(clean, word);
}

int simulated_parse_name(const char *word, AttrText ret, char **ret_message)
{
	if (*word && !word[strcspn(word, " \t\r\n\v\f\"=#*")] && is_clean(word) &&
	    word_parse(word, ret, sizeof(AttrText)) == 0 && *ret && !strchr(ret, '/') &&
	    !streq(ret, ".") && !streq(ret, ".."))
		return 0;
	return scenario_refuse(-EINVAL, ret_message,
			       "%.100s: not a name for a device, expected up to %zu bytes of text "
			       "without '/', and %%XX for white space and any of \"%%=#*",
			       word, sizeof(AttrText) - 1);
}

int simulated_parse_number(const char *key, const char *text, uint64_t least, uint64_t most,
			   uint64_t *ret, char **ret_message)
{
	uint64_t value;

	if (text_to_u64(text, most, &value) < 0 || value < least)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s = %.100s: expected a number from %ju to %ju", key, text,
				       (uintmax_t)least, (uintmax_t)most);
	*ret = value;
	return 0;
}

/* "down, init, ... or raw:N", in the SIZE bytes at BUFFER */
static const char *list_names(const char *const *names, char *buffer, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; names[i] && n < size; i++)
		n += (size_t)snprintf(buffer + n, size - n, "%s, ", names[i]);
	snprintf(buffer + n, n < size ? size - n : 0, "or raw:N");
	return buffer;
}

/* Describes the values that are expected of row A. The text may be in the SIZE bytes at BUFFER. */
static const char *expectation(const Attribute *a, char *buffer, size_t size)
{
	const char *const *names = attr_type_names(a->type);

	if (names)
		return list_names(names, buffer, size);
	switch (a->type) {
	case ATTR_BOOL:
	case ATTR_GRH_FLAG:
		return "yes or no";
	case ATTR_TEXT:
	case ATTR_REASON:
		return "text of up to 63 bytes";
	case ATTR_LONG_TEXT:
		return "text of up to 71 bytes";
	case ATTR_PATH:
		return "text of up to 319 bytes";
	case ATTR_NUMBERS:
		return "none, or numbers with commas between, up to 63 bytes";
	case ATTR_WORDS:
		return "none, or words with commas between, up to 63 bytes";
	case ATTR_PAIRS:
		return "none, or pairs such as 0-7:0,26:3 in ascending order, up to 319 bytes";
	case ATTR_GUID:
		return "a GUID such as 0002:c903:00ab:cdef";
	case ATTR_MTU:
		return "256, 512, 1024, 2048, 4096, or raw:N";
	case ATTR_WIDTH:
		return "1, 2, 4, 8, 12, or raw:N";
	case ATTR_VL_CODE:
		return "1, 2, 4, 8, 15, or raw:N";
	case ATTR_TIMEOUT:
		return "an exponent from 0 to 31";
	ATTR_CASE_FLAGS:
		return "names of capabilities with commas between, or raw:N";
	case ATTR_U64:
		return "a number up to 18446744073709551615";
	case ATTR_INDEX:
		return "a number up to 2147483647";
	case ATTR_U32:
	case ATTR_DEVICE_PATH:
	ATTR_CASE_NAME:
	ATTR_CASE_NO_FIELD: /* cannot be set */
		break;
	}
	return "a number up to 4294967295";
}

int simulated_set_row(const Attribute *rows, unsigned int i, void *values, AttrMask *supplied,
		      const char *text, char **ret_message)
{
	const Attribute *a = &rows[i];
	char buffer[256];

	if (a->source == SOURCE_CORE || a->source == SOURCE_MEASURED)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: rdmad itself keeps it, expected an attribute that "
				       "the hardware has",
				       a->field);
	if (a->source == SOURCE_DERIVED)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: derived from other attributes, expected one of those",
				       a->field);
	if (a->size == 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: a table, expected entries of it: gid.INDEX, "
				       "pkey.INDEX or netdev",
				       a->field);
	if (!*text)
		attr_clear(a, values);
	else if ((attr_is_text(a->type) && strlen(text) >= a->size) ||
		 attr_parse(a, values, text) < 0)
		return scenario_refuse(-EINVAL, ret_message, "%s = %.100s: expected %s", a->field,
				       text, expectation(a, buffer, sizeof(buffer)));
	mask_set(supplied, i, *text);
	return 0;
}
