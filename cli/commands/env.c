/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl env: what to set so that a communication library uses the ports of this machine, as lines
 * for a shell.
 *
 * The names and the forms of the values are those of the documentation of NCCL ("Environment
 * Variables"), of UCX (ucx_info -c -f) and of libfabric (fi_verbs(7)).
 */

#include "bus.h"
#include "commands.h"
#include "decode.h"
#include "gid.h"
#include "json.h"
#include "selection.h"
#include "terminal.h"
#include "unavailable.h"

/* What the value of a variable says. */
typedef enum VariableKind {
	VARIABLE_PORTS,	    /* all ports, "mlx5_0:1,mlx5_1:1" */
	VARIABLE_DEVICE,    /* the one device */
	VARIABLE_NETDEV,    /* the one network interface */
	VARIABLE_GID_INDEX, /* the one index that is right for all ports */
} VariableKind;

typedef struct Variable {
	const char *name; /* NULL ends the list */
	VariableKind kind;
	const char *prefix; /* in front of the value; NULL: nothing */
} Variable;

typedef struct Library {
	const char *name, *title;
	bool iwarp;	   /* it uses iWARP too */
	bool index_for_ib; /* it uses the GID index for InfiniBand too, where 0 is the right one */
	Variable variables[4];
} Library;

/* clang-format off */
static const Library libraries[] = {
	/* '=': the names are exact. Otherwise NCCL takes mlx5_10 for mlx5_1 too. */
	{"nccl", "NCCL",      false, false, {{"NCCL_IB_HCA", VARIABLE_PORTS, "="}, {"NCCL_IB_GID_INDEX", VARIABLE_GID_INDEX, NULL}}},
	{"ucx",  "UCX",       false, true,  {{"UCX_NET_DEVICES", VARIABLE_PORTS, NULL}, {"UCX_IB_GID_INDEX", VARIABLE_GID_INDEX, NULL}}},
	{"ofi",  "libfabric", true,  true,  {{"FI_VERBS_DEVICE_NAME", VARIABLE_DEVICE, NULL}, {"FI_VERBS_IFACE", VARIABLE_NETDEV, NULL},
					     {"FI_VERBS_GID_IDX", VARIABLE_GID_INDEX, NULL}}},
};
/* clang-format on */

/* A port that was chosen. */
typedef struct Rail {
	const Object *port;
	char *reason;	/* why it is left out; NULL: it is not */
	bool has_index; /* a program must know the index of its GID, which is below */
	uint32_t index;
} Rail;

typedef struct Environment {
	const Library *library;
	Rail *rails;
	size_t n, n_used;
} Environment;

static void environment_done(Environment *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->rails[i].reason);
	free(e->rails);
}

static const char *port_text(const Object *port, PortAttr a)
{
	const Value *v = object_value(port, a);

	return v ? value_text(v) : "";
}

static bool has_name(const Object *port, PortAttr a, uint32_t value)
{
	return streq(port_text(port, a), decode_name(port_attributes[a].type, value));
}

/* Reads an entry of a GID table. False if no program of this machine should use it: it belongs to
 * another network namespace. */
static bool read_choice(const Object *port, const Value *entry, GidChoice *ret)
{
	const char *const names[] = {"IB", "RoCE v1", "RoCE v2"};
	const Value *m = entry->items, *space = NULL, *vlan = NULL;

	*ret = (GidChoice){};
	if (entry->type != VALUE_STRUCT || entry->n < 4 || m[0].type != VALUE_UNSIGNED ||
	    gid_parse(value_text(&m[1]), ret->gid) < 0)
		return false;
	if (m[entry->n - 1].type == VALUE_DICT)
		space = value_lookup(&m[entry->n - 1], "Namespace");
	if (m[entry->n - 1].type == VALUE_DICT)
		vlan = value_lookup(&m[entry->n - 1], "VlanId");
	ret->index = (uint32_t)m[0].number;
	for (uint32_t t = 0; t < ARRAY_SIZE(names); t++)
		if (streq(value_text(&m[2]), names[t]))
			ret->type = t;
	ret->where = gid_where(value_text(&m[3]),
			       vlan && vlan->type == VALUE_UNSIGNED ? (uint32_t)vlan->number : 0,
			       GID_NAMESPACE_OWN, port_text(port, PORT_ATTR_netdev),
			       port_text(port, PORT_ATTR_netdev_master));
	return !space || !*value_text(space);
}

static bool is_infiniband(const Object *port)
{
	return has_name(port, PORT_ATTR_link_layer, LINK_LAYER_INFINIBAND);
}

static bool find_gid(Rail *rail)
{
	const Value *gids = object_value(rail->port, PORT_ATTR_gids);
	GidChoice best = {};

	for (size_t i = 0; gids && gids->type == VALUE_ARRAY && i < gids->n; i++) {
		GidChoice c;

		if (!read_choice(rail->port, &gids->items[i], &c) ||
		    (rail->has_index && gid_compare(&best, &c) < 0))
			continue;
		best = c;
		rail->has_index = true;
	}
	rail->index = best.index;
	return rail->has_index;
}

/* Why programs should not use the port now; "" if they can. Returns BUFFER or a static text. */
static const char *find_obstacle(const Selection *s, const Library *l, Rail *rail, char buffer[256])
{
	const Object *port = rail->port;
	const char *closed = object_verbs_obstacle(port);
	const Value *stale = object_value(port, PORT_ATTR_stale);
	const char *state = port_text(port, PORT_ATTR_state);

	if (object_list_is_plane(&s->objects, port))
		return "it is a plane of another device";
	if (stale && stale->type == VALUE_BOOL && stale->boolean)
		return "it is stale";
	if (!startswith(state, "active")) {
		snprintf(buffer, 256, "its state is %s", *state ? state : "not known");
		return buffer;
	}
	if (closed) {
		snprintf(buffer, 256, "rdmad cannot use verbs on it (%s)",
			 unavailable_text(closed));
		return buffer;
	}
	if (is_infiniband(port) || (l->iwarp && has_name(port, PORT_ATTR_protocol, PROTOCOL_IWARP)))
		return "";
	if (!has_name(port, PORT_ATTR_protocol, PROTOCOL_ROCE)) {
		snprintf(buffer, 256, "%s does not use %s", l->title,
			 port_text(port, PORT_ATTR_protocol));
		return buffer;
	}
	return find_gid(rail) ? "" : "it has no GID";
}

static ExitStatus examine(Environment *e, const Selection *s)
{
	e->rails = calloc(s->n + 1, sizeof(*e->rails));
	if (!e->rails)
		return out_of_memory();
	for (; e->n < s->n; e->n++) {
		Rail *rail = &e->rails[e->n];
		const char *obstacle;
		char buffer[256];

		rail->port = s->ports[e->n];
		obstacle = find_obstacle(s, e->library, rail, buffer);
		if (*obstacle && !(rail->reason = strdup(obstacle)))
			return out_of_memory();
		e->n_used += !*obstacle;
	}
	return STATUS_OK;
}

/* Writes into BUFFER what variable V must be for RAIL alone, "" if it must not be set. Returns
 * false if RAIL is left out, or any value is right for it. */
static bool value_for(const Environment *e, const Variable *v, const Rail *rail, char buffer[96])
{
	char *slash;

	if (rail->reason)
		return false;
	switch (v->kind) {
	case VARIABLE_PORTS:
		object_name(rail->port, buffer);
		slash = strrchr(buffer, '/');
		if (slash)
			*slash = ':';
		return true;
	case VARIABLE_DEVICE:
		text_copy(buffer, 96, port_text(rail->port, PORT_ATTR_device_name));
		return true;
	case VARIABLE_NETDEV:
		text_copy(buffer, 96, port_text(rail->port, PORT_ATTR_netdev));
		return true;
	case VARIABLE_GID_INDEX:
		snprintf(buffer, 96, "%u", rail->index);
		return rail->has_index || (e->library->index_for_ib && is_infiniband(rail->port));
	}
	return false;
}

static bool needs_index(const Environment *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (!e->rails[i].reason && e->rails[i].has_index)
			return true;
	return false;
}

/* ", mlx5_1/1" for each port from the Ith on that needs VALUE. */
static void print_ports_with(const Environment *e, const Variable *v, const char *value, size_t i,
			     FILE *f)
{
	const char *between = "";
	char other[96], name[96];

	for (; i < e->n; i++)
		if (value_for(e, v, &e->rails[i], other) && streq(value, other)) {
			fprintf(f, "%s%s", between, object_name(e->rails[i].port, name));
			between = ", ";
		}
}

/* "3 for mlx5_0/1, mlx5_1/1; 5 for mlx5_2/1" */
static void print_differences(const Environment *e, const Variable *v, FILE *f)
{
	const char *between = "";
	char value[96], other[96];

	for (size_t i = 0; i < e->n; i++) {
		size_t k = 0;

		if (!value_for(e, v, &e->rails[i], value))
			continue;
		/* all ports with this value are printed where its first one is */
		while (k < i && !(value_for(e, v, &e->rails[k], other) && streq(value, other)))
			k++;
		if (k < i)
			continue;
		fprintf(f, "%s%s for ", between, *value ? value : "none");
		between = "; ";
		print_ports_with(e, v, value, i, f);
	}
}

/* Joins the values of the ports. False if only one value is possible and they differ. */
static bool join_values(const Environment *e, const Variable *v, FILE *f)
{
	bool single = v->kind != VARIABLE_PORTS;
	char value[96], first[96];
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		if (!value_for(e, v, &e->rails[i], value))
			continue;
		if (n == 0)
			text_copy(first, sizeof(first), value);
		if (single && !streq(first, value))
			return false;
		if (n == 0 || !single)
			fprintf(f, "%s%s", n > 0 ? "," : v->prefix ? v->prefix : "", value);
		n++;
	}
	return true;
}

/* *RET_VALUE is the value of V, "" if it need not be set; or, if no single value is right, NULL,
 * and then *RET_WHY says which port needs which. The caller frees both. */
static int find_value(const Environment *e, const Variable *v, char **ret_value, char **ret_why)
{
	_cleanup_free_ char *value = NULL, *why = NULL;
	size_t size;
	FILE *f = open_memstream(&value, &size);
	bool single = false;

	if (!f)
		return -ENOMEM;
	if (v->kind != VARIABLE_GID_INDEX || needs_index(e))
		single = join_values(e, v, f);
	else
		single = true;
	if (fclose(f) != 0)
		return -ENOMEM;
	if (!single) {
		f = open_memstream(&why, &size);
		if (!f)
			return -ENOMEM;
		print_differences(e, v, f);
		if (fclose(f) != 0)
			return -ENOMEM;
	}
	*ret_value = single ? steal_pointer(&value) : NULL;
	*ret_why = steal_pointer(&why);
	return 0;
}

/* Prints TEXT so that a shell reads it as one word. */
static void print_quoted(FILE *f, const char *text)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:,.-";

	if (text[strspn(text, plain)] == '\0') {
		fputs(text, f);
		return;
	}
	fputc('\'', f);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", f);
		else
			fputc(*text, f);
	fputc('\'', f);
}

static void print_left_out(const Environment *e, FILE *f)
{
	char name[96];

	for (size_t i = 0; i < e->n; i++)
		if (e->rails[i].reason)
			fprintf(f, "# without %s: %s\n", object_name(e->rails[i].port, name),
				e->rails[i].reason);
}

static void print_left_out_json(const Environment *e, FILE *f)
{
	size_t n = 0;

	json_next_list(f, "LeftOut");
	for (size_t i = 0; i < e->n; i++) {
		if (!e->rails[i].reason)
			continue;
		json_next(f, n++);
		json_begin_port(f, e->rails[i].port);
		json_key(f, "Reason", false);
		json_text(f, e->rails[i].reason);
		fputc('}', f);
	}
}

static void print_ports_json(const Environment *e, FILE *f)
{
	size_t n = 0;

	json_next_list(f, "Ports");
	for (size_t i = 0; i < e->n; i++) {
		const Rail *rail = &e->rails[i];

		if (rail->reason)
			continue;
		json_next(f, n++);
		json_begin_port(f, rail->port);
		json_key(f, "GidIndex", false);
		if (rail->has_index)
			fprintf(f, "%u}", rail->index);
		else
			fputs("null}", f);
	}
}

static void print_variable_json(FILE *f, const Variable *v, const char *value, size_t n)
{
	json_next(f, n);
	fputs("{\"Name\": ", f);
	json_text(f, v->name);
	json_key(f, "Value", false);
	if (value)
		json_text(f, value);
	else
		fputs("null", f);
	fputc('}', f);
}

static ExitStatus print_variables(const Context *c, const Environment *e)
{
	ExitStatus status = STATUS_OK;
	size_t n = 0;

	for (const Variable *v = e->library->variables; v->name && e->n_used > 0; v++) {
		_cleanup_free_ char *value = NULL, *why = NULL;

		if (find_value(e, v, &value, &why) < 0)
			return out_of_memory();
		if (value && !*value)
			continue;
		if (!value) {
			complain("%s has no single value: %s", v->name, why);
			status = STATUS_FAILED;
		}
		if (c->json) {
			print_variable_json(c->out, v, value, n++);
		} else if (value) {
			fprintf(c->out, "export %s=", v->name);
			print_quoted(c->out, value);
			fputc('\n', c->out);
		}
	}
	return status;
}

static ExitStatus find_library(const char *name, const Library **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (streq(libraries[i].name, name)) {
			*ret = &libraries[i];
			return STATUS_OK;
		}
	complain("env: unknown library \"%s\"; expected nccl, ucx or ofi", name);
	return STATUS_USAGE;
}

ExitStatus env_command(Context *c)
{
	_cleanup_selection_ Selection s = {};
	_cleanup_(environment_done) Environment e = {};
	ExitStatus status = find_library(c->arguments[0], &e.library), missing, printed;

	if (status != STATUS_OK)
		return status;
	c->arguments++;
	c->n_arguments--;
	status = selection_read(c, true, &s);
	if (status != STATUS_OK)
		return status;
	missing = selection_complain(&s);
	status = examine(&e, &s);
	if (status != STATUS_OK)
		return status;
	if (c->json)
		json_begin(c->out, "Variables");
	else
		print_left_out(&e, c->out);
	if (e.n_used == 0 && missing == STATUS_OK) {
		complain("env: %s can use no port of this machine now", e.library->title);
		status = STATUS_FAILED;
	}
	printed = print_variables(c, &e);
	if (c->json) {
		print_ports_json(&e, c->out);
		print_left_out_json(&e, c->out);
		json_end(c->out);
	}
	return MAX(MAX(status, printed), missing);
}
