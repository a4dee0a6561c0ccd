/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages of D-Bus made from an input. They are well-formed, as the bus lets no others through:
 * text is UTF-8, but may have control characters.
 */

#include <systemd/sd-bus.h>

#include "input.h"

/* A new message, to be filled with the functions below and then sealed. NULL without memory. */
sd_bus_message *message_new(void);
/* Ends what was appended; the message can be read from its beginning then. */
int message_seal(sd_bus_message *m);

#define MESSAGE_TEXT_MAX 800U
/* A text. Returns BUFFER. */
const char *message_text(FuzzInput *in, char buffer[MESSAGE_TEXT_MAX]);
/* Appends a variant with a value of any type. */
int message_append_variant(sd_bus_message *m, FuzzInput *in);
