/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What /etc/rdmad.conf (GKeyFile syntax, rdmad.conf(5)) and the command line decide. */

#include <stdbool.h>
#include <stdint.h>

typedef struct Config {
	uint64_t reconcile_usec;     /* [Daemon] ReconcileIntervalSec=, 0: never */
	uint64_t query_timeout_usec; /* [Daemon] QueryTimeoutSec= */
	uint64_t long_reply_rate;    /* [Daemon] LongReplyMiBPerSec=, in bytes; 0: no limit */
	bool hold_contexts; /* [Devices] HoldContexts=: keep verbs contexts open for async events */
	char **never_open;  /* [Devices] NeverOpen=: device names (glob), read by netlink and sysfs
			       only; NULL-terminated */
	bool hbl;	    /* [Devices] Hbl=: open Gaudi devices, whose context is exclusive */
	char **wait_ports;  /* [Wait] Ports=: what rdma-wait-online.service waits for;
			       NULL-terminated  or NULL */
} Config;

#define CONFIG_DEFAULT                                                                             \
	{                                                                                          \
		.reconcile_usec = UINT64_C(30) * 1000000,                                          \
		.query_timeout_usec = UINT64_C(2) * 1000000, .long_reply_rate = UINT64_C(2) << 20, \
		.hold_contexts = true,                                                             \
	}

/*
 * Reads the file at PATH into *C, which holds the defaults. -ENOENT if there is none. On any other
 * error nothing in *C has changed and *RET_MESSAGE, to be freed by the caller, names file, line or
 * key and what was expected.
 */
int config_load(Config *c, const char *path, char **ret_message);
void config_done(Config *c);
