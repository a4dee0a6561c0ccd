/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RoCE ports that are active, and that no program can use as it should: one without a GID has no
 * source address, and of two ports with one address the wrong one answers. */

#include "check-parts.h"
#include "checks.h"

static bool is_roce(const Object *port)
{
	return check_is_active(port) && streq(check_text(port, PORT_ATTR_protocol), "roce");
}

void look_for_gids(CheckRun *r)
{
	const Value *gids = object_value(r->port, PORT_ATTR_gids);

	if (is_roce(r->port) && gids && gids->type == VALUE_ARRAY && gids->n == 0 &&
	    !check_is_expected(r, &port_attributes[PORT_ATTR_gids]))
		check_find(r, &port_attributes[PORT_ATTR_gids],
			   "the port is active, but has no GID: programs cannot connect over it");
}

/* The IP address of entry I of the GID table, if it is one that others reach; "" otherwise. An
 * interface can have the same link-local address as another one. */
static const char *find_address(const Value *gids, size_t i)
{
	const char *text = format_member_text(ATTR_GIDS, "address", &gids->items[i]);

	return startswith(text, "169.254.") || strncasecmp(text, "fe8", 3) == 0 ? "" : text;
}

/* An entry of PORT with ADDRESS, on another network interface than NETDEV. The ports of a bond have
 * the interface in common. */
static bool has_address(const Object *port, const char *address, const char *netdev)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);

	for (size_t i = 0; gids && gids->type == VALUE_ARRAY && i < gids->n; i++)
		if (streq(find_address(gids, i), address) &&
		    !streq(format_member_text(ATTR_GIDS, "netdev", &gids->items[i]), netdev))
			return true;
	return false;
}

/* The address that the port of the run and PORT have both, "" if there is none. */
static const char *find_common(const CheckRun *r, const Object *port)
{
	const Value *gids = object_value(r->port, PORT_ATTR_gids);

	for (size_t i = 0; gids && gids->type == VALUE_ARRAY && i < gids->n; i++) {
		const char *address = find_address(gids, i);
		const char *netdev = format_member_text(ATTR_GIDS, "netdev", &gids->items[i]);

		if (*address && *netdev && has_address(port, address, netdev))
			return address;
	}
	return "";
}

/* The finding is about the later one of two ports. */
void look_for_same_addresses(CheckRun *r)
{
	char name[96];

	for (size_t i = 0; i < r->chosen.n && r->chosen.ports[i] != r->port; i++) {
		const Object *other = r->chosen.ports[i];
		const char *address =
			is_roce(r->port) && is_roce(other) ? find_common(r, other) : "";

		if (!*address)
			continue;
		check_find(r, &port_attributes[PORT_ATTR_gids],
			   "%s has the address %s too: connections can take the wrong port",
			   object_name(other, name), address);
		return;
	}
}
