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

	if (c->host && error_is_lost(r))
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

ExitStatus bus_end_loop(Context *c, const char *what, int r, ExitStatus status)
{
	sd_bus_detach_event(c->bus);
	if (r < 0)
		return bus_complain(what, NULL, r);
	/* sd_bus_set_exit_on_disconnect() has ended the loop */
	if (r == EXIT_FAILURE)
		return failure("the connection to the bus is lost");
	return status;
}

ExitStatus bus_complain(const char *what, const sd_bus_error *error, int r)
{
	const char *message = error && error->message ? error->message : strerror(-r);
	const char *why = error_absence(error);

	/* what the bus says of a name without a service is about the bus, and not about rdmad */
	if (why && sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN))
		return complain_as(STATUS_NO_DAEMON, "no rdmad on %s: it %s%s", place, why, advice);
	if (why)
		return complain_as(STATUS_NO_DAEMON, "no rdmad on %s: it %s (%s)%s", place, why,
				   message, advice);
	if (error_is_lost(r))
		return complain_as(STATUS_NO_DAEMON, "the connection to %s has ended", place);
	complain("%s: %s", what, message);
	return error_is_no_port(error) ? STATUS_NO_PORT : STATUS_FAILED;
}

ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = ports_read(bus, ret, &error);

	return r < 0 ? bus_complain("cannot read the ports", &error, r) : STATUS_OK;
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
