/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A client with a real rdmad that runs a scenario. */

#include "log.h"

#define TWO_DEVICES_WITH(lid)                                                                      \
	"[device mlx5_0]\nprotocol = infiniband\n[port mlx5_0/1]\nlid = " lid "\n"                 \
	"[device rocep1]\nprotocol = roce\n[port rocep1/1]\nnetdev = ens1 7\ngid.0 = "             \
	"192.168.1.17 v2\n"

#define TWO_DEVICES TWO_DEVICES_WITH("17")

typedef struct Env {
	Fixture *f;
	Log *l;
} Env;

/* A bus, an rdmad that runs SCENARIO (its text), and a client that is connected to it. */
Env env_new(const char *scenario);
void env_done(Env *e);
#define _cleanup_env_ _cleanup_(env_done)
/* Ends the daemon with the signal SIG and starts another that runs SCENARIO. */
void env_restart(Env *e, int sig, const char *scenario);

/* The port that is called PORT, which there must be. */
RdmadObject *env_port(Env *e, const char *port);
/* Its attribute ATTRIBUTE, which must have a value. */
guint64 env_number(Env *e, const char *port, const char *attribute);
/* All that the client has reported since log_forget(), after all that the daemon has said. */
void env_assert_log(Env *e, const char *expected);
/* Every property of every object on the bus is that of a GObject. Returns how many there are. */
guint env_check_values(Env *e);
