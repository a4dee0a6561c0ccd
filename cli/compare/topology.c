/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl topology: asks many machines at which switches they are, and writes it for Slurm, for
 * Graphviz or as JSON. */

#include <ctype.h>

#include "commands.h"
#include "compare-ask.h"
#include "json.h"

/* Rows that name a switch, the surest first: names may not be unique. */
static const PortAttr id_rows[] = {PORT_ATTR_neighbor_guid, PORT_ATTR_neighbor_chassis,
				   PORT_ATTR_neighbor};

/* The longest name of a machine in DNS has 253 letters. */
#define HOST_BYTES 256U

typedef struct Switch {
	char id[96];   /* by one of these rows */
	char name[96]; /* no other has it */
} Switch;

/* A port that ends at a switch */
typedef struct Link {
	size_t machine, place; /* place: which switch */
	const Object *port;
} Link;

typedef struct Topology {
	const Machines *machines;
	Switch *switches;
	Link *links; /* in the order of the machines */
	size_t n_switches, n_links;
} Topology;

static const char *arg_hosts;
static bool arg_slurm, arg_dot;

/* clang-format off */
const Option topology_options[] = {
	{"hosts", 0, "FILE", "Ask these machines, one on each line; -: stdin", option_text, &arg_hosts, NULL, 0},
	{"slurm", 0, NULL,   "Write a topology.conf of Slurm",                 option_set,  &arg_slurm, NULL, 0},
	{"dot",   0, NULL,   "Write a graph for Graphviz",                     option_set,  &arg_dot,   NULL, 0},
	{},
};
/* clang-format on */

static void topology_done(Topology *t)
{
	free(t->switches);
	free(t->links);
}

/* What can be a name in a file of Slurm: a description can have anything. */
static void put_name(char *ret, size_t size, const char *text)
{
	text_copy(ret, size, *text ? text : "switch");
	for (char *p = ret; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '_';
}

/* The name of the machine without that of a user and a port: ssh://root@node17:22 is node17. */
static void put_host(char ret[HOST_BYTES], const char *machine)
{
	const char *at = startswith(machine, "ssh://"), *user;
	size_t length;

	at = at ? at : machine;
	user = strrchr(at, '@');
	at = user ? user + 1 : at;
	length = machine_is_bus(machine) ? strlen(at) : strcspn(at, ":");
	put_name(ret, HOST_BYTES, at);
	if (length < HOST_BYTES)
		ret[length] = '\0';
}

static bool has_name(const Topology *t, const char *name)
{
	return array_find(t->switches, t->n_switches, name, name);
}

/* -ENOMEM, or which switch *RET is. */
static int find_switch(Topology *t, const char *id, const char *name, size_t *ret)
{
	Switch *s;

	for (*ret = 0; *ret < t->n_switches; ++*ret)
		if (streq(t->switches[*ret].id, id))
			return 0;
	if (!array_grow(t->switches, t->n_switches))
		return -ENOMEM;
	s = &t->switches[t->n_switches];
	text_copy(s->id, sizeof(s->id), id);
	put_name(s->name, sizeof(s->name), name);
	for (size_t n = 2; has_name(t, s->name); n++) {
		char first[80];

		put_name(s->name, sizeof(s->name), name);
		text_copy(first, sizeof(first), s->name);
		snprintf(s->name, sizeof(s->name), "%s_%zu", first, n);
	}
	t->n_switches++;
	return 0;
}

/* Adds the link of PORT of the machine with number MACHINE, if it ends at a switch. */
static int add_port(Topology *t, size_t machine, const Object *port)
{
	const ObjectList *l = &t->machines->items[machine].objects;
	const char *type = object_text(port, PORT_ATTR_neighbor_type);
	const char *name = object_text(port, PORT_ATTR_neighbor);
	const char *id = "";
	Link *link;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(id_rows) && !*id; i++)
		id = object_text(port, id_rows[i]);
	if (!*id || (*type && !streq(type, "switch")) ||
	    object_is_function(object_list_device(l, port)) || object_list_is_plane(l, port))
		return 0;
	if (!array_grow(t->links, t->n_links))
		return -ENOMEM;
	link = &t->links[t->n_links];
	*link = (Link){.machine = machine, .port = port};
	r = find_switch(t, id, *name ? name : id, &link->place);
	t->n_links += r == 0;
	return r;
}

static int find_links(Topology *t)
{
	for (size_t i = 0; i < t->machines->n; i++) {
		const ObjectList *l = &t->machines->items[i].objects;

		for (size_t k = 0; k < l->n; k++)
			if (l->items[k]->is_port && add_port(t, i, l->items[k]) < 0)
				return -ENOMEM;
	}
	return 0;
}

/* Machines that are at the same switches, which for Slurm are one leaf of its tree. */
typedef struct Leaf {
	const bool *at; /* by switch */
	size_t nth;	/* so many leaves begin with the same switch, this one included */
	size_t into;	/* which leaf it belongs to: mostly to itself */
} Leaf;

typedef struct Leaves {
	Leaf *items;
	size_t n;
	bool *at;	/* by machine, and in it by switch */
	size_t *of;	/* which leaf a machine is; SIZE_MAX: it is at no switch */
	size_t n_alone; /* leaves that belong to themselves */
} Leaves;

static void leaves_done(Leaves *l)
{
	free(l->items);
	free(l->at);
	free(l->of);
}

static size_t first_switch(const Topology *t, const Leaf *leaf)
{
	size_t s = 0;

	while (s < t->n_switches && !leaf->at[s])
		s++;
	return s;
}

/* Whether A is at all switches that B is at. */
static bool contains(const Topology *t, const Leaf *a, const Leaf *b)
{
	for (size_t s = 0; s < t->n_switches; s++)
		if (b->at[s] && !a->at[s])
			return false;
	return true;
}

/* The leaf of the machines at the switches AT, which may be a new one. */
static size_t find_leaf(const Topology *t, Leaves *l, const bool *at)
{
	Leaf new = {.at = at, .nth = 1, .into = l->n};

	if (first_switch(t, &new) == t->n_switches)
		return SIZE_MAX;
	for (size_t i = 0; i < l->n; i++) {
		if (memcmp(l->items[i].at, at, t->n_switches * sizeof(*at)) == 0)
			return i;
		new.nth += first_switch(t, &l->items[i]) == first_switch(t, &new);
	}
	l->items[l->n] = new;
	return l->n++;
}

/* A machine of which a port knows nothing is where those are that are at the switches of its other
 * ports, if these are at one place. */
static void join_leaves(const Topology *t, Leaves *l)
{
	for (size_t i = 0; i < l->n; i++) {
		size_t n = 0, into = i;

		for (size_t k = 0; k < l->n; k++)
			if (k != i && contains(t, &l->items[k], &l->items[i])) {
				into = k;
				n++;
			}
		l->items[i].into = n == 1 ? into : i;
		l->n_alone += n != 1;
	}
}

static int find_leaves(const Topology *t, Leaves *l)
{
	const size_t n = t->machines->n;

	l->items = calloc(n, sizeof(*l->items));
	l->of = calloc(n, sizeof(*l->of));
	l->at = calloc(n, MAX(t->n_switches, (size_t)1) * sizeof(*l->at));
	if (!l->items || !l->of || !l->at)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_links; i++)
		l->at[t->links[i].machine * t->n_switches + t->links[i].place] = true;
	for (size_t i = 0; i < n; i++)
		l->of[i] = find_leaf(t, l, l->at + i * t->n_switches);
	join_leaves(t, l);
	return 0;
}

/* No switch has a '+' in its name. */
static void print_leaf_name(FILE *f, const Topology *t, const Leaf *leaf)
{
	fputs(t->switches[first_switch(t, leaf)].name, f);
	if (leaf->nth > 1)
		fprintf(f, "+%zu", leaf->nth);
}

static void print_leaf(FILE *f, const Topology *t, const Leaves *l, size_t leaf)
{
	const char *between = "# at";
	char host[HOST_BYTES];

	for (size_t s = 0; s < t->n_switches; s++)
		if (l->items[leaf].at[s]) {
			fprintf(f, "%s %s", between, t->switches[s].name);
			between = "";
		}
	fputs("\nSwitchName=", f);
	print_leaf_name(f, t, &l->items[leaf]);
	between = " Nodes=";
	for (size_t i = 0; i < t->machines->n; i++)
		if (l->of[i] != SIZE_MAX && l->items[l->of[i]].into == leaf) {
			put_host(host, t->machines->items[i].name);
			fprintf(f, "%s%s", between, host);
			between = ",";
		}
	fputs("\n", f);
}

/* A machine sees one switch far: what is between the leaves is one switch at the top. */
static void print_slurm(FILE *f, const Topology *t, const Leaves *l)
{
	const char *between = " Switches=";

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].into == i)
			print_leaf(f, t, l, i);
	if (l->n_alone < 2)
		return;
	fprintf(f, "SwitchName=fabric%s", has_name(t, "fabric") ? "+" : "");
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].into == i) {
			fputs(between, f);
			print_leaf_name(f, t, &l->items[i]);
			between = ",";
		}
	fputs("\n", f);
}

/* Names of Graphviz are in quotation marks, as texts of JSON are. */
static void print_dot(FILE *f, const Topology *t)
{
	char host[HOST_BYTES], name[96];

	fputs("graph rdma {\n", f);
	for (size_t i = 0; i < t->n_switches; i++)
		fprintf(f, "\t\"%s\" [shape=box];\n", t->switches[i].name);
	for (size_t i = 0; i < t->n_links; i++) {
		const Link *link = &t->links[i];

		put_host(host, t->machines->items[link->machine].name);
		fprintf(f, "\t\"%s\" -- \"%s\" [taillabel=", host, t->switches[link->place].name);
		json_text(f, object_name(link->port, name));
		fputs(", headlabel=", f);
		json_text(f, object_text(link->port, PORT_ATTR_neighbor_port));
		fputs("];\n", f);
	}
	fputs("}\n", f);
}

static void print_json(FILE *f, const Topology *t)
{
	char host[HOST_BYTES], name[96];

	json_begin(f, "Links");
	for (size_t i = 0; i < t->n_links; i++) {
		const Link *link = &t->links[i];
		const Switch *at = &t->switches[link->place];

		json_next(f);
		put_host(host, t->machines->items[link->machine].name);
		json_open(f);
		json_add_text(f, "Host", host);
		json_add_text(f, "Port", object_name(link->port, name));
		json_add_text(f, "Switch", at->name);
		json_add_text(f, "SwitchId", at->id);
		json_add_row(f, "SwitchPort", link->port, PORT_ATTR_neighbor_port);
		json_close(f);
	}
	json_end(f);
}

/* Returns how many machines are left out: they have not answered, or are at no switch. */
static size_t complain_left_out(const Topology *t, const Leaves *l)
{
	size_t n = 0;

	for (size_t i = 0; i < t->machines->n; i++) {
		const Machine *m = &t->machines->items[i];

		if (l->of[i] != SIZE_MAX)
			continue;
		complain("%s: %s", m->name,
			 m->reason ? m->reason : "none of its ports knows a switch");
		n++;
	}
	return n;
}

static ExitStatus print_topology(Context *c, const Machines *m)
{
	_cleanup_(topology_done) Topology t = {.machines = m};
	_cleanup_(leaves_done) Leaves l = {};

	if (find_links(&t) < 0 || find_leaves(&t, &l) < 0)
		return out_of_memory();
	if (arg_slurm)
		print_slurm(c->out, &t, &l);
	else if (arg_dot)
		print_dot(c->out, &t);
	else
		print_json(c->out, &t);
	return complain_left_out(&t, &l) > 0 ? STATUS_FAILED : STATUS_OK;
}

ExitStatus topology_command(Context *c)
{
	static const AskLimits limits = ASK_LIMITS_USUAL;
	_cleanup_machines_ Machines m = {};
	ExitStatus status;

	if (!arg_hosts || arg_slurm + arg_dot + c->json != 1)
		return usage_error(
			"topology: expected --hosts=FILE, and one of --slurm, --dot and --json");
	status = machines_read(&m, arg_hosts);
	if (status == STATUS_OK)
		status = machines_ask(&m, &limits);
	return status == STATUS_OK ? print_topology(c, &m) : status;
}
