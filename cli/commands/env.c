/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl env: what to set so that a communication library uses the ports of this machine, as lines
 * for a shell.
 */

#include "bus.h"
#include "commands.h"
#include "env-value.h"
#include "json.h"
#include "parse.h"

static RailWish wish;

static ExitStatus parse_rail_rate(const Option *o, const char *argument)
{
	return parse_rate(argument, o->value) ? STATUS_OK : option_refuse(o, argument);
}

static ExitStatus parse_link_layer(const Option *o, const char *argument)
{
	if (strcasecmp(argument, "infiniband") != 0 && strcasecmp(argument, "ethernet") != 0)
		return option_refuse(o, argument);
	return option_text(o, argument);
}

static ExitStatus parse_pkey(const Option *o, const char *argument)
{
	char *end;
	unsigned long pkey;

	pkey = strtoul(argument, &end, 0); /* it takes -1 for the largest number */
	if (*end || strchr(argument, '-') || pkey > 0xffff || !(pkey & 0x7fff))
		return option_refuse(o, argument);
	wish.has_pkey = true;
	wish.pkey = (uint32_t)pkey & 0x7fff;
	return STATUS_OK;
}

/* clang-format off */
const Option env_options[] = {
	{"rate",       0, "RATE",    "Only ports with this rate (400G) or a higher one", parse_rail_rate,  &wish.rate,       "a rate, such as 400G",   0},
	{"link-layer", 0, "LAYER",   "Only infiniband, or only ethernet",                parse_link_layer, &wish.link_layer, "infiniband or ethernet", 0},
	{"model",      0, "PATTERN", "Only ports with this HcaType or BoardId",          option_text,      &wish.model,      NULL,                     0},
	{"gpu",        0, "INDEX|ADDRESS", "Only the ports nearest to this accelerator", option_text,      &wish.gpu,        NULL,                     0},
	{"pkey",       0, "P_KEY",   "Only full members of this partition (0x8012)",     parse_pkey,       NULL,             "a P_Key, such as 0x8012", 0},
	{},
};
/* clang-format on */

static void environment_done(Environment *e)
{
	for (size_t i = 0; i < e->n_notes; i++)
		free(e->notes[i]);
	free(e->notes);
	rails_done(&e->rails);
}

/* Notes */

_printf_(2, 3) static ExitStatus add_note(Environment *e, const char *format, ...)
{
	va_list arguments;
	int r;

	if (!array_grow(e->notes, e->n_notes))
		return out_of_memory();
	va_start(arguments, format);
	r = vasprintf(&e->notes[e->n_notes], format, arguments);
	va_end(arguments);
	if (r < 0)
		return out_of_memory();
	e->n_notes++;
	return STATUS_OK;
}

/* Adds a comment about the port of R, if one is needed. */
static ExitStatus note_rail(Environment *e, const Rail *r)
{
	ExitStatus status = STATUS_OK;
	char name[96], address[46];

	object_name(r->port, name);
	gid_format_address(r->gid.gid, GID_TYPE_ROCE_V2, address);
	if (rail_is_link_local(r))
		status = add_note(e, "%s: its address is link-local: %s", name, address);
	else if (r->has_index && r->gid.type != GID_TYPE_ROCE_V2)
		status = add_note(e, "%s: its GID is of RoCE v1, which no router forwards", name);
	else if (rail_is_opa(r))
		status = add_note(e, "%s: Omni-Path is slower by verbs than by PSM2 or OPX", name);
	else if (r->infiniband && !r->has_pkey && object_value(r->port, PORT_ATTR_pkeys))
		status = add_note(e, "%s: it is a full member of no partition", name);
	else if (e->library->first_pkey && r->infiniband && r->pkey_index)
		status = add_note(e, "%s: its P_Key is 0x%04x, and %s takes the first one", name,
				  r->pkey, e->library->first_pkey);
	if (status == STATUS_OK && e->library->by_address && r->infiniband && !*r->netdev &&
	    !rail_is_opa(r))
		status = add_note(e,
				  "%s: no IPoIB interface of it has an IP address: its MSG "
				  "endpoints have addresses of InfiniBand, and libfabric before "
				  "1.11 has none",
				  name);
	return status;
}

static ExitStatus note_rates(Environment *e)
{
	const Rail *slow = NULL, *fast = NULL;
	char slow_name[96], fast_name[96];

	for (size_t i = 0; i < e->rails.n; i++) {
		const Rail *r = &e->rails.items[i];

		if (r->reason || !r->rate)
			continue;
		slow = slow && slow->rate <= r->rate ? slow : r;
		fast = fast && fast->rate >= r->rate ? fast : r;
	}
	if (!slow || slow->rate == fast->rate)
		return STATUS_OK;
	return add_note(e, "rates differ: %s %.6g Gb/s, %s %.6g Gb/s (see --rate=%.6gG)",
			object_name(slow->port, slow_name), (double)slow->rate / 1e9,
			object_name(fast->port, fast_name), (double)fast->rate / 1e9,
			(double)fast->rate / 1e9);
}

static const char *subnet_of(const Rail *r)
{
	return r->reason ? "" : object_text(r->port, PORT_ATTR_subnet_prefix);
}

/* Ports of one subnet of InfiniBand reach none of another. */
static ExitStatus note_subnets(Environment *e)
{
	const Rail *first = NULL;
	char name[96], other[96];

	for (size_t i = 0; i < e->rails.n; i++) {
		const Rail *r = &e->rails.items[i];

		if (first && *subnet_of(r) && !streq(subnet_of(r), subnet_of(first)))
			return add_note(e, "subnets differ: %s %s, %s %s",
					object_name(first->port, name), subnet_of(first),
					object_name(r->port, other), subnet_of(r));
		first = !first && *subnet_of(r) ? r : first;
	}
	return STATUS_OK;
}

/* Says which values of V each port has, if it has no single one and needs none, or none is the only
 * right one. */
static ExitStatus note_variable(Environment *e, const Variable *v)
{
	bool is_priority = v->kind == VARIABLE_CLASS || v->kind == VARIABLE_LEVEL;
	const char *finder = v->kind == VARIABLE_GID_INDEX ? variable_finder(e, v) : NULL;
	bool has_title = finder && *finder == '*';
	_cleanup_free_ char *values = NULL;

	if (!finder && (!is_priority || variable_is_single(e, v)))
		return STATUS_OK;
	values = variable_differences(e, v);
	if (!values)
		return out_of_memory();
	if (finder)
		return add_note(e, "%s%s finds the GID index of each port: %s",
				has_title ? e->library->title : "", finder + has_title, values);
	return *values ? add_note(e, "without %s no packet has a priority with PFC: %s", v->name,
				  values)
		       : STATUS_OK;
}

/* Says what is so of all ports together, and of how many the library takes fewer. */
static ExitStatus note_library(Environment *e)
{
	const Library *l = e->library;
	ExitStatus status = STATUS_OK;

	if (l->ports_most && e->rails.n_used > l->ports_most)
		status = add_note(e,
				  "%s takes %zu ports at most, and these are %zu: name those to "
				  "use, or see --rate, --model and --gpu",
				  l->title, l->ports_most, e->rails.n_used);
	for (const Variable *v = l->variables; v->name && status == STATUS_OK; v++)
		status = note_variable(e, v);
	return status;
}

static ExitStatus make_notes(Environment *e)
{
	ExitStatus status = note_rates(e);

	if (status == STATUS_OK)
		status = note_subnets(e);
	if (status == STATUS_OK)
		status = note_library(e);
	if (status == STATUS_OK && e->library->efa_since && environment_any(e, rail_is_efa))
		status = add_note(e, "EFA needs %s %s or later", e->library->title,
				  e->library->efa_since);
	for (size_t i = 0; status == STATUS_OK && i < e->rails.n; i++) {
		const Rail *r = &e->rails.items[i];
		const char *other;

		if (r->reason)
			continue;
		status = note_rail(e, r);
		other = e->library->by_prefix && !r->efa ? rails_same_beginning(&e->rails, r)
							 : NULL;
		if (status == STATUS_OK && other)
			status = add_note(e, "%s takes %s too, because its name begins with %s",
					  e->library->title, other,
					  object_text(r->port, PORT_ATTR_device_name));
	}
	return status;
}

/* Output */

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
	rails_print_left_out(&e->rails, f);
	for (size_t i = 0; i < e->n_notes; i++)
		fprintf(f, "# %s\n", e->notes[i]);
}

static void print_left_out_json(const Environment *e, FILE *f)
{
	json_next_list(f, "LeftOut");
	for (size_t i = 0; i < e->rails.n; i++) {
		if (!e->rails.items[i].reason)
			continue;
		json_next(f);
		json_open_port(f, e->rails.items[i].port);
		json_add_text(f, "Reason", e->rails.items[i].reason);
		json_close(f);
	}
	json_next_list(f, "Notes");
	for (size_t i = 0; i < e->n_notes; i++) {
		json_next(f);
		json_text(f, e->notes[i]);
	}
}

static void print_ports_json(const Environment *e, FILE *f)
{
	json_next_list(f, "Ports");
	for (size_t i = 0; i < e->rails.n; i++) {
		const Rail *rail = &e->rails.items[i];

		if (rail->reason)
			continue;
		json_next(f);
		json_open_port(f, rail->port);
		if (rail->has_index)
			json_add_number(f, "GidIndex", rail->gid.index);
		else
			json_add_text(f, "GidIndex", NULL);
		json_close(f);
	}
}

static void print_variable_json(FILE *f, const Variable *v, const char *value)
{
	json_next(f);
	json_open(f);
	json_add_text(f, "Name", v->name);
	json_add_text(f, "Value", value);
	json_close(f);
}

/* Whether B is used, and has the same as A of each variable that takes one value. */
static bool agree(const Environment *e, const Rail *a, const Rail *b)
{
	if (b->reason)
		return false;
	for (const Variable *v = e->library->variables; v->name; v++) {
		char of_a[96] = "", of_b[96] = "";

		if (variable_is_list(v) || !variable_is_needed(e, v))
			continue;
		if (variable_value(e, v, a, of_a) != variable_value(e, v, b, of_b) ||
		    !streq(of_a, of_b))
			return false;
	}
	return true;
}

/* The rate of the ports that agree with R. */
static uint64_t rate_with(const Environment *e, const Rail *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->rails.n; i++)
		if (agree(e, r, &e->rails.items[i]))
			sum += e->rails.items[i].rate;
	return sum;
}

/* Advises a command, because a variable has no single value: with those ports that have the same
 * values and the highest rate together. */
static ExitStatus advise(const Environment *e)
{
	_cleanup_free_ char *names = NULL;
	const Rail *best = NULL;
	uint64_t most = 0;
	size_t size;
	FILE *f = open_memstream(&names, &size);
	char name[96];

	if (!f)
		return out_of_memory();
	for (size_t i = 0; i < e->rails.n; i++) {
		const Rail *r = &e->rails.items[i];
		uint64_t rate = r->reason ? 0 : rate_with(e, r);

		if (!r->reason && (!best || rate > most)) {
			best = r;
			most = rate;
		}
	}
	for (size_t i = 0; best && i < e->rails.n; i++)
		if (agree(e, best, &e->rails.items[i]))
			fprintf(f, " %s", object_name(e->rails.items[i].port, name));
	if (fclose(f) != 0)
		return out_of_memory();
	return failure("env: name ports that have the same, such as: rdmactl env %s%s",
		       e->library->name, names);
}

static ExitStatus print_variables(const Context *c, const Environment *e)
{
	ExitStatus status = STATUS_OK;

	for (const Variable *v = e->library->variables; v->name && e->rails.n_used > 0; v++) {
		_cleanup_free_ char *value = NULL, *why = NULL;

		if (variable_find(e, v, &value, &why) < 0)
			return out_of_memory();
		if (value && !*value && !(v->kind == VARIABLE_NAMES && variable_is_needed(e, v)))
			continue;
		if (!value)
			status = failure("%s has no single value: %s", v->name, why);
		if (c->json) {
			print_variable_json(c->out, v, value);
		} else if (value) {
			fprintf(c->out, "export %s=", v->name);
			print_quoted(c->out, value);
			fputc('\n', c->out);
		}
	}
	return status == STATUS_FAILED ? advise(e) : status;
}

ExitStatus env_command(Context *c)
{
	_cleanup_(environment_done) Environment e = {.wish = &wish};
	const char *name = c->arguments[0];
	ExitStatus status, missing, printed;

	for (e.library = libraries; e.library->name && !streq(e.library->name, name);)
		e.library++;
	if (!e.library->name)
		return usage_error("env: unknown library \"%s\"; expected %s", name,
				   library_names + 1);
	c->arguments++;
	c->n_arguments--;
	wish.library = e.library;
	status = rails_read(c, &wish, &e.rails, &missing);
	if (status == STATUS_OK)
		status = make_notes(&e);
	if (status != STATUS_OK)
		return status;
	if (c->json)
		json_begin(c->out, "Variables");
	else
		print_left_out(&e, c->out);
	if (e.rails.n_used == 0 && missing == STATUS_OK) {
		complain("env: %s can use no port of this machine now", e.library->title);
		status = failure("env: why not: rdmactl check; rdmactl explain");
	}
	printed = print_variables(c, &e);
	if (c->json) {
		print_ports_json(&e, c->out);
		print_left_out_json(&e, c->out);
		json_end(c->out);
	}
	return MAX(MAX(status, printed), missing);
}
