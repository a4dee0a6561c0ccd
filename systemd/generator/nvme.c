/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <json-c/json.h>
#include <limits.h>

#include "generator.h"
#include "order.h"
#include "util.h"

/* The unit of nvme-cli that connects what its two files name */
#define AUTOCONNECT "nvmf-autoconnect.service"

#define FILE_SIZE_MAX (1024 * 1024)
#define DEPTH_MAX     16

/* An interface says which port it is, and so does an address of this machine. Without both, the
 * unit waits for what is configured. */
static int order(const char *directory, const char *interface, const char *address)
{
	const char *port = interface && *interface ? interface : address && *address ? address : NULL;
	int r = order_write(directory, AUTOCONNECT, port);

	if (r < 0)
		fprintf(stderr, AUTOCONNECT " does not wait for %s: %s\n",
			port ?: "the configured ports", strerror(-r));
	return r;
}

/* The value of an option of nvme-connect-all(1) if WORD is that option: "--transport=rdma",
 * "-trdma", or the next word. */
static const char *option(char *word, const char *name, char letter, char **rest)
{
	const char *value;

	if (word[0] != '-')
		return NULL;
	if (word[1] == '-') {
		value = startswith(word + 2, name);
		if (!value || (*value && *value != '='))
			return NULL;
		if (*value == '=')
			return value + 1;
	} else {
		if (word[1] != letter)
			return NULL;
		if (word[2])
			return word + 2 + (word[2] == '=');
	}
	return strtok_r(NULL, " \t", rest);
}

static int read_discovery_line(char *line, const char *directory)
{
	const char *transport = NULL, *interface = NULL, *address = NULL, *value;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \t", &rest); word && *word != '#';
	     word = strtok_r(NULL, " \t", &rest)) {
		if ((value = option(word, "transport", 't', &rest)))
			transport = value;
		else if ((value = option(word, "host-iface", 'f', &rest)))
			interface = value;
		else if ((value = option(word, "host-traddr", 'w', &rest)))
			address = value;
	}
	return transport && streq(transport, "rdma") ? order(directory, interface, address) : 0;
}

static int read_discovery(char *text, const char *directory)
{
	char *rest = NULL;
	int r = 0, q;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		q = read_discovery_line(line, directory);
		if (r == 0)
			r = q;
	}
	return r;
}

static const char *member(struct json_object *o, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(o, name, &value) &&
			       json_object_is_type(value, json_type_string)
		       ? json_object_get_string(value)
		       : NULL;
}

/* The ports are objects in lists that versions of nvme-cli nest differently: each object with a
 * transport is one. */
static int visit(struct json_object *o, const char *directory)
{
	const char *transport;
	int r = 0, q;

	if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++) {
			q = visit(json_object_array_get_idx(o, i), directory);
			if (r == 0)
				r = q;
		}
	} else if (json_object_is_type(o, json_type_object)) {
		transport = member(o, "transport");
		if (transport && streq(transport, "rdma"))
			r = order(directory, member(o, "host_iface"), member(o, "host_traddr"));
		json_object_object_foreach(o, name, value)
		{
			(void)name;
			q = visit(value, directory);
			if (r == 0)
				r = q;
		}
	}
	return r;
}

static int read_config(const char *text, const char *directory)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *o = NULL;
	int r = -ENOMEM;

	if (tokener) {
		o = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
		r = o ? visit(o, directory) : -EBADMSG;
		json_tokener_free(tokener);
	}
	json_object_put(o);
	return r;
}

int nvme_read(const char *directory_of_nvme, const char *directory)
{
	static const char *const NAMES[] = {"discovery.conf", "config.json"};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		_cleanup_free_ char *text = NULL;
		char path[PATH_MAX];
		size_t size;
		int r;

		if (snprintf(path, sizeof(path), "%s/%s", directory_of_nvme, NAMES[i]) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		r = text_read_file(path, FILE_SIZE_MAX, &text, &size);
		if (r == -ENOENT)
			continue;
		if (r == 0)
			r = i == 0 ? read_discovery(text, directory) : read_config(text, directory);
		if (r < 0)
			fprintf(stderr, "%s: %s\n", path, strerror(-r));
		if (result == 0)
			result = r;
	}
	return result;
}
