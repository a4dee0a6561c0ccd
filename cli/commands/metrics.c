/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl metrics: what rdmad says, as metrics for Prometheus.
 *
 * A file is written at once or not at all: whoever reads it, the textfile collector of
 * node_exporter for example, never has a part of it. If rdmad does not answer, the file says that
 * and nothing else, so that nobody takes old values for those of now.
 */

#include "metrics.h"

#include "bus.h"
#include "commands.h"
#include "file.h"
#include "names.h"
#include "port-name.h"
#include "selection.h"

static MetricsFormat arg_format = METRICS_PROMETHEUS;
static bool arg_no_counters, arg_unavailable, arg_node_exporter;
static const char *arg_output;

static ExitStatus parse_format(const Option *o, const char *argument)
{
	for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++)
		if (streq(metrics_format_name(f), argument)) {
			arg_format = f;
			return STATUS_OK;
		}
	return option_refuse(o, argument);
}

static ExitStatus parse_names(const Option *o, const char *argument)
{
	arg_node_exporter = streq(argument, "node_exporter");
	return arg_node_exporter || streq(argument, "rdma") ? STATUS_OK
							    : option_refuse(o, argument);
}

static ExitStatus parse_output(const Option *o, const char *argument)
{
	return *argument ? option_text(o, argument) : option_refuse(o, argument);
}

/* clang-format off */
const Option metrics_options[] = {
	{"format",      0,   "prometheus|openmetrics", "Print this format (default: prometheus)", parse_format, NULL,              "prometheus or openmetrics", 0},
	{"names",       0,   "rdma|node_exporter",     "Use these names (default: rdma)",         parse_names,  NULL,              "rdma or node_exporter",     0},
	{"no-counters", 0,   NULL,                     "Do not read the counters of the ports",   option_set,   &arg_no_counters,  NULL,                        0},
	{"output",      'o', "FILE",                   "Write a file, at once or not at all",     parse_output, &arg_output,       "the name of a file",        0},
	{"unavailable", 0,   NULL,                     "Print also what has no value, and why",   option_set,   &arg_unavailable,  NULL,                        0},
	{},
};
/* clang-format on */

static bool is_chosen(void *userdata, const char *path)
{
	const Selection *s = userdata;

	for (size_t i = 0; i < s->n; i++) {
		const char *rest = startswith(s->ports[i]->path, path);

		/* the port, or its device */
		if (rest && (!*rest || startswith(rest, "/port/")))
			return true;
	}
	return false;
}

/* Calls METHOD of the object at the root. PORTS is NULL, or the names of ports for the option of
 * that name. */
static int call(Context *c, const char *interface, const char *method, bool options, char **ports,
		sd_bus_message **ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(c->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       interface, method);

	if (r >= 0 && options)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0 && ports)
		r = ports_append_texts(m, "ports", (const char *const *)ports);
	if (r >= 0 && options)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_call(c->bus, m, 0, error, ret);
}

/* Appends the object at PATH to M as GetManagedObjects() would do, with the interface "" for all.
 */
static int append_object(Context *c, sd_bus_message *m, const char *path)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, path, "org.freedesktop.DBus.Properties",
				   "GetAll", NULL, &reply, "s", "");

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");
	if (r >= 0)
		r = sd_bus_message_append(m, "o", path);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'e', "sa{sv}");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "");
	if (r >= 0)
		r = sd_bus_message_copy(m, reply, true);
	for (int i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

/* Appends the ports of S and their devices, each once. */
static int append_chosen(Context *c, const Selection *s, sd_bus_message *m)
{
	int r = sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}");

	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		const char *device = value_text(&s->ports[i]->values[PORT_ATTR_device_index]);
		size_t k = 0;

		r = append_object(c, m, s->ports[i]->path);
		while (!streq(device, value_text(&s->ports[k]->values[PORT_ATTR_device_index])))
			k++;
		if (r >= 0 && k == i)
			r = append_object(c, m, device);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* The reply of GetManagedObjects() as if there were only the ports of S and their devices. Fails if
 * these are many, or one of them has gone. */
static int read_few(Context *c, const Selection *s, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *m = NULL;
	int r = s->n <= SELECTION_FEW ? sd_bus_message_new(c->bus, &m, SD_BUS_MESSAGE_METHOD_CALL)
				      : -EFBIG;

	if (r >= 0)
		r = append_chosen(c, s, m);
	if (r >= 0)
		r = sd_bus_message_seal(m, 1, 0);
	if (r >= 0)
		r = sd_bus_message_rewind(m, true);
	if (r >= 0)
		*ret = steal_pointer(&m);
	return r;
}

/* S is NULL: all ports. With S, others may be read too. */
static ExitStatus read_objects(Context *c, const Selection *s, Metrics *m)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = s ? read_few(c, s, &reply) : -EFBIG;

	if (r < 0)
		r = call(c, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", false, NULL,
			 &reply, &error);
	if (r >= 0)
		r = metrics_read_objects(m, reply);
	return r < 0 ? bus_complain("cannot read the ports", &error, r) : STATUS_OK;
}

/* Reads what is wrong with the machine, and not with one device or port. */
static ExitStatus read_findings(Context *c, Metrics *m)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				   "org.freedesktop.DBus.Properties", "Get", &error, &reply, "ss",
				   RDMAD_INTERFACE_MANAGER, "Findings");

	if (r >= 0)
		r = metrics_read_machine(m, reply);
	return r < 0 ? bus_complain("cannot read the health", &error, r) : STATUS_OK;
}

/* S is NULL: all ports. */
static ExitStatus read_counters(Context *c, const Selection *s, Metrics *m)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	char names[WAIT_PORTS_MAX][96], *ports[WAIT_PORTS_MAX + 1] = {};
	/* rdmad takes so many names; of more ports it is asked for all */
	bool few = s && s->n > 0 && s->n <= WAIT_PORTS_MAX;
	int r;

	for (size_t i = 0; few && i < s->n; i++)
		ports[i] = CONST_CAST(char *, object_name(s->ports[i], names[i]));
	r = call(c, RDMAD_INTERFACE_MANAGER, "GetCounters", true, few ? ports : NULL, &reply,
		 &error);
	if (r >= 0)
		r = metrics_read_counters(m, reply);
	return r < 0 ? bus_complain("cannot read the counters", &error, r) : STATUS_OK;
}

/* Reads the ports that the arguments choose, all if there are none. *RET_MISSING: STATUS_NO_PORT if
 * an argument chooses none. */
static ExitStatus read_machine(Context *c, Metrics *m, ExitStatus *ret_missing)
{
	_cleanup_selection_ Selection s = {};
	bool all = c->n_arguments == 0;
	ExitStatus status =
		all ? STATUS_OK : selection_read(c, SELECTION_PLANES, selection_names, &s);

	if (status == STATUS_OK)
		status = read_objects(c, all ? NULL : &s, m);
	if (status == STATUS_OK && all)
		status = read_findings(c, m);
	if (status != STATUS_OK)
		return status;
	if (!all) {
		*ret_missing = selection_complain(&s);
		metrics_keep(m, is_chosen, &s);
	}
	if (arg_no_counters || (!all && s.n == 0))
		return STATUS_OK;
	return read_counters(c, all ? NULL : &s, m);
}

static void put_up(MetricsText *t, bool up)
{
	if (arg_node_exporter)
		return;
	metrics_text_family(t, &metrics_up);
	metrics_text_sample(t, &metrics_up, &(MetricSample){.number = {.value = up, .divisor = 1}});
}

static ExitStatus write_text(const Context *c, const MetricsText *t)
{
	if (arg_output)
		return file_publish(arg_output, t->text, t->size);
	fwrite(t->text, 1, t->size, c->out);
	return STATUS_OK;
}

ExitStatus metrics_command(Context *c)
{
	unsigned int flags = (arg_unavailable ? METRICS_UNAVAILABLE : 0) |
			     (arg_node_exporter ? METRICS_NODE_EXPORTER : 0);
	_cleanup_metrics_text_ MetricsText text = {.format = arg_format};
	_cleanup_(sd_bus_flush_close_unref_pointer) sd_bus *bus = NULL;
	_cleanup_(metrics_free_pointer) Metrics *m = metrics_new();
	ExitStatus missing = STATUS_OK, status, written;

	if (!m)
		return out_of_memory();
	/* the file says too that there is no bus */
	status = bus_connect(c, &bus);
	c->bus = bus;
	if (status == STATUS_OK)
		status = read_machine(c, m, &missing);
	if (status != STATUS_OK && !arg_output)
		return status;
	put_up(&text, status == STATUS_OK);
	if (status == STATUS_OK)
		metrics_text_add(&text, m, flags);
	if (metrics_text_finish(&text) < 0)
		return out_of_memory();
	written = write_text(c, &text);
	return MAX(MAX(status, missing), written);
}
