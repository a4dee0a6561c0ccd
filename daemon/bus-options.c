/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-options.h"

#include "names.h"
#include "util.h"

/* "Unknown option "x": M takes none", or "... takes "a" and "b"". */
static int unknown_option(const char *key, const char *method, const BusOption *options, size_t n,
			  sd_bus_error *error)
{
	char takes[128] = "none";
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(takes); i++)
		used += (size_t)snprintf(takes + used, sizeof(takes) - used, "%s\"%s\"",
					 i == 0	     ? ""
					 : i + 1 < n ? ", "
						     : " and ",
					 options[i].name);
	return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
				 "Unknown option \"%s\": %s takes %s", key, method, takes);
}

/* One entry, which has been entered. */
static int read_option(sd_bus_message *m, const char *method, const BusOption *options, size_t n,
		       sd_bus_error *error)
{
	const BusOption *option = NULL;
	const char *key;
	int r = sd_bus_message_read_basic(m, 's', &key);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (streq(options[i].name, key))
			option = &options[i];
	if (!option)
		return unknown_option(key, method, options, n, error);
	r = sd_bus_message_enter_container(m, 'v', (const char[]){option->type, '\0'});
	if (r == -ENXIO)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
					 "Option \"%s\" takes a value of type %c", key,
					 option->type);
	if (r < 0)
		return r;
	r = sd_bus_message_read_basic(m, option->type, option->value);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int bus_read_options(sd_bus_message *m, const char *method, const BusOption *options, size_t n,
		     sd_bus_error *error)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_option(m, method, options, n, error);
		if (r < 0)
			return r;
		r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}
