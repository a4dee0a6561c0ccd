/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <glib.h>
#include <stdarg.h>

#include "port-name.h"

typedef struct Key Key;

/*
 * How a value of one type is read and freed. read() sets the field at FIELD from TEXT, the value of
 * key K in FILE. -EINVAL: it is none, and *RET_WHY says what follows "[GROUP] KEY=" in the message.
 * free() is NULL if a value owns nothing.
 */
typedef struct KeyType {
	int (*read)(const Key *k, GKeyFile *file, const char *text, void *field, char **ret_why);
	void (*free)(void *field);
} KeyType;

struct Key {
	const char *group, *key;
	const KeyType *type;
	size_t offset; /* of the field in Config */
	struct {
		double least, most;
		const char *zero; /* what 0 stands for, NULL: 0 is not taken */
	} limits;
};

static int explain(char **ret, const char *format, ...) _printf_(2, 3);

/* Writes what is wrong. Returns -EINVAL, or -ENOMEM. */
static int explain(char **ret, const char *format, ...)
{
	va_list args;
	char *text;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	if (r < 0)
		return -ENOMEM;
	*ret = text;
	return -EINVAL;
}

static int read_number(const Key *k, const char *text, const char *unit, double factor,
		       uint64_t *field, char **ret_why)
{
	const char *zero = k->limits.zero;
	char *end;
	double number = g_ascii_strtod(text, &end);

	if (end == text || *end ||
	    !((zero && number == 0) || (number >= k->limits.least && number <= k->limits.most)))
		return explain(ret_why, "%s: expected %s from %g to %g%s%s", text, unit,
			       k->limits.least, k->limits.most, zero ? ", or 0 for " : "",
			       zero ? zero : "");
	*field = (uint64_t)(number * factor);
	return 0;
}

static int read_seconds(const Key *k, _unused_ GKeyFile *file, const char *text, void *field,
			char **ret_why)
{
	return read_number(k, text, "seconds", USEC_PER_SEC, field, ret_why);
}

static int read_mib(const Key *k, _unused_ GKeyFile *file, const char *text, void *field,
		    char **ret_why)
{
	return read_number(k, text, "MiB", 1U << 20, field, ret_why);
}

static int read_boolean(_unused_ const Key *k, _unused_ GKeyFile *file, const char *text,
			void *field, char **ret_why)
{
	bool yes = streq(text, "yes") || streq(text, "true");

	if (!yes && !streq(text, "no") && !streq(text, "false"))
		return explain(ret_why, "%s: expected yes or no", text);
	*(bool *)field = yes;
	return 0;
}

/* Names of WHAT. An empty one is an error: without the name that was meant, a device is opened. */
static int read_names(const Key *k, GKeyFile *file, const char *text, const char *what, char ***ret,
		      char **ret_why)
{
	g_auto(GStrv) names = g_key_file_get_string_list(file, k->group, k->key, NULL, NULL);

	if (!names || g_strv_contains((const char *const *)names, ""))
		return explain(ret_why, "%s: expected names of %s with ';' between", text, what);
	*ret = g_steal_pointer(&names);
	return 0;
}

static int read_devices(const Key *k, GKeyFile *file, const char *text, void *field, char **ret_why)
{
	return read_names(k, file, text, "devices", field, ret_why);
}

/* A port that is named twice counts once. */
static int read_ports(const Key *k, GKeyFile *file, const char *text, void *field, char **ret_why)
{
	g_auto(GStrv) names = NULL;
	unsigned int n = 0;
	int r = read_names(k, file, text, "ports", &names, ret_why);

	if (r < 0)
		return r;
	for (char **name = names, **first; *name; name++) {
		if (!port_name_is_valid(*name))
			return explain(ret_why, ": \"%s\": no name of a port, such as mlx5_0/1",
				       *name);
		for (first = names; !streq(*first, *name);)
			first++;
		n += first == name;
		if (n > WAIT_PORTS_MAX)
			return explain(ret_why, ": \"%s\": too many ports, %u at most", *name,
				       WAIT_PORTS_MAX);
	}
	*(char ***)field = g_steal_pointer(&names);
	return 0;
}

static void free_names(void *field)
{
	char ***names = field;

	g_strfreev(*names);
	*names = NULL;
}

static const KeyType seconds_type = {read_seconds, NULL};
static const KeyType mib_type = {read_mib, NULL};
static const KeyType boolean_type = {read_boolean, NULL};
static const KeyType devices_type = {read_devices, free_names};
static const KeyType ports_type = {read_ports, free_names};

#define ROW(group_, key_, type_, field, initial, ...)                                              \
	{.group = #group_,                                                                         \
	 .key = #key_,                                                                             \
	 .type = &type_##_type,                                                                    \
	 .offset = offsetof(Config, field),                                                        \
	 .limits = {__VA_ARGS__}},
static const Key keys[] = {CONFIG_KEYS(ROW)};

/* The row of KEY, or the first of GROUP if KEY is NULL; NULL if there is none. */
static const Key *find_key(const char *group, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (streq(keys[i].group, group) && (!key || streq(keys[i].key, key)))
			return &keys[i];
	return NULL;
}

/* The keys of GROUP, or all groups if GROUP is NULL, as "A, B or C". */
static char *expected(const char *group)
{
	const char *words[ARRAY_SIZE(keys)];
	GString *text = g_string_new(NULL);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (group ? streq(keys[i].group, group) : find_key(keys[i].group, NULL) == &keys[i])
			words[n++] = group ? keys[i].key : keys[i].group;
	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, group ? "%s%s" : "%s[%s]",
				       i == 0	   ? ""
				       : i < n - 1 ? ", "
						   : " or ",
				       words[i]);
	return g_string_free(text, FALSE);
}

/* Each group and key of the file has a row: a misspelt key must not be passed over. */
static int check_keys(GKeyFile *file, char **ret_why)
{
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);

	for (char **group = groups; *group; group++) {
		const char *known = find_key(*group, NULL) ? *group : NULL;
		g_autofree char *list = expected(known);
		g_auto(GStrv) names = g_key_file_get_keys(file, *group, NULL, NULL);

		if (!known)
			return explain(ret_why, "[%s]: unknown group, expected %s", *group, list);
		for (char **name = names; *name; name++)
			if (!find_key(*group, *name))
				return explain(ret_why, "[%s] %s=: unknown key, expected %s",
					       *group, *name, list);
	}
	return 0;
}

static int read_key(Config *c, GKeyFile *file, const Key *k, char **ret_why)
{
	g_autofree char *text = g_key_file_get_value(file, k->group, k->key, NULL);
	_cleanup_free_ char *why = NULL;
	int r;

	if (!text)
		return 0;
	r = k->type->read(k, file, text, (char *)c + k->offset, &why);
	return r == -EINVAL ? explain(ret_why, "[%s] %s=%s", k->group, k->key, why) : r;
}

static int read_file(Config *c, const char *path, char **ret_why)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) error = NULL;
	int r;

	if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error)) {
		if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			return -ENOENT;
		return explain(ret_why, "%s", error->message);
	}
	r = check_keys(file, ret_why);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		r = read_key(c, file, &keys[i], ret_why);
	return r;
}

int config_load(Config *c, const char *path, char **ret_message)
{
	Config read = CONFIG_DEFAULT;
	_cleanup_free_ char *why = NULL;
	int r = read_file(&read, path, &why);

	if (r == 0) {
		config_done(c);
		*c = read;
		return 0;
	}
	config_done(&read);
	if (r == -EINVAL)
		r = explain(ret_message, "%s: %s", path, why);
	if (r == -EINVAL)
		text_sanitize(*ret_message, strlen(*ret_message) + 1);
	return r;
}

void config_done(Config *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].type->free)
			keys[i].type->free((char *)c + keys[i].offset);
}
