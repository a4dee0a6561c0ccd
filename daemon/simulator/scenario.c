/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scenario.h"

#include "compat-glib.h"
#include "log.h"

struct Scenario {
	char *path;
	GPtrArray *sections;	     /* of ScenarioSection, in the order of the file; owns them */
	GHashTable *by_heading;	     /* heading, see heading_key() -> ScenarioSection */
	GHashTable *port_sections;   /* name as written -> GPtrArray of its [port] sections */
	GArray *devices;	     /* of ScenarioDevice */
	GHashTable *devices_by_name; /* name -> position in devices, plus 1 */
	GArray *steps;		     /* of ScenarioStep */
	uint32_t n_ports;	     /* of all devices together */
	uint32_t speed;		     /* of the script; 0: it says none */
	bool is_record;
};

static void setting_clear(void *p)
{
	Setting *setting = p;

	g_free(CONST_CAST(char *, setting->key));
	g_free(CONST_CAST(char *, setting->value));
}

static void section_free(void *p)
{
	ScenarioSection *section = p;

	g_array_unref(section->settings);
	g_hash_table_unref(section->keys);
	g_free(section->name);
	g_free(section);
}

static void device_clear(void *p)
{
	ScenarioDevice *d = p;

	g_free(d->name);
	g_free(d->word);
}

static void step_clear(void *p)
{
	g_strfreev(((ScenarioStep *)p)->words);
}

static Scenario *scenario_new(const char *path)
{
	Scenario *s = g_new0(Scenario, 1);

	s->path = g_strdup(path);
	s->sections = g_ptr_array_new_with_free_func(section_free);
	s->by_heading = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->port_sections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
						 (GDestroyNotify)g_ptr_array_unref);
	s->devices = g_array_new(false, false, sizeof(ScenarioDevice));
	g_array_set_clear_func(s->devices, device_clear);
	s->devices_by_name = g_hash_table_new(g_str_hash, g_str_equal);
	s->steps = g_array_new(false, false, sizeof(ScenarioStep));
	g_array_set_clear_func(s->steps, step_clear);
	return s;
}

void scenario_free(Scenario *s)
{
	if (!s)
		return;
	g_array_unref(s->devices);
	g_array_unref(s->steps);
	g_hash_table_unref(s->devices_by_name);
	g_hash_table_unref(s->port_sections);
	g_hash_table_unref(s->by_heading);
	g_ptr_array_unref(s->sections);
	g_free(s->path);
	g_free(s);
}

const char *scenario_path(const Scenario *s)
{
	return s->path;
}

const ScenarioDevice *scenario_devices(const Scenario *s, size_t *ret_n)
{
	*ret_n = s->devices->len;
	return (const ScenarioDevice *)(void *)s->devices->data;
}

const ScenarioStep *scenario_steps(const Scenario *s, size_t *ret_n)
{
	*ret_n = s->steps->len;
	return (const ScenarioStep *)(void *)s->steps->data;
}

const ScenarioDevice *scenario_find(const Scenario *s, const char *name)
{
	guint i = GPOINTER_TO_UINT(g_hash_table_lookup(s->devices_by_name, name));

	return i ? &g_array_index(s->devices, ScenarioDevice, i - 1) : NULL;
}

bool scenario_is_record(const Scenario *s)
{
	return s->is_record;
}

uint32_t scenario_port_count(const Scenario *s)
{
	return s->n_ports;
}

const GPtrArray *scenario_port_sections(const Scenario *s, const char *name)
{
	return g_hash_table_lookup(s->port_sections, name);
}

/* Sections */

/* The name of device NUMBER of a section: PATTERN, in which the first %d stands for NUMBER. The
 * caller frees it with g_free(). */
static char *device_name(const char *pattern, uint32_t number)
{
	g_autofree char *text = g_strdup_printf("%u", number);
	GString *name = g_string_new(pattern);

	g_string_replace(name, "%d", text, 1);
	return g_string_free(name, false);
}

/* The heading as the key under which its section is kept. */
static char *heading_key(const Heading *h)
{
	switch (h->kind) {
	case SECTION_DEVICE:
		return g_strdup_printf("device %s", h->name);
	case SECTION_PORT:
		return g_strdup_printf("port %s/%u", h->name, h->port);
	case SECTION_SCRIPT:
		break;
	}
	return g_strdup("script");
}

/* Adds a section to the scenario, which has none with this heading. */
static ScenarioSection *add_section(Scenario *s, const Heading *h, unsigned int line)
{
	ScenarioSection *section = g_new0(ScenarioSection, 1);
	GPtrArray *same;

	section->kind = h->kind;
	section->name = g_strdup(h->name);
	section->port = h->port;
	section->line = line;
	section->settings = g_array_new(false, false, sizeof(Setting));
	g_array_set_clear_func(section->settings, setting_clear);
	section->keys = g_hash_table_new(g_str_hash, g_str_equal);
	section->count = 1;
	section->ports = 1;
	section->index = SCENARIO_ANY_INDEX;
	section->present = true;
	g_ptr_array_add(s->sections, section);
	g_hash_table_insert(s->by_heading, heading_key(h), section);
	if (h->kind == SECTION_PORT) {
		same = g_hash_table_lookup(s->port_sections, section->name);
		if (!same) {
			same = g_ptr_array_new();
			g_hash_table_insert(s->port_sections, g_strdup(section->name), same);
		}
		g_ptr_array_add(same, section);
	}
	return section;
}

/* Makes the section of HEADING. */
static int new_section(Scenario *s, const char *heading, unsigned int line, ScenarioSection **ret,
		       char **ret_message)
{
	g_autofree char *text = g_strdup(heading), *key = NULL, *name = NULL;
	const ScenarioSection *before;
	Heading h;
	int r = heading_parse(text, &h, ret_message);

	if (r < 0)
		return r;
	if (h.kind != SECTION_SCRIPT) {
		AttrText device;

		name = device_name(h.name, 0);
		r = simulated_parse_name(name, device, ret_message);
		if (r < 0)
			return r;
	}
	key = heading_key(&h);
	before = g_hash_table_lookup(s->by_heading, key);
	if (before)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: is in line %u too, expected it once", heading,
				       before->line);
	*ret = add_section(s, &h, line);
	return 0;
}

/* Sets one of the keys that say how many devices a section makes, and which. 1 if KEY is such a
 * key, 0 if it is another. */
static int parse_device_key(ScenarioSection *section, const char *key, const char *value,
			    char **ret_message)
{
	uint64_t n = 0;
	int r = 0;

	if (streq(key, "present") || streq(key, "recorded")) {
		if (!streq(value, "yes") && !streq(value, "no"))
			return scenario_refuse(-EINVAL, ret_message,
					       "%s = %.100s: expected yes or no", key, value);
		*(*key == 'p' ? &section->present : &section->recorded) = streq(value, "yes");
		return 1;
	}
	if (streq(key, "count")) {
		r = simulated_parse_number(key, value, 1, SCENARIO_DEVICES_MAX, &n, ret_message);
		section->count = (uint32_t)n;
	} else if (streq(key, "ports")) {
		r = simulated_parse_number(key, value, 0, RDMA_PORT_MAX, &n, ret_message);
		section->ports = (uint32_t)n;
	} else if (streq(key, "index")) {
		r = simulated_parse_number(key, value, 0, INT32_MAX, &n, ret_message);
		section->index = (uint32_t)n;
	} else {
		return 0;
	}
	return r < 0 ? r : 1;
}

static int parse_setting(ScenarioSection *section, char *text, unsigned int line,
			 char **ret_message)
{
	char *key, *value;
	unsigned int before;
	int r = setting_parse(text, &key, &value, ret_message);

	if (r < 0)
		return r;
	before = GPOINTER_TO_UINT(g_hash_table_lookup(section->keys, key));
	if (before)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: is set in line %u too, expected it once", key,
				       before);
	if (section->kind == SECTION_DEVICE) {
		r = parse_device_key(section, key, value, ret_message);
		if (r < 0)
			return r;
		if (r > 0)
			return 0;
	}
	g_array_append_vals(section->settings, &(Setting){g_strdup(key), g_strdup(value), line}, 1);
	key = CONST_CAST(char *,
			 g_array_index(section->settings, Setting, section->settings->len - 1).key);
	g_hash_table_insert(section->keys, key, GUINT_TO_POINTER(line));
	return 0;
}

/* The script */

static int add_step(Scenario *s, char *text, unsigned int line, char **ret_message)
{
	ScenarioStep step;
	ScriptLine parsed;
	int r;

	if (s->steps->len == SCENARIO_STEPS_MAX)
		return scenario_refuse(-EINVAL, ret_message, "too many steps, expected at most %u",
				       SCENARIO_STEPS_MAX);
	r = script_line_parse(text, &parsed, ret_message);
	if (r < 0)
		return r;
	step = (ScenarioStep){parsed.at_usec, parsed.every_usec, g_strdupv(parsed.command.words),
			      line};
	g_array_append_val(s->steps, step);
	return 0;
}

/* Sets how many times quicker than they are written the steps happen: VALUE. */
static int parse_speed(Scenario *s, const char *value, char **ret_message)
{
	uint64_t n;
	int r;

	if (s->speed)
		return scenario_refuse(-EINVAL, ret_message,
				       "speed: is set before too, expected it once");
	r = simulated_parse_number("speed", value, 1, SCENARIO_SPEED_MAX, &n, ret_message);
	if (r < 0)
		return r;
	s->speed = (uint32_t)n;
	return 0;
}

static int parse_script_line(Scenario *s, char *text, unsigned int line, char **ret_message)
{
	const char *speed = script_speed(text);

	return speed ? parse_speed(s, speed, ret_message) : add_step(s, text, line, ret_message);
}

/* Has STEP happen SPEED (at least 1) times quicker. */
static int hurry_step(ScenarioStep *step, uint32_t speed, char **ret_message)
{
	if (step->every_usec && step->every_usec / speed < SCENARIO_EVERY_MIN_USEC)
		return scenario_refuse(-EINVAL, ret_message,
				       "every: too often with speed = %u, expected %ums or more",
				       speed, speed);
	step->at_usec /= speed;
	step->every_usec /= speed;
	return 0;
}

/* After the last line, because the speed may stand behind steps; and when they are in order, which
 * stays also if times become equal. */
static int hurry_steps(Scenario *s, unsigned int *ret_line, char **ret_message)
{
	for (guint i = 0; s->speed && i < s->steps->len; i++) {
		ScenarioStep *step = &g_array_index(s->steps, ScenarioStep, i);
		int r;

		*ret_line = step->line;
		r = hurry_step(step, s->speed, ret_message);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_steps(const void *a, const void *b)
{
	const ScenarioStep *x = a, *y = b;

	return x->at_usec < y->at_usec ? -1 : x->at_usec > y->at_usec;
}

/* The file */

static int parse_line(Scenario *s, char *text, unsigned int line, ScenarioSection **section,
		      char **ret_message)
{
	text = text_trim(text);
	if (!*text || *text == '#')
		return 0;
	if (*text == '[')
		return new_section(s, text, line, section, ret_message);
	if (!*section)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected a section such as [device NAME] before",
				       text);
	if ((*section)->kind == SECTION_SCRIPT)
		return parse_script_line(s, text, line, ret_message);
	return parse_setting(*section, text, line, ret_message);
}

/* Adds device NUMBER of a [device] section. */
static int add_device(Scenario *s, const ScenarioSection *section, uint32_t number,
		      char **ret_message)
{
	g_autofree char *word = device_name(section->name, number);
	ScenarioDevice d = {.section = section,
			    .number = number,
			    .first_port = s->n_ports,
			    .index = section->index,
			    .present = section->present,
			    .line = section->line};
	const ScenarioDevice *same;
	AttrText name;
	int r;

	if (d.index != SCENARIO_ANY_INDEX)
		d.index += number;
	if (s->devices->len == SCENARIO_DEVICES_MAX ||
	    s->n_ports + section->ports > SCENARIO_PORTS_MAX)
		return scenario_refuse(-EINVAL, ret_message,
				       "[device %s]: too many, expected at most %u devices and %u "
				       "ports",
				       section->name, SCENARIO_DEVICES_MAX, SCENARIO_PORTS_MAX);
	r = simulated_parse_name(word, name, ret_message);
	if (r < 0)
		return r;
	same = scenario_find(s, name);
	if (same)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: is made in line %u too, expected another name", name,
				       same->line);
	d.name = g_strdup(name);
	d.word = g_steal_pointer(&word);
	g_array_append_val(s->devices, d);
	g_hash_table_insert(s->devices_by_name, d.name, GUINT_TO_POINTER(s->devices->len));
	s->n_ports += section->ports;
	s->is_record |= section->recorded;
	return 0;
}

/* Adds the devices of a [device] section. */
static int add_devices(Scenario *s, const ScenarioSection *section, char **ret_message)
{
	if (section->count > 1 && !strstr(section->name, "%d"))
		return scenario_refuse(-EINVAL, ret_message,
				       "[device %s]: count = %u, expected %%d in the name",
				       section->name, section->count);
	for (uint32_t i = 0; i < section->count; i++) {
		int r = add_device(s, section, i, ret_message);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether the ports of a [port] section exist. */
static int check_port_section(const Scenario *s, const ScenarioSection *section, char **ret_message)
{
	g_autofree char *heading = g_strdup_printf("device %s", section->name);
	const ScenarioSection *device = g_hash_table_lookup(s->by_heading, heading);
	const ScenarioDevice *one;
	AttrText name;

	if (!device && simulated_parse_name(section->name, name, ret_message) < 0)
		return -EINVAL;
	one = device ? NULL : scenario_find(s, name);
	if (one)
		device = one->section;
	if (!device)
		return scenario_refuse(-EINVAL, ret_message,
				       "[port %s/...]: expected a section [device %s] too",
				       section->name, section->name);
	if (section->port > device->ports)
		return scenario_refuse(-EINVAL, ret_message,
				       "[port %s/%u]: expected a port from 1 to %u", section->name,
				       section->port, device->ports);
	return 0;
}

static int parse_text(Scenario *s, char *text, size_t size, unsigned int *ret_line,
		      char **ret_message)
{
	ScenarioSection *section = NULL;
	unsigned int line = 0;
	int r;

	for (char *p = text, *end; p < text + size; p = end + 1) {
		end = memchr(p, '\n', (size_t)(text + size - p));
		if (!end)
			end = text + size; /* where read_file() has put a 0 */
		*ret_line = ++line;
		*end = '\0';
		if (end - p > SCENARIO_LINE_MAX)
			return scenario_refuse(-EINVAL, ret_message,
					       "too long, expected at most %u bytes",
					       SCENARIO_LINE_MAX);
		if (strlen(p) != (size_t)(end - p))
			return scenario_refuse(-EINVAL, ret_message, "has a byte 0, expected text");
		r = parse_line(s, p, line, &section, ret_message);
		if (r < 0)
			return r;
	}
	for (guint i = 0; i < s->sections->len; i++) {
		section = g_ptr_array_index(s->sections, i);
		*ret_line = section->line;
		r = section->kind == SECTION_DEVICE ? add_devices(s, section, ret_message) : 0;
		if (r < 0)
			return r;
	}
	for (guint i = 0; i < s->sections->len; i++) {
		section = g_ptr_array_index(s->sections, i);
		*ret_line = section->line;
		r = section->kind == SECTION_PORT ? check_port_section(s, section, ret_message) : 0;
		if (r < 0)
			return r;
	}
	/* steps of one time stay in the order of the file */
	g_array_sort(s->steps, compare_steps);
	return hurry_steps(s, ret_line, ret_message);
}

/* How much of the record TEXT is whole. A crash may have cut its last line, or have left zeros
 * where lines were to be. */
static size_t whole_lines(const char *text, size_t size)
{
	const char *zero = memchr(text, '\0', size);

	size = zero ? (size_t)(zero - text) : size;
	while (size > 0 && text[size - 1] != '\n')
		size--;
	return size;
}

int scenario_load(const char *path, Scenario **ret, char **ret_message)
{
	_cleanup_(scenario_free_pointer) Scenario *s = NULL;
	_cleanup_free_ char *text = NULL, *what = NULL;
	unsigned int line = 0;
	size_t size = 0, whole;
	int r = text_read_file(path, SCENARIO_FILE_MAX, &text, &size);

	if (r == -EFBIG)
		return scenario_refuse(r, ret_message, "%s: too large, expected at most %u bytes",
				       path, SCENARIO_FILE_MAX);
	if (r < 0)
		return scenario_refuse(r, ret_message, "%s: %s", path, strerror(-r));

	s = scenario_new(path);
	/* before it is cut into lines; a record of no device begins so too */
	s->is_record = startswith(text, "# rdmad record ");
	whole = s->is_record ? whole_lines(text, size) : size;
	if (whole < size)
		log_warning("%s: the end of the record is cut: %zu bytes behind its last whole "
			    "line are left out",
			    path, size - whole);
	r = parse_text(s, text, whole, &line, &what);
	if (r < 0)
		return what ? scenario_refuse(r, ret_message, "%s:%u: %s", path, line, what) : r;
	*ret = steal_pointer(&s);
	return 0;
}
