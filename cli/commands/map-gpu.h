/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmactl.h"

/* rdmactl map --gpu: prints which of the ports that the arguments choose is near to which
 * accelerator. */
ExitStatus map_gpus(Context *c);
