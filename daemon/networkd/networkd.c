/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "networkd.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "util.h"

/* The answer has its systems in arrays that are this deep, and its numbers one deeper. */
#define DEPTH_MAX 8

/* Its end, a zero, ends it on the wire too. */
static const char question[] = "{\"method\":\"io.systemd.Network.GetLLDPNeighbors\"}";

DEFINE_CLEANUP(json_tokener, json_tokener_free);
DEFINE_CLEANUP(json_object, json_object_put);

static json_object *member(const json_object *object, const char *name, json_type type)
{
	json_object *value = NULL;

	if (json_object_is_type(object, json_type_object) &&
	    json_object_object_get_ex(object, name, &value) && json_object_is_type(value, type))
		return value;
	return NULL;
}

static void take_text(const json_object *system, const char *name, AttrText ret)
{
	json_object *text = member(system, name, json_type_string);

	text_copy_clean(ret, sizeof(AttrText), text ? json_object_get_string(text) : "");
}

static void take_system(const json_object *system, Neighbor *n)
{
	int64_t vlan = json_object_get_int64(member(system, "VlanID", json_type_int));

	take_text(system, "SystemName", n->system);
	take_text(system, "PortID", n->port);
	take_text(system, "PortDescription", n->port_text);
	take_text(system, "ChassisID", n->chassis);
	n->vlan = vlan > 0 && vlan <= (int64_t)VLAN_MAX ? (uint32_t)vlan : 0;
}

static bool is_before(const Neighbor *a, const Neighbor *b)
{
	int by_chassis = strcmp(a->chassis, b->chassis);

	return by_chassis ? by_chassis < 0 : strcmp(a->port, b->port) < 0;
}

static int tell_interface(const json_object *interface, uint64_t now_usec, OnNeighbor on,
			  void *for_whom)
{
	json_object *name = member(interface, "InterfaceName", json_type_string);
	json_object *systems = member(interface, "Neighbors", json_type_array);
	Neighbor n = {.pfc = -1, .ets = UINT64_MAX, .since_usec = now_usec}, first = n;
	size_t n_systems = systems ? json_object_array_length(systems) : 0;

	if (!name || n_systems == 0 || strlen(json_object_get_string(name)) >= sizeof(n.interface))
		return 0;
	for (size_t i = 0; i < n_systems; i++) {
		take_system(json_object_array_get_idx(systems, i), &n);
		if (i == 0 || is_before(&n, &first))
			first = n;
	}
	text_copy_clean(first.interface, sizeof(first.interface), json_object_get_string(name));
	return on(for_whom, &first);
}

int networkd_parse(const char *answer, size_t n, uint64_t now_usec, OnNeighbor on, void *for_whom)
{
	_cleanup_(json_tokener_free_pointer) json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	_cleanup_(json_object_put_pointer) json_object *object = NULL;
	json_object *error, *interfaces;
	int r = 0;

	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, answer, (int)n);
	error = member(object, "error", json_type_string);
	if (error)
		return streq(json_object_get_string(error), "org.varlink.service.MethodNotFound")
			       ? 0
			       : -EIO;
	interfaces = member(member(object, "parameters", json_type_object), "Neighbors",
			    json_type_array);
	if (!interfaces)
		return -EBADMSG;
	for (size_t i = 0; i < json_object_array_length(interfaces) && r >= 0; i++)
		r = tell_interface(json_object_array_get_idx(interfaces, i), now_usec, on,
				   for_whom);
	return r;
}

static int connect_to(const char *path, int *ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	text_copy(address.sun_path, sizeof(address.sun_path), path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	*ret = steal_fd(&fd);
	return 0;
}

/* Reads one message into BUFFER, and returns its length. */
static ssize_t receive(int fd, char *buffer, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t r = read(fd, buffer + n, size - n);
		const char *end;

		if (r <= 0)
			return r < 0 ? -errno : -ECONNRESET;
		end = memchr(buffer + n, '\0', (size_t)r);
		n += (size_t)r;
		if (end)
			return end - buffer;
	}
	return -EMSGSIZE;
}

int networkd_read(const char *socket, OnNeighbor on, void *for_whom)
{
	_cleanup_free_ char *buffer = malloc(NETWORKD_ANSWER_MAX);
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;
	int r = buffer ? connect_to(socket, &fd) : -ENOMEM;

	if (r < 0)
		return r;
	if (send(fd, question, sizeof(question), MSG_NOSIGNAL) < 0)
		return -errno;
	n = receive(fd, buffer, NETWORKD_ANSWER_MAX);
	return n < 0 ? (int)n
		     : networkd_parse(buffer, (size_t)n, realtime_now_usec(), on, for_whom);
}
