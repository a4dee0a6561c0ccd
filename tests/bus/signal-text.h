/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Signals as text without their times, so that those of a record that is played can be compared
 * with those that were sent when it was recorded.
 */

#include "fixture.h"

/* The signal M as lines of text. NULL: it has the counts of org.rdma.Manager, which come a little
 * later, those of several changes as one. The caller frees the string. */
char *signal_text(sd_bus_message *m);
/* The same of those that F has recorded, from the one with which the device BEGIN comes (NULL: the
 * first) to the one with which the device END comes (NULL: the last). The array ends with NULL; the
 * caller frees it and the strings with g_strfreev(). */
char **signal_texts(const Fixture *f, const char *begin, const char *end);
/* Waits until F has recorded the signal with which the device NAME comes. */
void signal_wait_device(Fixture *f, const char *name);
