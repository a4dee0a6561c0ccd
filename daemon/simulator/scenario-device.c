/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes one simulated device, with its ports, of the sections of a scenario. */

#include "compat-glib.h"
#include "recorded-values.h"
#include "scenario.h"

/* All settings of one device or port. Of several with one key the last one counts: those of a more
 * general section stand before those of a more special one. */
typedef struct Settings {
	GArray *array;	     /* of Setting */
	GStringChunk *texts; /* owns the values that %d and %p were replaced in */
} Settings;

static void settings_done(Settings *s)
{
	g_array_unref(s->array);
	g_string_chunk_free(s->texts);
}

/* VALUE with the number of the device in place of %d, and that of the port in place of %p. */
static const char *substitute(Settings *to, const char *value, uint32_t device, uint32_t port)
{
	g_autofree char *device_text = NULL, *port_text = NULL;
	g_autoptr(GString) text = NULL;

	if (!strchr(value, '%'))
		return value;
	text = g_string_new(value);
	device_text = g_strdup_printf("%u", device);
	port_text = g_strdup_printf("%u", port);
	g_string_replace(text, "%d", device_text, 0);
	g_string_replace(text, "%p", port_text, 0);
	return g_string_chunk_insert(to->texts, text->str);
}

static void gather(Settings *to, const Setting *from, size_t n, uint32_t device, uint32_t port)
{
	for (size_t i = 0; i < n; i++) {
		Setting setting = from[i];

		setting.value = substitute(to, setting.value, device, port);
		g_array_append_val(to->array, setting);
	}
}

static void gather_section(Settings *to, const ScenarioSection *from, uint32_t device,
			   uint32_t port)
{
	gather(to, (const Setting *)(void *)from->settings->data, from->settings->len, device,
	       port);
}

static void gather_port_sections(const Scenario *s, Settings *to, const char *name, uint32_t device,
				 uint32_t port)
{
	const GPtrArray *sections = scenario_port_sections(s, name);

	for (unsigned int special = 0; sections && special < 2; special++)
		for (guint i = 0; i < sections->len; i++) {
			const ScenarioSection *section = g_ptr_array_index(sections, i);

			if (section->port == (special ? port : 0))
				gather_section(to, section, device, port);
		}
}

/* Takes the first setting of KEY out of the others; false if there is none. */
static bool take(Settings *s, const char *key, Setting *ret)
{
	for (guint i = 0; i < s->array->len; i++) {
		*ret = g_array_index(s->array, Setting, i);
		if (streq(ret->key, key)) {
			g_array_remove_index(s->array, i);
			return true;
		}
	}
	return false;
}

/* Takes "protocol = " out of the settings, the last of which counts; *RET stays if there is none.
 */
static int take_protocol(Settings *s, AttrProtocol *ret, unsigned int *ret_line, char **ret_message)
{
	Setting setting;
	int r = 0;

	while (r == 0 && take(s, "protocol", &setting)) {
		*ret_line = setting.line;
		r = simulated_parse_protocol(setting.value, ret, ret_message);
	}
	return r;
}

/* Takes "recorded = yes" out of the settings, which a command has; in the file this is a key of the
 * section. */
static bool take_recorded(Settings *s)
{
	for (guint i = 0; i < s->array->len; i++) {
		const Setting *setting = &g_array_index(s->array, Setting, i);

		if (streq(setting->key, "recorded") && streq(setting->value, "yes")) {
			g_array_remove_index(s->array, i);
			return true;
		}
	}
	return false;
}

/* Takes "ports = " out of the settings; *RET stays if there is none. In the file this is a key of
 * the section, so what is left is that of a command. */
static int take_ports(Settings *s, uint32_t *ret, char **ret_message)
{
	Setting setting;
	uint64_t n = *ret;
	int r = 0;

	while (r == 0 && take(s, "ports", &setting))
		r = simulated_parse_number("ports", setting.value, 0, RDMA_PORT_MAX, &n,
					   ret_message);
	*ret = (uint32_t)n;
	return r;
}

static int make_port(const Scenario *s, const DeviceRecipe *recipe, SimulatedDevice *d,
		     uint32_t number, unsigned int *ret_line, char **ret_message)
{
	const ScenarioDevice *like = recipe->like;
	_cleanup_(settings_done)
		Settings settings = {.array = g_array_new(false, false, sizeof(Setting)),
				     .texts = g_string_chunk_new(256)};
	_cleanup_(port_edit_discard) PortEdit edit;
	unsigned int section_line = like ? like->line : 0;
	int r;

	port_edit_begin(&edit, &d->ports[number - 1]);
	if (like) {
		gather_port_sections(s, &settings, like->section->name, like->number, number);
		if (!streq(like->section->name, like->word))
			gather_port_sections(s, &settings, like->word, like->number, number);
	}
	r = take_protocol(&settings, &d->ports[number - 1].protocol, ret_line, ret_message);
	if (r < 0)
		return r;
	r = port_edit_defaults(&edit, d);
	if (r < 0)
		return r;
	r = port_edit_apply(&edit, (const Setting *)(void *)settings.array->data,
			    settings.array->len, ret_line, ret_message);
	if (r < 0)
		return r;
	*ret_line = section_line;
	r = port_edit_complete(&edit, d);
	if (r == 0)
		r = port_edit_finish(&edit, ret_message);
	if (r == 0)
		port_edit_commit(&edit);
	return r;
}

int scenario_make_device(const Scenario *s, const DeviceRecipe *recipe, SimulatedDevice **ret,
			 unsigned int *ret_line, char **ret_message)
{
	const ScenarioDevice *like = recipe->like;
	_cleanup_(simulated_device_free_pointer) SimulatedDevice *d = NULL;
	_cleanup_(settings_done)
		Settings settings = {.array = g_array_new(false, false, sizeof(Setting)),
				     .texts = g_string_chunk_new(256)};
	AttrProtocol protocol = PROTOCOL_UNKNOWN;
	uint32_t ports = like ? like->section->ports : 1;
	bool recorded;
	int r;

	if (like)
		gather_section(&settings, like->section, like->number, 0);
	gather(&settings, recipe->settings, recipe->n_settings, like ? like->number : 0, 0);

	*ret_line = like ? like->line : 0;
	r = take_protocol(&settings, &protocol, ret_line, ret_message);
	if (r < 0)
		return r;
	recorded = take_recorded(&settings) || (like && like->section->recorded);
	if (protocol == PROTOCOL_UNKNOWN && !recorded)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: expected protocol = infiniband, roce, iwarp or opa",
				       recipe->name);
	r = take_ports(&settings, &ports, ret_message);
	if (r < 0)
		return r;
	d = recorded ? simulated_device_new_recorded(recipe->name, ports)
		     : simulated_device_new(recipe->name, protocol, ports, like ? like->number : 0,
					    recipe->first_port);
	if (!d)
		return -ENOMEM;
	for (guint i = 0; i < settings.array->len; i++) {
		const Setting *setting = &g_array_index(settings.array, Setting, i);

		*ret_line = setting->line;
		r = recorded ? recorded_device_set(&d->now, setting->key, setting->value,
						   ret_message)
			     : simulated_device_set(&d->now, setting->key, setting->value,
						    ret_message);
		if (r < 0)
			return r;
	}
	for (uint32_t n = 1; n <= ports; n++) {
		r = make_port(s, recipe, d, n, ret_line, ret_message);
		if (r < 0)
			return r;
	}
	*ret = steal_pointer(&d);
	return 0;
}
