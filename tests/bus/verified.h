/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Each record that a test has had written in DIRECTORY, the state directory of rdmad, or in a
 * folder of it, is one that rdmad can have written: rdmactl record verify. */
void assert_verified(const char *directory);
