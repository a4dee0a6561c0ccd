/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl check: what is wrong with the ports, for health checks of a node. Each check is one row;
 * it looks at one thing, says one sentence, and knows nothing of the others.
 */

#include <fnmatch.h>
#include <stdarg.h>

#include "bus.h"
#include "commands.h"
#include "decode.h"
#include "expect.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

typedef struct Check Check;

/* A run of all checks, and what it looks at now. */
typedef struct Run {
	Context *c;
	const Expectations *expect;
	ObjectList objects;
	const Object **ports; /* those that are checked */
	size_t n_ports;
	const Object **devices; /* those that were looked at already */
	size_t n_devices;
	char **missing; /* what was named and is not there: "mlx5_7: no such port" */
	size_t n_missing;
	bool local; /* the device nodes are those of this machine */

	const Check *check;
	const Object *port, *device; /* NULL: none in particular */
	size_t n_findings;
} Run;

typedef enum Scope { SCOPE_MACHINE, SCOPE_DEVICE, SCOPE_PORT } Scope;

struct Check {
	const char *name;
	Scope scope; /* what it is called for */
	void (*look)(Run *r);
	const char *condition;
};

static bool is_ignored(const Run *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];

		if (x->kind != EXPECT_IGNORE || !streq(x->text, r->check->name))
			continue;
		if (!x->glob || (r->port && expectation_applies(x, r->port)) ||
		    (!r->port && r->device &&
		     fnmatch(x->glob, value_text(&r->device->values[DEVICE_ATTR_name]), 0) == 0))
			return true;
	}
	return false;
}

static void print_json(Run *r, const Attribute *row, const char *sentence)
{
	const Object *o = r->port ? r->port : r->device;
	FILE *f = r->c->out;
	char name[96];

	fprintf(f, "%s  {\"check\": ", r->n_findings == 0 ? "\n" : ",\n");
	json_text(f, r->check->name);
	if (o) {
		fprintf(f, ", \"%s\": ", o->is_port ? "port" : "device");
		json_text(f, object_name(o, name));
		fputs(", \"path\": ", f);
		json_text(f, o->path);
	}
	if (row) {
		fputs(", \"property\": ", f);
		json_text(f, row->name);
	}
	fputs(", \"finding\": ", f);
	json_text(f, sentence);
	fputc('}', f);
}

/* Something is wrong with what the run looks at; ROW, if it is one attribute, is that. */
static void find(Run *r, const Attribute *row, const char *format, ...) _printf_(3, 4);
static void find(Run *r, const Attribute *row, const char *format, ...)
{
	const Object *o = r->port ? r->port : r->device;
	char sentence[512], name[96];
	va_list ap;

	if (is_ignored(r))
		return;
	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	if (r->c->json)
		print_json(r, row, sentence);
	else
		fprintf(r->c->out, "%s%s%s%s%s [%s]\n", terminal_color(r->c, "bold"),
			o ? object_name(o, name) : "", terminal_plain(r->c), o ? ": " : "",
			sentence, r->check->name);
	r->n_findings++;
}

/* What the checks ask */

static const char *port_text(const Run *r, PortAttr a)
{
	const Value *v = object_value(r->port, a);

	return v ? value_text(v) : "";
}

/* False if the port has no such number now. */
static bool port_number(const Run *r, PortAttr a, uint64_t *ret)
{
	const Value *v = object_value(r->port, a);

	if (!v || v->type != VALUE_UNSIGNED)
		return false;
	*ret = v->number;
	return true;
}

static bool is_true(const Value *v)
{
	return v && v->type == VALUE_BOOL && v->boolean;
}

static bool is_active(const Run *r)
{
	const char *state = port_text(r, PORT_ATTR_state);

	return streq(state, "active") || streq(state, "active-defer");
}

/* Whether it is said what attribute A of the port shall be: then that is what counts. */
static bool is_expected(const Run *r, PortAttr a)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].kind == EXPECT_ATTRIBUTE &&
		    e->items[i].row == &port_attributes[a] &&
		    expectation_applies(&e->items[i], r->port))
			return true;
	return false;
}

static bool has_name(const Value *v, const char *name)
{
	for (size_t i = 0; v && v->type == VALUE_ARRAY && i < v->n; i++)
		if (streq(value_text(&v->items[i]), name))
			return true;
	return false;
}

/* How many of the checked ports E is about. */
static size_t count_ports(const Run *r, const Expectation *e)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++)
		n += expectation_applies(e, r->ports[i]);
	return n;
}

/* The checks */

static void look_for_ports(Run *r)
{
	if (r->n_ports == 0 && !r->expect->given && r->c->n_arguments == 0)
		find(r, NULL, "there is no RDMA port");
}

static void look_for_missing(Run *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < r->n_missing; i++)
		find(r, NULL, "%s", r->missing[i]);
	/* With ports named, it is about these. */
	for (size_t i = 0; e && i < e->n && r->c->n_arguments == 0; i++) {
		const Expectation *x = &e->items[i];
		bool counted = false;

		if (x->kind != EXPECT_SECTION)
			continue;
		for (size_t k = i + 1; k < e->n && e->items[k].kind != EXPECT_SECTION; k++)
			counted |= e->items[k].kind == EXPECT_PORTS;
		if (!counted && count_ports(r, x) == 0)
			find(r, NULL, "there is no port %s, which %s expects", x->glob, x->place);
	}
}

static void look_at_count(Run *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];
		size_t n = x->kind == EXPECT_PORTS ? count_ports(r, x) : 0;

		if (x->kind == EXPECT_PORTS && n != x->number)
			find(r, NULL, "%zu %s%s%s, expected %s", n, n == 1 ? "port" : "ports",
			     x->glob ? " " : "", x->glob ? x->glob : "", x->text);
	}
}

static void look_at_device_staleness(Run *r)
{
	const Value *error = object_value(r->device, DEVICE_ATTR_last_error);

	if (is_true(object_value(r->device, DEVICE_ATTR_stale)))
		find(r, &device_attributes[DEVICE_ATTR_stale], "the device is stale: %s",
		     error ? value_text(error) : "");
}

static void look_at_staleness(Run *r)
{
	if (is_true(object_value(r->port, PORT_ATTR_stale)))
		find(r, &port_attributes[PORT_ATTR_stale], "the port is stale: %s",
		     port_text(r, PORT_ATTR_last_error));
}

static void look_at_state(Run *r)
{
	const char *physical = port_text(r, PORT_ATTR_phys_state);

	if (!is_active(r) && !is_expected(r, PORT_ATTR_state))
		find(r, &port_attributes[PORT_ATTR_state], "the port is %s%s%s, not active",
		     port_text(r, PORT_ATTR_state), *physical ? ", physically " : "", physical);
}

static void look_at_interface(Run *r)
{
	const char *netdev = port_text(r, PORT_ATTR_netdev);

	if (!is_active(r) && streq(port_text(r, PORT_ATTR_netdev_operstate), "up"))
		find(r, &port_attributes[PORT_ATTR_state],
		     "the network interface %s is up, but the port is %s", netdev,
		     port_text(r, PORT_ATTR_state));
}

static void look_at_lid(Run *r)
{
	uint64_t lid;

	/* 0: none; 0xffff: the permissive LID, which is no port's own */
	if (is_active(r) && port_number(r, PORT_ATTR_lid, &lid) && (lid == 0 || lid == 0xffff))
		find(r, &port_attributes[PORT_ATTR_lid], "the port is active, but has no LID");
}

static void look_at_sm(Run *r)
{
	uint64_t lid;

	if (is_active(r) && port_number(r, PORT_ATTR_sm_lid, &lid) && lid == 0)
		find(r, &port_attributes[PORT_ATTR_sm_lid],
		     "the port is active, but knows no subnet manager");
}

/* The kernel takes from the interface's MTU what the headers of RoCE can be at most, and of the
 * rest the largest MTU that InfiniBand knows: iboe_get_mtu() in its rdma/ib_addr.h. */
static uint64_t roce_mtu(uint64_t netdev_mtu)
{
	const uint64_t headers = 40 + 8 + 12 + 4 + 28 + 4;

	for (uint32_t code = 5; code > 0; code--)
		if (netdev_mtu >= decode_number(ATTR_MTU, code) + headers)
			return decode_number(ATTR_MTU, code);
	return 0;
}

static void look_at_mtu(Run *r)
{
	uint64_t mtu, most, netdev_mtu;

	if (!streq(port_text(r, PORT_ATTR_protocol), "roce") ||
	    is_expected(r, PORT_ATTR_active_mtu) || !port_number(r, PORT_ATTR_active_mtu, &mtu) ||
	    !port_number(r, PORT_ATTR_max_mtu, &most) ||
	    !port_number(r, PORT_ATTR_netdev_mtu, &netdev_mtu))
		return;
	most = MIN(most, roce_mtu(netdev_mtu));
	if (mtu < most)
		find(r, &port_attributes[PORT_ATTR_active_mtu],
		     "the MTU is %u, %s (%u) has room for %u", (unsigned int)mtu,
		     port_text(r, PORT_ATTR_netdev), (unsigned int)netdev_mtu, (unsigned int)most);
}

/* An InfiniBand port announces the speeds from FDR on that it can have. (Of its widths it announces
 * only 2x, and verbs has neither.) */
static void look_at_speed(Run *r)
{
	static const struct {
		PortAttr mask;
		const char *capability, *speed;
	} announced[] = {
		{PORT_ATTR_port_cap_flags2, "link-speed-xdr", "XDR"},
		{PORT_ATTR_port_cap_flags2, "link-speed-ndr", "NDR"},
		{PORT_ATTR_port_cap_flags2, "link-speed-hdr", "HDR"},
		{PORT_ATTR_capabilities, "extended-speeds", "FDR"},
	};
	const char *speed = port_text(r, PORT_ATTR_link_speed);
	uint32_t is, could_be;

	if (!streq(port_text(r, PORT_ATTR_protocol), "infiniband") ||
	    is_expected(r, PORT_ATTR_link_speed) || is_expected(r, PORT_ATTR_rate) ||
	    decode_value(ATTR_SPEED, speed, &is) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(announced); i++) {
		if (!has_name(object_value(r->port, announced[i].mask), announced[i].capability))
			continue;
		if (decode_value(ATTR_SPEED, announced[i].speed, &could_be) == 0 && is < could_be)
			find(r, &port_attributes[PORT_ATTR_link_speed],
			     "the link runs at %s, the port can do %s", speed, announced[i].speed);
		return;
	}
}

/* The verbs node of the device, "" if it has none. */
static const char *uverbs_node(const Object *device)
{
	const Value *nodes = object_value(device, DEVICE_ATTR_chardevs);

	for (size_t i = 0; nodes && nodes->type == VALUE_ARRAY && i < nodes->n; i++) {
		const Value *node = &nodes->items[i];

		if (node->type == VALUE_STRUCT && node->n >= 2 &&
		    streq(value_text(&node->items[0]), "verbs"))
			return value_text(&node->items[1]);
	}
	return "";
}

static void look_for_uverbs(Run *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_chardevs];
	const char *reason = object_unavailable(r->device, DEVICE_ATTR_chardevs);

	if (reason)
		find(r, row, "the character devices of the device are not known: %s", reason);
	else if (!*uverbs_node(r->device))
		find(r, row, "the device has no uverbs node: is the module ib_uverbs loaded?");
}

static void look_at_access(Run *r)
{
	const char *node = uverbs_node(r->device);

	/* Asks the file system, not the device: opening it could wait for firmware. */
	if (r->local && *node && access(node, R_OK | W_OK) < 0)
		find(r, &device_attributes[DEVICE_ATTR_chardevs], "%s cannot be used: %s", node,
		     strerror(errno));
}

/* Every port has a largest MTU, and only verbs knows it. Gaudi devices are not asked unless
 * rdmad.conf says so. */
static void look_at_verbs(Run *r)
{
	const char *reason = object_unavailable(r->port, PORT_ATTR_max_mtu);
	const Value *driver = r->device ? object_value(r->device, DEVICE_ATTR_driver) : NULL;

	if (reason && !(driver && startswith(value_text(driver), "habanalabs")) &&
	    !is_true(object_value(r->port, PORT_ATTR_stale)))
		find(r, &port_attributes[PORT_ATTR_max_mtu],
		     "rdmad cannot use verbs on the port: MaxMtu is unavailable (%s)", reason);
}

/* Whether the row is a list or a table. */
static bool is_many(const Attribute *row)
{
	return attr_signature(row->type)[0] == 'a';
}

/* Whether a later line says anew what the attribute of expectation I shall be. What must be in a
 * list or table adds up. */
static bool is_overridden(const Run *r, size_t i)
{
	const Expectations *e = r->expect;

	if (is_many(e->items[i].row))
		return false;
	for (size_t k = i + 1; k < e->n; k++)
		if (e->items[k].row == e->items[i].row &&
		    expectation_applies(&e->items[k], r->port))
			return true;
	return false;
}

static void look_at_expectations(Run *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];
		const Object *o = x->of_device ? r->device : r->port;
		_cleanup_free_ char *is = NULL, *expected = NULL;

		if (x->kind != EXPECT_ATTRIBUTE || !expectation_applies(x, r->port) || !o ||
		    is_overridden(r, i) || expectation_holds(x, o))
			continue;
		if (is_many(x->row) && object_value(o, (size_t)(x->row - o->rows))) {
			find(r, x->row, "%s does not have %s", x->row->name, x->text);
			continue;
		}
		is = format_row(o, (size_t)(x->row - o->rows));
		expected = expectation_format(x);
		find(r, x->row, "%s is %s, expected %s", x->row->name, is ? is : "",
		     expected ? expected : "");
	}
}

/* clang-format off */
static const Check checks[] = {
	{"no-port",       SCOPE_MACHINE, look_for_ports,           "The machine has no RDMA port, and none was named."},
	{"missing",       SCOPE_MACHINE, look_for_missing,         "A port that was named, or that a section expects, is not there."},
	{"count",         SCOPE_MACHINE, look_at_count,            "There are more or fewer ports than Ports expects."},
	{"device-stale",  SCOPE_DEVICE,  look_at_device_staleness, "The last query of the device failed, or the device does not answer."},
	{"no-uverbs",     SCOPE_DEVICE,  look_for_uverbs,          "The device has no character device for verbs."},
	{"access",        SCOPE_DEVICE,  look_at_access,           "The caller may not open that character device, or it is not there."},
	{"stale",         SCOPE_PORT,    look_at_staleness,        "The last query of the port failed, or the device does not answer."},
	{"no-verbs",      SCOPE_PORT,    look_at_verbs,            "rdmad could not ask the port by verbs."},
	{"not-active",    SCOPE_PORT,    look_at_state,            "The port is not active, and no expectation says what State shall be."},
	{"netdev-up",     SCOPE_PORT,    look_at_interface,        "The network interface is up, but the port is not active."},
	{"no-lid",        SCOPE_PORT,    look_at_lid,              "The port is active, but has no LID (InfiniBand)."},
	{"no-sm",         SCOPE_PORT,    look_at_sm,               "The port is active, but the LID of its subnet manager is 0 (InfiniBand)."},
	{"slow",          SCOPE_PORT,    look_at_speed,            "The link is slower than a speed that the port announces (InfiniBand), and neither LinkSpeed nor Rate is expected."},
	{"small-mtu",     SCOPE_PORT,    look_at_mtu,              "The MTU is smaller than the network interface allows (RoCE), and ActiveMtu is not expected."},
	{"expectation",   SCOPE_PORT,    look_at_expectations,     "An attribute is not as expected."},
};
/* clang-format on */

static bool check_exists(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (streq(checks[i].name, name))
			return true;
	return false;
}

static Expectations arg_expect = {.is_check = check_exists};
static bool arg_list;

static ExitStatus parse_expect(const Option *o, const char *argument)
{
	return expect_add(o->value, argument);
}

/* clang-format off */
const Option check_options[] = {
	{"expect", 0, "FILE|KEY=VALUE", "What ports shall be; may be given again", parse_expect, &arg_expect, NULL, 0},
	{"list",   0, NULL,             "The checks that there are",               option_set,   &arg_list,   NULL, RUN_OFFLINE},
	{},
};
/* clang-format on */

/* The run */

static void look(Run *r, Scope scope, const Object *device, const Object *port)
{
	r->device = device;
	r->port = port;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		if (checks[i].scope != scope)
			continue;
		r->check = &checks[i];
		checks[i].look(r);
	}
}

static const Object *device_of(const Run *r, const Object *port)
{
	return object_list_find(&r->objects, value_text(&port->values[PORT_ATTR_device_index]));
}

/* Adds a device to those that were looked at; false if it is one of them. */
static bool add_device(Run *r, const Object *device)
{
	for (size_t i = r->n_devices; i-- > 0;)
		if (r->devices[i] == device)
			return false;
	r->devices[r->n_devices++] = device;
	return true;
}

/* Each device before the first of its ports. */
static void look_at_everything(Run *r)
{
	look(r, SCOPE_MACHINE, NULL, NULL);
	for (size_t i = 0; i < r->n_ports; i++) {
		const Object *device = device_of(r, r->ports[i]);

		if (device && add_device(r, device))
			look(r, SCOPE_DEVICE, device, NULL);
		look(r, SCOPE_PORT, device, r->ports[i]);
	}
}

/* Adds a port that was named. A port may be named twice, also by its name and its network
 * interface. */
static void add_port(Run *r, const Object *port)
{
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i] == port)
			return;
	r->ports[r->n_ports++] = port;
}

/* Adds what was named and is not there, for MESSAGE. */
static ExitStatus add_missing(Run *r, const char *port, const char *message)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s: %s", port, message) < 0)
		return out_of_memory();
	for (size_t i = 0; i < r->n_missing; i++)
		if (streq(r->missing[i], text))
			return STATUS_OK;
	r->missing[r->n_missing++] = steal_pointer(&text);
	return STATUS_OK;
}

static ExitStatus choose_port(Run *r, const char *port)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *path = NULL;
	const Object *o = NULL;
	int e = bus_get_port(r->c->bus, port, &path, &error);

	if (e < 0 && !bus_is_no_port(&error))
		return bus_complain(port, &error, e);
	if (e >= 0)
		o = object_list_find(&r->objects, path);
	if (!o)
		return add_missing(r, port,
				   error.message ? error.message : "the port has just gone away");
	add_port(r, o);
	return STATUS_OK;
}

/* Takes the ports that were named, or all. */
static ExitStatus choose_ports(Run *r)
{
	ExitStatus status = STATUS_OK;

	r->ports = calloc(r->objects.n + r->c->n_arguments + 1, sizeof(*r->ports));
	r->devices = calloc(r->objects.n + 1, sizeof(*r->devices));
	r->missing = calloc(r->c->n_arguments + 1, sizeof(*r->missing));
	if (!r->ports || !r->devices || !r->missing)
		return out_of_memory();
	for (size_t i = 0; i < r->objects.n && r->c->n_arguments == 0; i++)
		if (r->objects.items[i]->is_port)
			r->ports[r->n_ports++] = r->objects.items[i];
	for (unsigned int i = 0; status == STATUS_OK && i < r->c->n_arguments; i++)
		status = choose_port(r, r->c->arguments[i]);
	return status;
}

/* The nodes of another machine are not here, nor are those of a scenario anywhere. */
static bool is_local(const Context *c)
{
	int simulated = false;

	if (c->host || c->machine)
		return false;
	return sd_bus_get_property_trivial(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					   RDMAD_INTERFACE_MANAGER, "Simulated", NULL, 'b',
					   &simulated) >= 0 &&
	       !simulated;
}

static ExitStatus list_checks(Context *c)
{
	if (c->json)
		fputc('[', c->out);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		if (!c->json) {
			fprintf(c->out, "%s%-12s%s  ", terminal_color(c, "bold"), checks[i].name,
				terminal_plain(c));
			terminal_print_wrapped(c, checks[i].condition, 14);
			continue;
		}
		fprintf(c->out, "%s\n  {\"check\": ", i > 0 ? "," : "");
		json_text(c->out, checks[i].name);
		fputs(", \"condition\": ", c->out);
		json_text(c->out, checks[i].condition);
		fputc('}', c->out);
	}
	if (c->json)
		fputs("\n]\n", c->out);
	return STATUS_OK;
}

static void run_done(Run *r)
{
	object_list_done(&r->objects);
	free(r->ports);
	free(r->devices);
	for (size_t i = 0; i < r->n_missing; i++)
		free(r->missing[i]);
	free(r->missing);
}

ExitStatus check_command(Context *c)
{
	_cleanup_(run_done) Run r = {.c = c, .expect = &arg_expect};
	ExitStatus status;

	if (arg_list)
		return list_checks(c);
	status = bus_read_objects(c->bus, &r.objects);
	if (status != STATUS_OK)
		return status;
	status = choose_ports(&r);
	if (status != STATUS_OK)
		return status;
	r.local = is_local(c);
	if (c->json)
		fputc('[', c->out);
	look_at_everything(&r);
	if (c->json)
		fputs(r.n_findings > 0 ? "\n]\n" : "]\n", c->out);
	return r.n_findings > 0 ? STATUS_FAILED : STATUS_OK;
}
