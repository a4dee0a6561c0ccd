/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions about ports and devices that several checks need. */

#include "check-finding.h"
#include "format.h"

/* The number in row ROW of O; false: it has no value now, or one that is no number. */
bool check_number(const Object *o, size_t row, uint64_t *ret);
/* What O, a device or a port with its device, has shown. It stays until the next call. */
SeenSource check_evidence(const CheckRun *r, const Object *o);
/* Whether PORT can be as it is because nobody uses it: a virtual function or a subfunction waits
 * for a container or a virtual machine, and what is no RDMA port has no program, unless
 * it is the link of virtual functions. A port that was
 * named is meant to be used. */
bool check_may_be_idle(const CheckRun *r, const Object *port);
/* Whether the port that the run looks at says that it is active, and may not be idle: programs are
 * meant to use it. */
bool check_is_in_use(const CheckRun *r);
/* Whether SPEED is in ROW of PORT, the speeds of the other end of its link, or nobody knows. */
bool check_other_end_can(const Object *port, PortAttr row, const char *speed);
/* How the other end of the link of PORT is called in a sentence, perhaps in BUFFER. */
#define OTHER_END_MAX 160
const char *check_other_end(const Object *port, char buffer[OTHER_END_MAX]);
/* The highest speed of Ethernet that PORT offers, and so does the other end, as far as it is heard.
 * 0: the port does not say, or its speed was set. */
uint64_t check_offered_speed(const Object *port);
/* Whether somebody has set the speed of PORT, one of Ethernet: it can do more, and does not offer
 * it.
 */
bool check_is_speed_set(const Object *port);
/* Whether A and B, devices, are of one adapter, which has a device for each port or all ports on
 * one. */
bool check_same_adapter(const Object *a, const Object *b);
/* Whether PORT can be as it is because nobody has ever used it: it may be idle, or it and the ports
 * of the same place on other adapters of its model have never been active, while another port of
 * its adapter has, or, if nobody has configured its interface, another port of the machine. An
 * adapter with two ports often has one cable, and one on the board often none. */
bool check_is_unused(const CheckRun *r, const Object *port);
/* Whether the port that the run looks at has the value of ROW that half of the active ports of its
 * kind have, and four of them or more. */
bool check_is_like_many(const CheckRun *r, const Attribute *row);
/* Whether an expectation says what attribute ROW of the port or device that the run looks at shall
 * be. A check that would look at it leaves it to that expectation. */
bool check_is_expected(const CheckRun *r, const Attribute *row);
/* By how much the counter ROW of O has grown in the last 24 hours, as far as that was after
 * SINCE_USEC, and in *RET_LAST when it did so last: what was longer ago somebody may have mended.
 * 0: by less than LEAST. */
uint64_t check_growth(const CheckRun *r, const Object *o, const Attribute *row, uint64_t least,
		      uint64_t since_usec, uint64_t *ret_last);
/* Finds that it has grown by LEAST or more. It says "BEFORE n AFTER in 24 h", and when it did so
 * last. */
void check_find_growth(CheckRun *r, const Object *o, const Attribute *row, uint64_t least,
		       uint64_t since_usec, const char *before, const char *after);
/* How often the link of the port that the run looks at was seen to go down since then. SIZE_MAX if
 * that does not matter: nobody asks for flaps, or the port may be idle. */
size_t check_count_downs(const CheckRun *r, uint64_t since_usec);
/* How often the device that the run looks at, and no port, was away after SINCE_USEC, as the
 * history of its ports says, and in *RET_LAST when it went last. */
size_t check_count_absences(CheckRun *r, uint64_t since_usec, uint64_t *ret_last);
/* How often EVIDENCE says since SINCE_USEC that WHAT has changed, to TO unless that is NULL; *LAST
 * is the later of what it was and when that was last. */
size_t check_count_seen(const SeenSource *evidence, const char *what, const char *to,
			uint64_t since_usec, uint64_t *last);
/* The first port of the device that the run looks at; NULL: it has none. */
const Object *check_first_port(const CheckRun *r);
/* Whether PORT is that of a member of a bond which stands by: the kernel gives the GIDs to the
 * member that carries, and takes them away from the others. */
bool check_stands_by(const Object *port);
/* Whether others than neighbours reach TEXT, a GID or an address. */
bool check_reaches(const char *text);
/* Whether PORT has an address of IPv4 that others than neighbours reach. */
bool check_has_ipv4(const Object *port);
/* Whether others than neighbours reach PORT, which is RoCE: 1, or 0; -1: that is not known, because
 * its interface is in another network namespace or stands by in a bond, or it has no GID. */
int check_is_reachable(const Object *port);
/* Finds what rdmad has published of this check, this port and R->counter, and of no attribute. */
void check_find_published(CheckRun *r);
/* Finds what rdmad has published of this check, ROW and no device. */
void check_find_of_machine(CheckRun *r, const Attribute *row);
/* Whether PORT is that of a physical function with virtual ones. */
bool check_has_functions(const Object *port);
/* For sort(): two numbers of 64 bits, the smaller one first. */
int check_compare_numbers(const void *a, const void *b);
/* Whether PORT is one of those that are checked. */
bool check_has_port(const CheckRun *r, const Object *port);
