/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A bus for the daemon's end of a connection (bus.h), without a bus daemon: the harness is the bus.
 * It says Hello, gives the name, and is asked whose a connection is; the harness chooses when it
 * answers that, and what. The calls of clients come from here, too.
 *
 * A client is a number below PEER_CLIENTS. It has the name of a connection; when it leaves, a new
 * connection takes its place.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "fuzz.h"

#define PEER_CLIENTS 4U

typedef struct Peer Peer;

/* A signal has come. */
typedef void (*PeerSignal)(void *userdata, sd_bus_message *signal);
/* REPLY has come for the call that CLIENT's connection sent with COOKIE. */
typedef void (*PeerReply)(void *userdata, uint64_t cookie, sd_bus_message *reply);

/* What bus_new() is to connect to. The same for as long as the program runs. */
const char *peer_address(void);
/* Whether a daemon's end is connecting. */
bool peer_is_awaited(void);
/* Those that are connecting are turned away. */
void peer_refuse_all(void);
/* The daemon's end is connecting; the rest of that is up to the caller: both ends have to be
 * processed until peer_is_ready(). */
Peer *peer_new(PeerReply on_reply, void *userdata);
Peer *peer_free(Peer *p);
/* Until then signals are for nobody. ON_SIGNAL gets the userdata of the replies. */
void peer_listen(Peer *p, PeerSignal on_signal);

/* The bus, to make messages for. */
sd_bus *peer_bus(Peer *p);
/* The daemon has its name. */
bool peer_is_ready(const Peer *p);
/* Takes in and sends what there is. Returns whether there was anything. */
bool peer_process(Peer *p);

/* The name of CLIENT's connection. */
const char *peer_client_name(const Peer *p, unsigned int client);
/* The connection of CLIENT ends, and the bus says so. */
void peer_client_leaves(Peer *p, unsigned int client);

/* How many questions whose a connection is have no answer yet. */
size_t peer_n_questions(const Peer *p);
/* Answers the oldest of them: with USER, or if FAILS with an error. If the connection has left, the
 * bus says that, whatever it is to answer. */
void peer_answer_question(Peer *p, uint32_t user, bool fails);
