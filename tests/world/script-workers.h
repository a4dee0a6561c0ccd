/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The pool of the product, and what stands for the processes of its workers: each is the other end
 * of its socket, in this process. A worker does one thing after the other, as rdmad-query does
 * (wire.h). It starts, hangs in a device, crashes, closes its connection, lies, and ends late when
 * it is killed while it hangs. A nursery forks others.
 */

#include "script-private.h"

/* Whether there can be any here: not before glibc 2.36. */
bool workers_can_be(void);
ScriptWorkers *workers_new(Script *s);
ScriptWorkers *workers_free(ScriptWorkers *w);
/* The core begins, and ends. */
void workers_open(ScriptWorkers *w);
void workers_close(ScriptWorkers *w);

/* SourceOps */
int workers_query(ScriptWorkers *w, const Query *q);
void workers_hurry(ScriptWorkers *w, uint32_t device);
void workers_forget(ScriptWorkers *w, uint32_t device);

/* The device is going, and the core has not looked yet. */
void workers_going(ScriptWorkers *w, uint32_t device);
/* Those that have the device of EVENT open hear of it. */
void workers_hear(ScriptWorkers *w, const Event *event);
/* One of them, by lot, goes on, or does something wrong. */
void workers_work(Script *s, Lots *lots);
void workers_lie(Script *s, Lots *lots);
/* The next N cannot be started. */
void workers_fail_to_start(ScriptWorkers *w, unsigned int n);
/* Whether any has something to do that does not hang; and all of them do it. */
bool workers_are_busy(const ScriptWorkers *w);
void workers_do_all(Script *s, Lots *lots);
