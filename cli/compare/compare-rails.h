/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Port n of machines that belong together ends at one switch. A machine belongs, in view of one of
 * its ports, to those that are at the switches of most of its other ports, at whichever of theirs:
 * so machines at other switches altogether are no deviation, and two cables that were exchanged
 * are.
 */

#include "compare-find.h"

/* Adds to D the ports that end at another switch than the same ports of most machines that theirs
 * belongs to; none if IGNORED has the row. */
ExitStatus rails_find(const Kinds *k, const IgnoredRows *ignored, Differences *d);
