/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-options.h"

#include "bus-shown.h"
#include "bus-walk.h"
#include "names.h"

/* "Unknown option "x": M takes none", or "... takes "a" and "b"". */
static int unknown_option(const char *key, const char *method, const BusOption *options, size_t n,
			  sd_bus_error *error)
{
	char takes[192] = "none";
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(takes); i++)
		used += (size_t)snprintf(takes + used, sizeof(takes) - used, "%s\"%s\"",
					 i == 0	     ? ""
					 : i + 1 < n ? ", "
						     : " and ",
					 options[i].name);
	return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
				 "Unknown option \"%s\": %s takes %s", BUS_SHOW(key), method,
				 takes);
}

void bus_texts_done(BusTexts *t)
{
	for (char **i = t->texts; i && *i; i++)
		free(*i);
	free(t->texts);
	t->texts = NULL;
}

/* Not by sd_bus_message_read_strv(): its time grows with the square of the number of texts. */
static int read_texts(sd_bus_message *m, const char *option, BusTexts *ret, sd_bus_error *error)
{
	_cleanup_(bus_texts_done) BusTexts t = {.texts = calloc(ret->max + 1U, sizeof(char *))};
	const char *text;
	int r;

	if (!t.texts)
		return -ENOMEM;
	r = sd_bus_message_enter_container(m, 'a', "s");
	if (r < 0)
		return r;
	for (unsigned int n = 0; (r = sd_bus_message_read_basic(m, 's', &text)) > 0; n++) {
		if (n == ret->max)
			return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
						 "\"%s\": more than %u %s", option, ret->max,
						 option);
		t.texts[n] = strdup(text);
		if (!t.texts[n])
			return -ENOMEM;
	}
	if (r < 0)
		return r;
	ret->texts = steal_pointer(&t.texts);
	return sd_bus_message_exit_container(m);
}

static int read_value(sd_bus_message *m, const BusOption *option, sd_bus_error *error)
{
	const char *contents = option->type == 'a' ? "as" : (const char[]){option->type, '\0'};
	int r = sd_bus_message_enter_container(m, 'v', contents);

	if (r < 0)
		return r;
	r = option->type == 'a' ? read_texts(m, option->name, option->value, error)
				: sd_bus_message_read_basic(m, option->type, option->value);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* The entry KEY. *SEEN has a bit for each option that has been read. */
static int read_option(sd_bus_message *m, const char *method, const char *key,
		       const BusOption *options, size_t n, uint64_t *seen, sd_bus_error *error)
{
	size_t i = 0;
	int r;

	while (i < n && !streq(options[i].name, key))
		i++;
	if (i == n)
		return unknown_option(key, method, options, n, error);
	/* a call that waits for its answer is kept, and so is not to be of any length */
	if (*seen >> i & 1)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
					 "Option \"%s\" is there twice", key);
	*seen |= UINT64_C(1) << i;
	r = read_value(m, &options[i], error);
	if (r == -ENXIO)
		return sd_bus_error_setf(
			error, RDMAD_ERROR_INVALID_OPTION, "Option \"%s\" takes a value of type %s",
			key, options[i].type == 'a' ? "as" : (const char[]){options[i].type, '\0'});
	return r;
}

int bus_read_options(sd_bus_message *m, const char *method, const BusOption *options, size_t n,
		     sd_bus_error *error)
{
	uint64_t seen = 0;
	const char *key;
	BusWalk w;
	int r = sd_bus_message_at_end(m, true);

	if (r != 0)
		return MIN(r, 0);
	w = bus_walk_pairs(m, "sv");
	while (bus_walk_named(&w, &key))
		w.r = read_option(m, method, key, options, n, &seen, error);
	return w.r;
}
