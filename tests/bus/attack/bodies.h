/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The arguments that attackers send: functions for Message.body. What N means is said here. */

#include "bytes.h"

#define LONG_PATH_SIZE 20000U
extern char long_path[LONG_PATH_SIZE + 1]; /* of an object that does not exist */
/* Fills it. To be called once. */
void bodies_init(void);

/* s: N times "a". ss: an interface and a property of rdmad, a value or a table. s: N odd
 * characters.
 */
void body_text(Bytes *b, unsigned int n);
void body_port_interface(Bytes *b, unsigned int n);
void body_names(Bytes *b, unsigned int n);
void body_gids(Bytes *b, unsigned int n);
void body_odd_text(Bytes *b, unsigned int n);
/* sa{sv}: the same with no option; the name of a port; the subnet of all ports */
void body_text_options(Bytes *b, unsigned int n);
void body_odd_text_options(Bytes *b, unsigned int n);
void body_port_options(Bytes *b, unsigned int n);
void body_subnet_options(Bytes *b, unsigned int n);
/* a{sv}: no option; N options with the same name; one with N variants in one another; max-age-usec
 * = 0 */
void body_options(Bytes *b, unsigned int n);
void body_many_options(Bytes *b, unsigned int n);
void body_nested_options(Bytes *b, unsigned int n);
void body_max_age(Bytes *b, unsigned int n);
/* v: N variants in one another. Arrays in arrays, the outermost empty. t and the like. b. u. */
void body_nested(Bytes *b, unsigned int n);
void body_empty_array(Bytes *b, unsigned int n);
void body_number(Bytes *b, unsigned int n);
void body_false(Bytes *b, unsigned int n);
void body_zero(Bytes *b, unsigned int n);
/* a{sv}t of WaitFor(): N names of ports that do not exist, for no time (names, none), 20 ms (short)
 * or for ever (long: N different names of 60 characters, or one of 9 if N is 1; same: N times the
 * same name); N times the same option and no time. */
void body_wait_names(Bytes *b, unsigned int n);
void body_wait_none(Bytes *b, unsigned int n);
void body_wait_short(Bytes *b, unsigned int n);
void body_wait_long(Bytes *b, unsigned int n);
void body_wait_same(Bytes *b, unsigned int n);
void body_wait_options(Bytes *b, unsigned int n);
/* ssv: a value for LogLevel; for a property of a port */
void body_log_level(Bytes *b, unsigned int n);
void body_set(Bytes *b, unsigned int n);
/* s: a rule for all signals of rdmad. sss: a name that the bus has lost. */
void body_match(Bytes *b, unsigned int n);
void body_owner_changed(Bytes *b, unsigned int n);
