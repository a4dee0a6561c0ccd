/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The lines of a scenario outside its script: headings and settings. */

#include "word.h"

typedef enum SectionKind { SECTION_DEVICE, SECTION_PORT, SECTION_SCRIPT } SectionKind;

/* The words of a heading. */
typedef struct Heading {
	SectionKind kind;
	const char *name; /* the device's, a word; "" for a script */
	uint32_t port;	  /* SECTION_PORT: its number; 0: all ports of the device */
} Heading;

/* Parses LINE, "[port NAME/NUMBER]" or another heading without white space around it. The line is
 * changed, and RET points into it. -EINVAL with a message. */
int heading_parse(char *line, Heading *ret, char **ret_message);
/* Parses LINE, "KEY = VALUE"; the same. */
int setting_parse(char *line, char **ret_key, char **ret_value, char **ret_message);
