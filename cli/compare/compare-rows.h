/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which attributes machines of one kind have alike, and in which form they are compared.
 *
 * It follows from the row. Not compared is what names or numbers one thing (unit ID or HEX), when
 * something was (TIMESTAMP), what counts (classes GENERATION and COUNTER), what the path of the
 * object says (class IDENTITY), and what rdmad says of itself (source CORE), but for Stale. Of a
 * table the entries are compared by their first member that is no such name or number: the P_Keys,
 * the types of GIDs, the classes of character devices. Lists and tables are compared as sets.
 */

#include "object.h"

bool row_is_compared(const Attribute *a);

/* Brings the lists and tables of O into the form in which they are compared, and for which
 * value_equal() is true: an array of texts, sorted, each once. -ENOMEM. */
int object_normalize(Object *o);
