/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"

#include "bus-open.h"
#include "names.h"

/* Where rdmad is asked, for messages, and what to look at if it is not there. */
static char place[160] = "the system bus", advice[160] = "; see: systemctl status rdmad";

static int open_bus(const Context *c, sd_bus **ret)
{
	if (c->host) {
		snprintf(place, sizeof(place), "the system bus of %s", c->host);
		snprintf(advice, sizeof(advice), "; see: systemctl -H %s status rdmad", c->host);
		return sd_bus_open_system_remote(ret, c->host);
	}
	if (c->machine) {
		snprintf(place, sizeof(place), "the system bus of container %s", c->machine);
		snprintf(advice, sizeof(advice), "; see: systemctl -M %s status rdmad", c->machine);
		return sd_bus_open_system_machine(ret, c->machine);
	}
	if (streq(c->address, "system"))
		return sd_bus_open_system(ret);
	if (streq(c->address, "session")) {
		snprintf(place, sizeof(place), "the bus of the session");
		snprintf(advice, sizeof(advice), "; this starts it: rdmad --bus=session");
		return sd_bus_open_user(ret);
	}
	snprintf(place, sizeof(place), "the bus %s", c->address);
	advice[0] = '\0';
	return bus_open_address(c->address, ret);
}

/* ssh was started, and the connection has ended before anything was read (EPIPE), or later. */
static bool is_lost(int r)
{
	return r == -ENOTCONN || r == -ECONNRESET || r == -ECONNREFUSED || r == -EPIPE;
}

/* The variable that says where the bus is; NULL if the command line says it. */
static const char *bus_variable(const Context *c)
{
	if (c->host || c->machine)
		return NULL;
	return streq(c->address, "system")    ? "DBUS_SYSTEM_BUS_ADDRESS"
	       : streq(c->address, "session") ? "DBUS_SESSION_BUS_ADDRESS"
					      : NULL;
}

static void complain_connect(const Context *c, int r)
{
	const char *variable = bus_variable(c), *value = variable ? getenv(variable) : NULL;

	if (c->host && is_lost(r))
		complain("the connection to %s has ended", place);
	else if (c->machine && r == -EHOSTDOWN)
		complain("cannot connect to %s: no container with this name is running", place);
	else if (value)
		complain("cannot connect to %s: %s (%s is %s); --bus asks on another bus", place,
			 strerror(-r), variable, value);
	else if (variable)
		complain("cannot connect to %s: %s; --bus asks on another bus", place,
			 strerror(-r));
	else
		complain("cannot connect to %s: %s", place, strerror(-r));
}

ExitStatus bus_connect(const Context *c, sd_bus **ret)
{
	int r = open_bus(c, ret);

	if (r < 0)
		complain_connect(c, r);
	return r < 0 ? STATUS_NO_DAEMON : STATUS_OK;
}

const char *bus_absence(const sd_bus_error *error)
{
	static const struct {
		const char *name, *sentence;
	} absences[] = {
		{SD_BUS_ERROR_SERVICE_UNKNOWN, "is not installed, or was not started"},
		{SD_BUS_ERROR_NAME_HAS_NO_OWNER, "is not running"},
		{SD_BUS_ERROR_NO_SERVER, "is not running"},
		{SD_BUS_ERROR_DISCONNECTED, "is not running"},
		{"org.freedesktop.systemd1.UnitMasked", "is masked"},
		{"org.freedesktop.systemd1.NoSuchUnit", "is not installed"},
	};

	if (!sd_bus_error_is_set(error))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(absences); i++)
		if (sd_bus_error_has_name(error, absences[i].name))
			return absences[i].sentence;
	return startswith(error->name, "org.freedesktop.DBus.Error.Spawn.") ||
			       startswith(error->name, "org.freedesktop.systemd1.")
		       ? "does not start"
		       : NULL;
}

bool bus_is_absence(const sd_bus_error *error, int r)
{
	return is_lost(r) || bus_absence(error);
}

int bus_append_texts(sd_bus_message *m, const char *key, char **texts)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_append_strv(m, texts);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

ExitStatus bus_end_loop(Context *c, const char *what, int r, ExitStatus status)
{
	sd_bus_detach_event(c->bus);
	if (r < 0)
		return bus_complain(what, NULL, r);
	/* sd_bus_set_exit_on_disconnect() has ended the loop */
	if (r == EXIT_FAILURE) {
		complain("the connection to the bus is lost");
		return STATUS_FAILED;
	}
	return status;
}

bool bus_is_no_port(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, RDMAD_ERROR_NOT_FOUND) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
}

ExitStatus bus_complain(const char *what, const sd_bus_error *error, int r)
{
	const char *message = error && error->message ? error->message : strerror(-r);
	const char *why = bus_absence(error);

	/* what the bus says of a name without a service is about the bus, and not about rdmad */
	if (why && sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN)) {
		complain("no rdmad on %s: it %s%s", place, why, advice);
		return STATUS_NO_DAEMON;
	}
	if (why) {
		complain("no rdmad on %s: it %s (%s)%s", place, why, message, advice);
		return STATUS_NO_DAEMON;
	}
	if (is_lost(r)) {
		complain("the connection to %s has ended", place);
		return STATUS_NO_DAEMON;
	}
	complain("%s: %s", what, message);
	return bus_is_no_port(error) ? STATUS_NO_PORT : STATUS_FAILED;
}

ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_objects_ ObjectList list = {};
	int r;

	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
			       "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &error,
			       &reply, NULL);
	if (r >= 0)
		r = object_list_read(&list, reply);
	if (r < 0)
		return bus_complain("cannot read the ports", &error, r);
	*ret = list;
	list = (ObjectList){};
	return STATUS_OK;
}

void bus_found_done(FoundPaths *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->paths[i]);
	for (size_t i = 0; i < f->n; i++)
		free(f->netdevs[i]);
	free(f->paths);
	free(f->gids);
	free(f->netdevs);
	*f = (FoundPaths){};
}

/* The members of an entry. */
static int read_found_details(sd_bus_message *m, uint32_t *ret_gid, const char **ret_netdev)
{
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read_basic(m, 's', &key);
		if (r < 0)
			return r;
		if (streq(key, "GidIndex"))
			r = sd_bus_message_read(m, "v", "u", ret_gid);
		else if (streq(key, "Netdev"))
			r = sd_bus_message_read(m, "v", "s", ret_netdev);
		else
			r = sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Makes room for one more. */
static int grow_found(FoundPaths *f)
{
	char **paths = reallocarray(f->paths, f->n + 1, sizeof(*paths));
	uint32_t *gids = reallocarray(f->gids, f->n + 1, sizeof(*gids));
	char **netdevs = reallocarray(f->netdevs, f->n + 1, sizeof(*netdevs));

	f->paths = paths ? paths : f->paths;
	f->gids = gids ? gids : f->gids;
	f->netdevs = netdevs ? netdevs : f->netdevs;
	return paths && gids && netdevs ? 0 : -ENOMEM;
}

static int read_found(sd_bus_message *m, FoundPaths *f)
{
	_cleanup_free_ char *path = NULL, *netdev = NULL;
	const char *path_text, *netdev_text = "";
	int r = grow_found(f);

	if (r >= 0)
		r = sd_bus_message_read_basic(m, 'o', &path_text);
	if (r < 0)
		return r;
	f->gids[f->n] = UINT32_MAX;
	r = read_found_details(m, &f->gids[f->n], &netdev_text);
	if (r < 0)
		return r;
	path = strdup(path_text);
	netdev = strdup(netdev_text);
	if (!path || !netdev)
		return -ENOMEM;
	f->paths[f->n] = steal_pointer(&path);
	f->netdevs[f->n++] = steal_pointer(&netdev);
	return sd_bus_message_exit_container(m);
}

bool bus_is_local(const Context *c)
{
	int simulated = false;

	if (c->host || c->machine)
		return false;
	return sd_bus_get_property_trivial(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					   RDMAD_INTERFACE_MANAGER, "Simulated", NULL, 'b',
					   &simulated) >= 0 &&
	       !simulated;
}

int bus_find_ports(sd_bus *bus, const char *what, const char *by, FoundPaths *ret,
		   sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(bus_found_done) FoundPaths f = {};
	int r = by ? sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					RDMAD_INTERFACE_MANAGER, "FindPorts", error, &reply,
					"sa{sv}", what, 1, "by", "s", by)
		   : sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					RDMAD_INTERFACE_MANAGER, "FindPorts", error, &reply,
					"sa{sv}", what, 0);

	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', "(oa{sv})");
	while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'r', "oa{sv}")) > 0)
		r = read_found(reply, &f);
	if (r < 0)
		return r;
	*ret = f;
	f = (FoundPaths){};
	return 0;
}
