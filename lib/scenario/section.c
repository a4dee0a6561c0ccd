/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "section.h"

#include "port-name.h"

/* Takes NAME/NUMBER, or NAME/ and a star. */
static bool parse_port(char *text, Heading *ret)
{
	char *slash = strrchr(text, '/');
	AttrText device;

	if (!slash || slash == text)
		return false;
	/* the number alone, with one byte before it: a name has its own rules */
	if (!streq(slash + 1, "*") &&
	    (port_name_split(slash - 1, device, &ret->port) < 0 || ret->port == 0))
		return false;
	*slash = '\0';
	return true;
}

int heading_parse(char *line, Heading *ret, char **ret_message)
{
	size_t n = strlen(line);
	char *text, *name;

	if (n == 0 || line[n - 1] != ']')
		return scenario_refuse(-EINVAL, ret_message, "%.100s: expected ']' at the end",
				       line);
	line[n - 1] = '\0';
	text = text_trim(line + 1);
	name = text + strcspn(text, " ");
	name += strspn(name, BLANKS);
	*ret = (Heading){.kind = SECTION_SCRIPT, .name = ""};
	if (streq(text, "script"))
		return 0;
	ret->name = name;
	ret->kind = startswith(text, "port ") ? SECTION_PORT : SECTION_DEVICE;
	if (ret->kind == SECTION_PORT ? parse_port(name, ret)
				      : startswith(text, "device ") && !strchr(name, '/'))
		return 0;
	return scenario_refuse(-EINVAL, ret_message,
			       "[%.100s]: expected [device NAME], [port NAME/NUMBER], "
			       "[port NAME/*] or [script]",
			       text);
}

int setting_parse(char *line, char **ret_key, char **ret_value, char **ret_message)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected KEY = VALUE, [SECTION] or # comment",
				       line);
	*equals = '\0';
	*ret_key = text_trim(line);
	*ret_value = text_trim(equals + 1);
	return 0;
}
