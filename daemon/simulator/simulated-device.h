/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One simulated device as values: what its protocol makes of it by default, and how settings
 * ("state = down") change it.
 *
 * The keys of settings are the fields of the attribute tables, and a few of their own for what is
 * no scalar. A port is changed by an edit, which is committed or discarded as a whole. Nothing here
 * knows of time, queries or events.
 */

#include "port.h"

typedef struct SimulatedPort {
	AttrProtocol protocol;
	PortSnapshot now;
	int error;	      /* what its queries fail with: 0 or a negative errno ... */
	uint32_t error_count; /* ... how many more; 0: all */
	uint32_t n_counted;   /* how often its counters were read; those in NOW are settings */
} SimulatedPort;

typedef struct SimulatedDevice {
	DeviceSnapshot now;
	SimulatedPort *ports; /* [now.values.port_count] */
	uint32_t number;      /* of the device in its section, what %d stands for */
	uint32_t first_port;  /* ports of the scenario before this device's: makes its addresses
				 unique */
	bool stalled;	      /* answers nothing */
	bool wedged; /* has failed to answer in time, and nobody knows yet that it does again */
} SimulatedDevice;

/* "key = value" with the line of a file that it is from, 0 if from none. */
typedef struct Setting {
	const char *key, *value;
	unsigned int line;
} Setting;

/* A change of one port under way. Its tables are the port's own but for those changed. */
typedef struct PortEdit {
	SimulatedPort *port;
	PortSnapshot next;
	AttrMask touched;
} PortEdit;

/* Composes *RET_MESSAGE, for the caller to free, and returns R (-ENOMEM without memory). */
int simulated_error(int r, char **ret_message, const char *format, ...) _printf_(3, 4);

/* Whether NAME can name a device: -EINVAL with a message. */
int simulated_check_name(const char *name, char **ret_message);
/* A number as a key's value. */
int simulated_parse_number(const char *key, const char *text, uint64_t least, uint64_t most,
			   uint64_t *ret, char **ret_message);
/* Sets a row of VALUES from TEXT; an empty one means that the driver does not report it. */
int simulated_set_row(const Attribute *a, void *values, const char *text, bool *ret_supplied,
		      char **ret_message);
/* The protocol as the value of the key protocol. */
int simulated_parse_protocol(const char *text, AttrProtocol *ret, char **ret_message);

/* New device with the defaults of PROTOCOL; its ports have it too, and no values yet. NULL if there
 * is no memory. */
SimulatedDevice *simulated_device_new(const char *name, AttrProtocol protocol, uint32_t ports,
				      uint32_t number, uint32_t first_port);
void simulated_device_free(SimulatedDevice *d);
DEFINE_CLEANUP(SimulatedDevice, simulated_device_free);
/* Changes one attribute in S, which may be a copy of what the device has. */
int simulated_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message);

/* Gives the edited port of D the defaults of its protocol. */
int port_edit_defaults(PortEdit *e, const SimulatedDevice *d);
/* What the defaults leave open until the settings are known: tables and the speed of the interface.
 */
int port_edit_complete(PortEdit *e, const SimulatedDevice *d);

void port_edit_begin(PortEdit *e, SimulatedPort *port);
/* Applies settings in order, entries of tables after all others. On an error *RET_LINE is the
 * setting's line. */
int port_edit_apply(PortEdit *e, const Setting *settings, size_t n, unsigned int *ret_line,
		    char **ret_message);
/* Makes what belongs together agree, and checks it. */
int port_edit_finish(PortEdit *e, char **ret_message);
void port_edit_commit(PortEdit *e);
void port_edit_discard(PortEdit *e);
