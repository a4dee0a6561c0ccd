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
/* Appends one value of the type SIGNATURE. */
int message_append(sd_bus_message *m, FuzzInput *in, const char *signature);

#define MESSAGE_WORDS_MAX 250U
/* From now on the input can choose each text out of the N (at most MESSAGE_WORDS_MAX) WORDS, which
 * live as long as the program, and values can be file descriptors and signatures. */
void message_set_words(const char *const *words, size_t n);
