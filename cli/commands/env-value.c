/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the variables of a library must be for the ports that it uses. */

#include "env-value.h"

#include <sys/socket.h>

#include "decode.h"

/* "mlx5_0:1" */
static void port_with_colon(const Object *port, char buffer[96])
{
	char *slash;

	object_name(port, buffer);
	slash = strrchr(buffer, '/');
	if (slash)
		*slash = ':';
}

static unsigned int port_number(const Rail *r)
{
	return (unsigned int)object_number(r->port, PORT_ATTR_port_num);
}

bool variable_value(const Environment *e, const Variable *v, const Rail *rail, char buffer[96])
{
	if (rail->reason || (rail->efa && v->kind != VARIABLE_PROVIDER &&
			     library_has(e->library, VARIABLE_PROVIDER)))
		return false;
	switch (v->kind) {
	case VARIABLE_PROVIDER:
		text_copy(buffer, 96, rail->efa ? "efa" : "");
		return true;
	case VARIABLE_PORTS:
		port_with_colon(rail->port, buffer);
		return true;
	case VARIABLE_PORT:
		snprintf(buffer, 96, "%u", port_number(rail));
		return true;
	case VARIABLE_DEVICE:
	case VARIABLE_DEVICES:
		text_copy(buffer, 96, object_text(rail->port, PORT_ATTR_device_name));
		return true;
	case VARIABLE_NETDEV:
	case VARIABLE_NETDEVS:
		text_copy(buffer, 96, rail->netdev);
		return true;
	case VARIABLE_GID_INDEX:
		snprintf(buffer, 96, "%u", rail->gid.index);
		return rail->has_index;
	case VARIABLE_FAMILY:
		text_copy(buffer, 96, e->rails.index_family == AF_INET6 ? "AF_INET6" : "AF_INET");
		return rail->has_index;
	case VARIABLE_PKEY_INDEX:
		snprintf(buffer, 96, "%u", rail->pkey_index);
		return rail->infiniband && rail->has_pkey;
	case VARIABLE_PKEY:
		snprintf(buffer, 96, "0x%x", rail->pkey & 0x7fff);
		return rail->infiniband && rail->has_pkey;
	case VARIABLE_CLASS:
		return rail_find_class(rail, v->dscp, buffer);
	case VARIABLE_LEVEL:
		return rail_find_level(rail, buffer);
	case VARIABLE_UCX:
	case VARIABLE_FIXED:
	case VARIABLE_NAMES:
		return false;
	}
	return false;
}

bool variable_is_list(const Variable *v)
{
	return v->kind == VARIABLE_PORTS || v->kind == VARIABLE_DEVICES ||
	       v->kind == VARIABLE_NETDEVS;
}

bool rail_is_opa(const Rail *r)
{
	return streq(object_text(r->port, PORT_ATTR_protocol),
		     decode_name(port_attributes[PORT_ATTR_protocol].type, PROTOCOL_OPA));
}

bool rail_is_efa(const Rail *r)
{
	return r->efa;
}

static bool has_index(const Rail *r)
{
	return r->has_index;
}

static bool has_other_port(const Rail *r)
{
	return port_number(r) != 1;
}

static bool has_pkey(const Rail *r)
{
	return r->infiniband && r->has_pkey;
}

/* Libraries use the entry 0 of the P_Keys by themselves. */
static bool has_other_pkey(const Rail *r)
{
	return has_pkey(r) && r->pkey_index;
}

bool environment_any(const Environment *e, bool (*is)(const Rail *r))
{
	for (size_t i = 0; i < e->rails.n; i++)
		if (!e->rails.items[i].reason && is(&e->rails.items[i]))
			return true;
	return false;
}

const char *variable_finder(const Environment *e, const Variable *v)
{
	switch (e->rails.index_family) {
	case AF_INET:
		return v->mixes_families && rails_have(&e->rails, AF_INET6) ? NULL : v->finder;
	case AF_INET6:
		return library_has(e->library, VARIABLE_FAMILY) || !rails_have(&e->rails, AF_INET)
			       ? v->finder_v6
			       : NULL;
	default:
		return NULL;
	}
}

bool variable_is_single(const Environment *e, const Variable *v)
{
	char value[96], first[96] = "";

	for (size_t i = 0; i < e->rails.n; i++) {
		const Rail *r = &e->rails.items[i];

		if (r->reason)
			continue;
		if (!variable_value(e, v, r, value) || value[strspn(value, "0123456789")] ||
		    (*first && !streq(first, value)))
			return false;
		text_copy(first, sizeof(first), value);
	}
	return *first;
}

/* Whether the name of any port that is used does not have TEXT in it. */
static bool any_lacks(const Environment *e, const char *text)
{
	for (size_t i = 0; i < e->rails.n; i++)
		if (!e->rails.items[i].reason &&
		    !strstr(object_text(e->rails.items[i].port, PORT_ATTR_device_name), text))
			return true;
	return false;
}

bool variable_is_needed(const Environment *e, const Variable *v)
{
	switch (v->kind) {
	case VARIABLE_GID_INDEX:
		return environment_any(e, has_index) && !variable_finder(e, v);
	case VARIABLE_FAMILY:
		return e->rails.index_family != AF_UNSPEC;
	case VARIABLE_PROVIDER:
		return environment_any(e, rail_is_efa);
	case VARIABLE_PKEY_INDEX:
	case VARIABLE_PKEY:
		return environment_any(e, e->wish->has_pkey ? has_pkey : has_other_pkey);
	case VARIABLE_PORT:
		return environment_any(e, has_other_port);
	case VARIABLE_CLASS:
	case VARIABLE_LEVEL:
		return variable_is_single(e, v);
	case VARIABLE_NAMES:
		return any_lacks(e, v->prefix);
	case VARIABLE_UCX:
		return !environment_any(e, rail_is_opa);
	case VARIABLE_PORTS:
	case VARIABLE_DEVICE:
	case VARIABLE_DEVICES:
	case VARIABLE_NETDEV:
	case VARIABLE_NETDEVS:
	case VARIABLE_FIXED:
		return true;
	}
	return true;
}

/* ", mlx5_1/1" for each port from the Ith on that needs VALUE. */
static void print_ports_with(const Environment *e, const Variable *v, const char *value, size_t i,
			     FILE *f)
{
	const char *between = "";
	char other[96], name[96];

	for (; i < e->rails.n; i++)
		if (variable_value(e, v, &e->rails.items[i], other) && streq(value, other)) {
			fprintf(f, "%s%s", between, object_name(e->rails.items[i].port, name));
			between = ", ";
		}
}

/* Whether a rail before the Ith has the value that the Ith has, VALUE. */
static bool is_repeated(const Environment *e, const Variable *v, const char *value, size_t i)
{
	char other[96];

	if (v->kind == VARIABLE_PORTS) /* each port has another name */
		return false;
	for (size_t k = 0; k < i; k++)
		if (variable_value(e, v, &e->rails.items[k], other) && streq(value, other))
			return true;
	return false;
}

char *variable_differences(const Environment *e, const Variable *v)
{
	_cleanup_free_ char *text = NULL;
	const char *between = "";
	char value[96];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < e->rails.n; i++) {
		if (!variable_value(e, v, &e->rails.items[i], value) || is_repeated(e, v, value, i))
			continue;
		fprintf(f, "%s%s for ", between, *value ? value : "none");
		between = "; ";
		print_ports_with(e, v, value, i, f);
	}
	return fclose(f) == 0 ? steal_pointer(&text) : NULL;
}

/* Joins the values of the ports. False if only one value is possible and they differ. */
static bool join_values(const Environment *e, const Variable *v, FILE *f)
{
	char value[96], first[96];
	size_t n = 0;

	if (v->kind == VARIABLE_UCX || v->kind == VARIABLE_FIXED)
		fputs(v->prefix, f);
	for (size_t i = 0; i < e->rails.n; i++) {
		if (!variable_value(e, v, &e->rails.items[i], value))
			continue;
		if (n == 0)
			text_copy(first, sizeof(first), value);
		if (!variable_is_list(v) && !streq(first, value))
			return false;
		if (n == 0 || (variable_is_list(v) && !is_repeated(e, v, value, i)))
			fprintf(f, "%s%s", n > 0 ? "," : v->prefix ? v->prefix : "", value);
		n++;
	}
	return true;
}

int variable_find(const Environment *e, const Variable *v, char **ret_value, char **ret_why)
{
	_cleanup_free_ char *value = NULL, *why = NULL;
	size_t size;
	FILE *f = open_memstream(&value, &size);
	bool single = true;

	if (!f)
		return -ENOMEM;
	if (variable_is_needed(e, v))
		single = join_values(e, v, f);
	if (fclose(f) != 0)
		return -ENOMEM;
	if (!single && !(why = variable_differences(e, v)))
		return -ENOMEM;
	*ret_value = single ? steal_pointer(&value) : NULL;
	*ret_why = steal_pointer(&why);
	return 0;
}
