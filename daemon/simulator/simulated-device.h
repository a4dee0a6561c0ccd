/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The values of one simulated device: what its protocol gives it by default, and how settings
 * change them. The keys of settings are the fields of the attribute table of devices.
 */

#include "simulated-port.h"

struct SimulatedDevice {
	DeviceSnapshot now;   /* what a query brings */
	SimulatedPort *ports; /* now.values.port_count of them; port 1 is the first */
	uint32_t number;      /* its number in its section, which %d stands for, from 0 */
	uint32_t first_port;  /* how many ports the devices before it in the scenario have: makes
				 its addresses unique */
	bool recorded;	      /* it is one of a record: recorded-values.h */
	bool listed;	      /* the core has had it in a list */
	uint64_t query_id;    /* of the last query of the core, 0: there was none */
	bool unasked;	      /* of a record: it is new, and not all of it has been said */
	bool failed;	      /* of a record: the device itself could not be read last */
	bool stalled;	      /* it answers no query */
	bool wedged; /* a query was not answered in time, and REASON_RECOVERED has not been told
			since */
};

/* Reads the value of the key "protocol": -EINVAL with a message. */
int simulated_parse_protocol(const char *text, AttrProtocol *ret, char **ret_message);

/* A new device with the defaults of PROTOCOL, without an index. Its PORTS ports have the protocol
 * and no values yet. For NUMBER and FIRST_PORT see SimulatedDevice. NULL if there is no memory. */
SimulatedDevice *simulated_device_new(const char *name, AttrProtocol protocol, uint32_t ports,
				      uint32_t number, uint32_t first_port);
/* A new device of a record, of which nothing is known yet but its name and its PORTS. NULL if there
 * is no memory. */
SimulatedDevice *simulated_device_new_recorded(const char *name, uint32_t ports);
/* Whether it is one of a record that gives no answer now: not all of it has been said; or it, or a
 * port, could not be read last; or the answer is to come that followed an event about a state. */
bool simulated_device_is_silent(const SimulatedDevice *d);
void simulated_device_free(SimulatedDevice *d);
DEFINE_CLEANUP(SimulatedDevice, simulated_device_free);
/* Sets one attribute in S, which owns its tables, or a health reporter ("reporter.NAME"): -EINVAL
 * with a message. For a device of a record there is recorded_device_set(). */
int simulated_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message);
