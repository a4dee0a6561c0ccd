/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Manager.ListPorts(): what people list of all ports, one plain structure a port. Its fields are
 * the object path and the rows of list-attributes.def. */

#include "long-reply.h"

/* The signature of the reply, for the vtable: filled by bus_list_init(). */
extern char bus_list_signature[2 * _LISTED_MAX + 8];
void bus_list_init(void);

extern const LongReplyKind bus_list_kind;
