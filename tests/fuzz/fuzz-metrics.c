/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The replies of which metrics are made: objects with properties of any type and value, and
 * counters with any names. Whatever comes, the text has lines of the two kinds that there are, each
 * family is in one piece, and no sample is there twice.
 */

#include "message.h"
#include "metrics.h"

#define OBJECTS_MAX    4U
#define INTERFACES_MAX 4U
#define PROPERTIES_MAX 16U
#define COUNTERS_MAX   12U

static const char *const paths[] = {
	"/org/rdma/device/0",	     "/org/rdma/device/0/port/1", "/org/rdma/device/0/port/2",
	"/org/rdma/device/7/port/1", "/org/rdma/device/7",	  "/org/rdma",
};

static const char *choose_path(FuzzInput *in)
{
	return paths[input_u8(in) % ARRAY_SIZE(paths)];
}

/* A row of a port, or of a device. */
static const Attribute *choose_row(FuzzInput *in)
{
	uint8_t choice = input_u8(in);

	return choice & 1 ? &port_attributes[choice / 2U % _PORT_ATTR_MAX]
			  : &device_attributes[choice / 2U % _DEVICE_ATTR_MAX];
}

static int append_property(sd_bus_message *m, FuzzInput *in)
{
	char text[MESSAGE_TEXT_MAX];
	const Attribute *row = choose_row(in);
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append_basic(
			m, 's',
			row->interface == INTERFACE_RAW ? message_text(in, text) : row->name);
	if (r < 0)
		return r;
	/* a value of its type, or of any */
	if (input_u8(in) & 1 && *attr_signature(row->type)) {
		r = sd_bus_message_open_container(m, 'v', attr_signature(row->type));
		if (r >= 0)
			r = message_append(m, in, attr_signature(row->type));
		if (r >= 0)
			r = sd_bus_message_close_container(m);
	} else {
		r = message_append_variant(m, in);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_interface(sd_bus_message *m, FuzzInput *in)
{
	AttrInterface interface = input_u8(in) % INTERFACE_RAW;
	const char *name = interface < INTERFACE_PORT ? "Name" : "DeviceName";
	char text[MESSAGE_TEXT_MAX];
	int r = sd_bus_message_open_container(m, 'e', "sa{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", attr_interface_name(interface));
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", name, "s", message_text(in, text));
	for (size_t n = input_u8(in) % PROPERTIES_MAX; r >= 0 && n > 0; n--)
		r = append_property(m, in);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_object(sd_bus_message *m, FuzzInput *in, const char *path)
{
	int r = sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");

	if (r >= 0)
		r = sd_bus_message_append(m, "o", path);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");
	for (size_t n = input_u8(in) % INTERFACES_MAX; r >= 0 && n > 0; n--)
		r = append_interface(m, in);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Each path once: so the bus has them. */
static int append_objects(sd_bus_message *m, FuzzInput *in)
{
	int r = sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}");

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(paths); i++)
		if (input_u8(in) & 1)
			r = append_object(m, in, paths[i]);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* A set of the reply to GetCounters(). */
static int append_set(sd_bus_message *m, FuzzInput *in)
{
	const char *groups[COUNTERS_MAX + 1] = {}, *names[COUNTERS_MAX + 1] = {};
	char texts[COUNTERS_MAX][MESSAGE_TEXT_MAX];
	size_t n = input_u8(in) % COUNTERS_MAX;
	int r = sd_bus_message_open_container(m, 'r', "asasasa{sv}");

	for (size_t i = 0; i < n; i++) {
		uint8_t choice = input_u8(in);

		groups[i] = choice == UINT8_MAX ? "" : counter_group_name(choice & 1);
		names[i] = choice & 2 ? counter_rows[choice % n_counter_rows].name
				      : message_text(in, texts[i]);
	}
	/* sometimes a name is missing */
	if (n > 0 && input_u8(in) == UINT8_MAX)
		names[n - 1] = NULL;
	if (r >= 0)
		r = sd_bus_message_append_strv(m, CONST_CAST(char **, groups));
	if (r >= 0)
		r = sd_bus_message_append_strv(m, CONST_CAST(char **, names));
	if (r >= 0)
		r = sd_bus_message_append(m, "asa{sv}", 0, 0);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* A port with the numbers of some set, or not. */
static int append_port_values(sd_bus_message *m, FuzzInput *in)
{
	uint64_t values[COUNTERS_MAX];
	size_t n = input_u8(in) % COUNTERS_MAX;
	int r = sd_bus_message_open_container(m, 'r', "ouattta{sv}");

	for (size_t i = 0; i < n; i++)
		values[i] = input_u64(in);
	if (r >= 0)
		r = sd_bus_message_append(m, "ou", choose_path(in), input_u8(in) % OBJECTS_MAX);
	if (r >= 0)
		r = sd_bus_message_append_array(m, 't', values, n * sizeof(*values));
	if (r >= 0)
		r = sd_bus_message_append(m, "tta{sv}", UINT64_C(1), UINT64_C(1), 2, "Missing",
					  "a{us}", 1, input_u8(in), "later", "Saturated", "au", 1,
					  input_u8(in));
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* The reply to GetCounters(). */
static int append_values(sd_bus_message *m, FuzzInput *in)
{
	int r = sd_bus_message_open_container(m, 'a', "(asasasa{sv})");

	for (size_t n = input_u8(in) % OBJECTS_MAX; r >= 0 && n > 0; n--)
		r = append_set(m, in);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(ouattta{sv})");
	for (size_t n = input_u8(in) % OBJECTS_MAX; r >= 0 && n > 0; n--)
		r = append_port_values(m, in);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static bool read_replies(Metrics *metrics, FuzzInput *in)
{
	sd_bus_message *objects = message_new(), *counters = message_new();
	bool good = objects && counters && append_objects(objects, in) >= 0 &&
		    append_values(counters, in) >= 0 && message_seal(objects) >= 0 &&
		    message_seal(counters) >= 0;
	int r;

	if (good) {
		FUZZ_CHECK(metrics_read_objects(metrics, objects) >= 0);
		r = metrics_read_counters(metrics, counters);
		FUZZ_CHECK(r >= 0 || r == -EBADMSG);
		good = r >= 0;
	}
	sd_bus_message_unref(objects);
	sd_bus_message_unref(counters);
	return good;
}

/* What follows the name of a sample: labels, a blank and a number. */
static void check_sample(const char *rest)
{
	bool quoted = false;

	for (; *rest && (quoted || *rest != ' '); rest++) {
		if (*rest == '"')
			quoted = !quoted;
		else if (quoted && *rest == '\\')
			FUZZ_CHECK(strchr("\\n\"", *++rest) && *rest);
	}
	FUZZ_CHECK(!quoted && *rest == ' ' && rest[1] &&
		   !rest[1 + strspn(rest + 1, "-.0123456789")]);
}

#define LINES_MAX 8192U

/* How much of LINE no other line may begin with: a sample without its number, a family without its
 * help. */
static size_t key_length(const char *line)
{
	if (startswith(line, "# HELP "))
		return strcspn(line + 7, " ") + 8;
	return streq(line, "# EOF") ? strlen(line) : (size_t)(strrchr(line, ' ') + 1 - line);
}

/* TEXT is changed. */
static void check_metrics(char *text, bool is_open)
{
	static const char *lines[LINES_MAX];
	const char *family = "";
	size_t n = 0;
	char *line;

	while ((line = strsep(&text, "\n")) && text) {
		const char *help = startswith(line, "# HELP ");

		FUZZ_CHECK(n < LINES_MAX);
		lines[n++] = line;
		if (help)
			family = help;
		if (line[0] == '#')
			continue;
		FUZZ_CHECK(strncmp(line, family, strcspn(family, " ")) == 0);
		check_sample(line + strcspn(line, "{ "));
	}
	FUZZ_CHECK(*line == '\0' && (!is_open || (n > 0 && streq(lines[n - 1], "# EOF"))));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			FUZZ_CHECK(strncmp(lines[i], lines[k], key_length(lines[i])) != 0);
}

/* The template of M gives what T has. */
static void check_template(const Metrics *m, MetricsFormat format, unsigned int flags,
			   const MetricsText *t)
{
	MetricsText is = {.format = format};
	MetricsTemplate *template = NULL;

	FUZZ_CHECK(metrics_template_renew(&template, m, format, flags) == 0);
	metrics_text_add_template(&is, template);
	FUZZ_CHECK(metrics_text_finish(&is) == 0);
	FUZZ_CHECK(is.size == t->size && memcmp(is.text, t->text, is.size) == 0);
	metrics_text_done(&is);
	metrics_template_free(template);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	Metrics *metrics = metrics_new();

	FUZZ_CHECK(metrics != NULL);
	if (read_replies(metrics, &in))
		for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++) {
			unsigned int flags =
				input_u8(&in) & 1 ? METRICS_NODE_EXPORTER : METRICS_UNAVAILABLE;
			MetricsText t = {.format = f};

			metrics_text_add(&t, metrics, flags);
			FUZZ_CHECK(metrics_text_finish(&t) == 0);
			check_template(metrics, f, flags, &t);
			check_metrics(t.text, f == METRICS_OPENMETRICS);
			metrics_text_done(&t);
		}
	metrics_free(metrics);
	return 0;
}
