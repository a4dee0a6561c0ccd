/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the harnesses of rdmactl's files have in common. */

/* How many complaints the files of rdmactl have made: calls of complain() and out_of_memory(), of
 * which these are other versions. They print nothing. */
extern unsigned int n_complaints;

/* Ends the harness unless each string, list and object in JSON is closed. */
void check_json(const char *json);
