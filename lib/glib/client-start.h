/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The start and the end of a client. */

#include "rdmad-client.h"

/* The functions for the interfaces GInitable and GAsyncInitable. */
void client_initable_init(GInitableIface *interface);
void client_async_initable_init(GAsyncInitableIface *interface);
/* Ends what a start has begun; does nothing if there was none. */
void client_stop(RdmadClient *c);
