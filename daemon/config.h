/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What /etc/rdmad.conf (GKeyFile syntax, rdmad.conf(5)) decides. */

#include "util.h"

/*
 * The keys, those of a group together: K(group, key, type, field, default, limits).
 *
 * From a row come the field of Config, its default, the parser and the lists of what is expected in
 * messages. The manual page and docs/examples/rdmad.conf are written by hand; a test compares them
 * with the rows.
 *
 *   type     seconds  a number of seconds, with a fraction; the field has microseconds
 *            mib      a number of MiB, with a fraction; the field has bytes
 *            boolean  yes or no
 *            devices  names of devices, with ';' between them; the field ends with NULL, or is NULL
 *            ports    names of ports, likewise
 *   default  as the value is written in C, and a number in the unit of the key
 *   limits   of a number, in the unit of the key: least, most, and what 0 stands for if it is taken
 *            although it is less than the least, or NULL
 */
/* clang-format off */
#define CONFIG_KEYS(K)                                                                             \
	/* Time between two looks at everything, 0: never */                                       \
	K(Daemon,  ReconcileIntervalSec, seconds, reconcile_usec,     30, 1,    86400, "never")    \
	/* Time that a device has for its answer to one query */                                   \
	K(Daemon,  QueryTimeoutSec,      seconds, query_timeout_usec, 2,  0.01, 86400, NULL)       \
	/* What one user gets of long replies on D-Bus in a second, 0: no limit */                 \
	K(Daemon,  LongReplyMiBPerSec,   mib,     long_reply_rate,    2,  0.1,  1024, "no limit")  \
	/* What the record of all changes takes on the disk at most, 0: there is none */          \
	K(Daemon,  RecordMaxMiB,         mib,     record_max,         16, 1,    128,   "no record") \
	/* How long a port is not compared with others after it has changed */                     \
	K(Daemon,  SettleSec,            seconds, settle_usec,        60, 0.1,  86400, "no time")  \
	/* Time between two questions for the other ends of links, 0: never */                      \
	K(Daemon,  NeighborIntervalSec,  seconds, neighbor_usec,      60, 1,    86400, "never")    \
	/* Time between two readings of the counters, for the judge, 0: never */                    \
	K(Daemon,  CounterIntervalSec,   seconds, counter_usec,       300, 1,   86400, "never")    \
	/* Whether the modules in the cages are read */                                             \
	K(Daemon,  Cable,                boolean, cable,              false)                       \
	/* Time between two looks at one of them */                                                \
	K(Daemon,  CableIntervalSec,     seconds, cable_usec,         600, 60,  86400, NULL)       \
	/* Whether verbs contexts stay open, for the asynchronous events */                        \
	K(Devices, HoldContexts,         boolean, hold_contexts,      true)                        \
	/* Devices (patterns as in glob(7)) that are read by netlink and sysfs only */             \
	K(Devices, NeverOpen,            devices, never_open,         NULL)                        \
	/* Whether Gaudi devices, whose context is exclusive, are opened */                        \
	K(Devices, Hbl,                  boolean, hbl,                false)                       \
	/* What rdma-wait-online.service waits for, at most WAIT_PORTS_MAX */                      \
	K(Wait,    Ports,                ports,   wait_ports,         NULL)
/* clang-format on */

/* What the field of a key of each type is, and its default. */
typedef uint64_t config_seconds, config_mib;
typedef bool config_boolean;
typedef char **config_devices, **config_ports;
#define CONFIG_DEFAULT_seconds(value) ((uint64_t)((value)*USEC_PER_SEC))
#define CONFIG_DEFAULT_mib(value)     ((uint64_t)((value) * (UINT64_C(1) << 20)))
#define CONFIG_DEFAULT_boolean(value) value
#define CONFIG_DEFAULT_devices(value) value
#define CONFIG_DEFAULT_ports(value)   value

#define CONFIG_FIELD(group, key, type, field, initial, ...) config_##type field;
#define CONFIG_INITIAL(group, key, type, field, initial, ...)                                      \
	.field = CONFIG_DEFAULT_##type(initial),

typedef struct Config {
	CONFIG_KEYS(CONFIG_FIELD)
} Config;

#define CONFIG_DEFAULT                                                                             \
	{                                                                                          \
		CONFIG_KEYS(CONFIG_INITIAL)                                                        \
	}

/*
 * Reads the file at PATH into *C; what the file does not say has its default, whatever *C had.
 * -ENOENT if there is no file. On any other error *RET_MESSAGE, to be freed by the caller, names
 * the file, the line or key and what was expected. On an error *C has not changed.
 */
int config_load(Config *c, const char *path, char **ret_message);
/* Frees what *C owns; the lists are NULL afterwards. */
void config_done(Config *c);
