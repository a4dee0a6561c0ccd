/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Samples in a file, for "counters --save" and "--since". The file is text:
 *
 *	rdmactl-counters 1
 *	port	NAME	PATH	REALTIME	MONOTONIC
 *	counter	GROUP	NAME	VALUE	UNIT	CONDITION	REASON
 *	...
 *	end	HASH
 *
 * Words are separated by tabs; the counters of a port follow it. 1 is the format. HASH is FNV-1a of
 * all bytes before its line, so that a file that is cut or changed is not taken for a good one.
 */

#include "rdmactl.h"
#include "sample.h"

/* Writes LIST to the file PATH, which is replaced as a whole or not at all. Says what went wrong.
 */
ExitStatus samples_save(const char *path, const SampleList *list);
/* Reads such a file; the caller ends *RET with sample_list_done(). Says what is wrong with it. */
ExitStatus samples_load(const char *path, SampleList *ret);
