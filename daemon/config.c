/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <stdarg.h>

#include "config.h"
#include "port-name.h"
#include "util.h"

/* The longest interval that makes sense to anybody: a day. */
#define INTERVAL_MAX_SEC (24.0 * 3600)
/* Less is no rate at which anybody gets an answer, more is no limit. */
#define RATE_LEAST_MIB 0.1
#define RATE_MOST_MIB  1024.0

static int complain(char **ret_message, const char *path, const char *format, ...) _printf_(3, 4);

static int complain(char **ret_message, const char *path, const char *format, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&what, format, args);
	va_end(args);
	if (r < 0 || asprintf(ret_message, "%s: %s", path, what) < 0)
		return -ENOMEM;
	text_sanitize(*ret_message, strlen(*ret_message) + 1);
	return -EINVAL;
}

/* Seconds, with a fraction. */
static int parse_seconds(GKeyFile *file, const char *path, const char *key, double least,
			 bool zero_is_never, uint64_t *value, char **ret_message)
{
	g_autofree char *text = g_key_file_get_value(file, "Daemon", key, NULL);
	char *end;
	double seconds;

	if (!text)
		return 0;
	seconds = g_ascii_strtod(text, &end);
	if (end == text || *end || !(seconds >= 0 && seconds <= INTERVAL_MAX_SEC) ||
	    (seconds < least && !(zero_is_never && seconds == 0)))
		return complain(ret_message, path,
				"[Daemon] %s=%s: expected seconds from %g to %g%s", key, text,
				least, INTERVAL_MAX_SEC, zero_is_never ? ", or 0 for never" : "");
	*value = (uint64_t)(seconds * USEC_PER_SEC);
	return 0;
}

static int parse_rate(GKeyFile *file, const char *path, const char *key, uint64_t *value,
		      char **ret_message)
{
	g_autofree char *text = g_key_file_get_value(file, "Daemon", key, NULL);
	char *end;
	double rate;

	if (!text)
		return 0;
	rate = g_ascii_strtod(text, &end);
	if (end == text || *end ||
	    !(rate == 0 || (rate >= RATE_LEAST_MIB && rate <= RATE_MOST_MIB)))
		return complain(ret_message, path,
				"[Daemon] %s=%s: expected MiB from %g to %g, or 0 for no limit",
				key, text, RATE_LEAST_MIB, RATE_MOST_MIB);
	*value = (uint64_t)(rate * (1U << 20));
	return 0;
}

static int parse_boolean(GKeyFile *file, const char *path, const char *key, bool *value,
			 char **ret_message)
{
	g_autofree char *text = g_key_file_get_value(file, "Devices", key, NULL);

	if (!text)
		return 0;
	if (streq(text, "yes") || streq(text, "true"))
		*value = true;
	else if (streq(text, "no") || streq(text, "false"))
		*value = false;
	else
		return complain(ret_message, path, "[Devices] %s=%s: expected yes or no", key,
				text);
	return 0;
}

/* Names of WHAT, separated by semicolons. None is passed over: a device would be opened. */
static int parse_names(GKeyFile *file, const char *path, const char *group, const char *key,
		       const char *what, char ***ret, char **ret_message)
{
	g_autofree char *text = g_key_file_get_value(file, group, key, NULL);

	if (!text)
		return 0;
	*ret = g_key_file_get_string_list(file, group, key, NULL, NULL);
	if (!*ret || g_strv_contains((const char *const *)*ret, ""))
		return complain(ret_message, path,
				"[%s] %s=%s: expected names of %s with ';' between", group, key,
				text, what);
	return 0;
}

/* Names of ports. One that stands there twice counts once. */
static int parse_ports(GKeyFile *file, const char *path, const char *group, const char *key,
		       char ***ret, char **ret_message)
{
	unsigned int n = 0;
	int r = parse_names(file, path, group, key, "ports", ret, ret_message);

	if (r < 0)
		return r;
	for (char **name = *ret, **first; name && *name; name++) {
		if (!port_name_is_valid(*name))
			return complain(ret_message, path,
					"[%s] %s=: \"%s\": no name of a port, such as mlx5_0/1",
					group, key, *name);
		for (first = *ret; !streq(*first, *name);)
			first++;
		n += first == name;
		if (n > WAIT_PORTS_MAX)
			return complain(ret_message, path,
					"[%s] %s=: \"%s\": too many ports, %u at most", group, key,
					*name, WAIT_PORTS_MAX);
	}
	return 0;
}

/* Every group and key of the file is one that we know: a misspelt key must not be passed over. */
static int check_keys(GKeyFile *file, const char *path, char **ret_message)
{
	static const char *const known[][5] = {
		{"Daemon", "ReconcileIntervalSec", "QueryTimeoutSec", "LongReplyMiBPerSec", NULL},
		{"Devices", "HoldContexts", "NeverOpen", "Hbl", NULL},
		{"Wait", "Ports", NULL},
	};
	static const char *const expected[] = {
		"ReconcileIntervalSec, QueryTimeoutSec or LongReplyMiBPerSec",
		"HoldContexts, NeverOpen or Hbl", "Ports"};
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);

	for (char **group = groups; *group; group++) {
		g_auto(GStrv) keys = g_key_file_get_keys(file, *group, NULL, NULL);
		size_t k = 0;

		while (k < ARRAY_SIZE(known) && !streq(known[k][0], *group))
			k++;
		if (k == ARRAY_SIZE(known))
			return complain(ret_message, path,
					"[%s]: unknown group, expected [Daemon], [Devices] or "
					"[Wait]",
					*group);
		for (char **key = keys; *key; key++) {
			size_t i = 1;

			while (known[k][i] && !streq(known[k][i], *key))
				i++;
			if (!known[k][i])
				return complain(ret_message, path,
						"[%s] %s=: unknown key, expected %s", *group, *key,
						expected[k]);
		}
	}
	return 0;
}

int config_load(Config *c, const char *path, char **ret_message)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_auto(GStrv) never_open = NULL, wait_ports = NULL;
	g_autoptr(GError) error = NULL;
	Config n = *c;
	int r;

	if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error)) {
		if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			return -ENOENT;
		return complain(ret_message, path, "%s", error->message);
	}
	r = check_keys(file, path, ret_message);
	if (r < 0)
		return r;
	r = parse_seconds(file, path, "ReconcileIntervalSec", 1, true, &n.reconcile_usec,
			  ret_message);
	if (r < 0)
		return r;
	r = parse_seconds(file, path, "QueryTimeoutSec", 0.01, false, &n.query_timeout_usec,
			  ret_message);
	if (r < 0)
		return r;
	r = parse_rate(file, path, "LongReplyMiBPerSec", &n.long_reply_rate, ret_message);
	if (r < 0)
		return r;
	r = parse_boolean(file, path, "HoldContexts", &n.hold_contexts, ret_message);
	if (r < 0)
		return r;
	r = parse_boolean(file, path, "Hbl", &n.hbl, ret_message);
	if (r < 0)
		return r;
	r = parse_names(file, path, "Devices", "NeverOpen", "devices", &never_open, ret_message);
	if (r < 0)
		return r;
	r = parse_ports(file, path, "Wait", "Ports", &wait_ports, ret_message);
	if (r < 0)
		return r;
	config_done(c);
	*c = n;
	c->never_open = g_steal_pointer(&never_open);
	c->wait_ports = g_steal_pointer(&wait_ports);
	return 0;
}

void config_done(Config *c)
{
	g_strfreev(c->never_open);
	c->never_open = NULL;
	g_strfreev(c->wait_ports);
	c->wait_ports = NULL;
}
