/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values as text: how the values of settings are read, and the messages about those that are wrong.
 */

#include "attribute.h"
#include "word.h"

/* "KEY = VALUE". */
typedef struct Setting {
	const char *key, *value;
	unsigned int line; /* of the scenario file; 0: of a command */
} Setting;

/* Reads the name of a device, a word as word_write() writes it: -EINVAL with a message.
 * There is no other form for names, in headings and in commands. */
int simulated_parse_name(const char *word, AttrText ret, char **ret_message);
/* Reads TEXT, the value of KEY, as a number from LEAST to MOST: -EINVAL with a message. */
int simulated_parse_number(const char *key, const char *text, uint64_t least, uint64_t most,
			   uint64_t *ret, char **ret_message);
/* Sets the row I of ROWS in VALUES, a DeviceValues or PortValues, from TEXT: -EINVAL with a
 * message. Then it is one of those SUPPLIED. If TEXT is empty, the value is 0 and it is none of
 * them: the driver does not report it. */
int simulated_set_row(const Attribute *rows, unsigned int i, void *values, AttrMask *supplied,
		      const char *text, char **ret_message);
