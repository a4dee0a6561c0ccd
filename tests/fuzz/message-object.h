/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ports and devices as rdmactl gets them. */

#include "message.h"
#include "object.h"

/* Fills M, a new message, with interfaces, a{sa{sv}}, that O may have: properties of any type and
 * value. Reads them into O. Without memory O stays as it is. */
void message_read_object(sd_bus_message *m, FuzzInput *in, Object *o);
