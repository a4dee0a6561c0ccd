/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The properties of ports and their devices that a caller names: the option "properties" of
 * ListPorts() and FindPorts(). */

#include "bus-options.h"
#include "long-reply-kinds.h"

/* The most names. */
#define LONG_REPLY_NAMED_MAX ((unsigned int)_PORT_ATTR_MAX + _DEVICE_ATTR_MAX)

/* Adds the rows with these NAMES to Q. A name that a port and a device have is that of the port's;
 * one that none has is an error that names it. */
int long_reply_name(LongReplyQuestion *q, const BusTexts *names, sd_bus_error *error);
/* Writes those of the rows that P or its device has, as {sv}: one without a value is left out. */
void long_reply_put_named(BusWriter *w, const LongReplyQuestion *q, const Port *p);
