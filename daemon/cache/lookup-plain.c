/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The name of a port in a text that another program has printed. */

#include "lookup.h"

/* Directories in /sys, whose entries are names of one kind: of two in a path the first here, as the
 * interfaces of a device are below it. */
static const struct {
	const char *name;
	FindKind by;
} directories[] = {
	{"/subsystem/net/devices/", FIND_NETDEV}, /* in the names of units only */
	{"/net/", FIND_NETDEV},
	{"/infiniband_verbs/", FIND_CHARDEV},
	{"/infiniband_mad/", FIND_CHARDEV},
	{"/infiniband/", FIND_NAME},
};

/* What a path in /sys ends with, behind one of the directories, or else the PCI address of a
 * function. *RET_BY is its kind. */
static char *end_of_path(char *path, FindKind *ret_by)
{
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		char *at = strstr(path, directories[i].name);

		if (!at)
			continue;
		*ret_by = directories[i].by;
		return at + strlen(directories[i].name);
	}
	*ret_by = FIND_PCI;
	return strrchr(path, '/') + 1;
}

/* Makes the path of a device of the name of its unit, as "sys-class-net-ib0.device":
 * systemd.unit(5) has the escapes. False: TEXT is no such name. */
static bool unit_to_path(char *text)
{
	char *end = text + strlen(text) - MIN(strlen(text), strlen(".device"));

	if (!streq(end, ".device") || end == text)
		return false;
	*end = '\0';
	memmove(text + 1, text, (size_t)(end - text) + 1);
	text[0] = '/';
	for (char *at = text; (at = strchr(at, '-'));)
		*at = '/';
	/* a wrong escape stays, and is in no name */
	(void)instance_unescape(text);
	return true;
}

/* Cuts what "ip link" prints behind the name of an interface: the one below it, and a colon. */
static bool cut_interface(char *text)
{
	size_t n = strcspn(text, "@:");
	bool cut = text[n] == '@' || (text[n] == ':' && !text[n + 1]);

	if (cut)
		text[n] = '\0';
	return cut;
}

bool find_key_plain(const FindKey *key, char buffer[FIND_PLAIN_SIZE], FindKey *ret)
{
	char *text = buffer, *number;
	FindKind by = _FIND_MAX;
	size_t n = strlen(key->text);

	if (key->by != _FIND_MAX || n >= FIND_PLAIN_SIZE)
		return false;
	memcpy(text, key->text, n + 1);
	if (!unit_to_path(text))
		while (n > 1 && text[n - 1] == '/')
			text[--n] = '\0';
	if (startswith(text, "/sys/")) {
		text = end_of_path(text, &by);
	} else if (startswith(text, "pci/") && strchr(text, ':')) { /* of devlink */
		text += strlen("pci/");
		by = FIND_PCI;
	} else if (startswith(text, "H-")) { /* of ibnetdiscover */
		text += strlen("H-");
		by = FIND_NODE_GUID;
	} else if (*text != '/' && cut_interface(text)) {
		by = FIND_NETDEV;
	}
	/* a port is in a directory of its device */
	number = strstr(text, "/ports/");
	if (number)
		memmove(number, number + strlen("/ports"), strlen(number + strlen("/ports")) + 1);
	*ret = *key;
	ret->text = text;
	ret->by = by;
	return !streq(text, key->text);
}
