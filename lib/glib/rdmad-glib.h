/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* librdmad-glib: RDMA ports as GObjects. This is the only header that programs include. */

#include "rdmad-client.h"
