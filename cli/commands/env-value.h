/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the variables of a library must be for the ports that it uses. */

#include "env-rails.h"

/* A library, and what it can use. */
typedef struct Environment {
	const Library *library;
	const RailWish *wish;
	Rails rails;
	char **notes; /* what to know beside it */
	size_t n_notes;
} Environment;

bool rail_is_opa(const Rail *r);
bool rail_is_efa(const Rail *r);
/* Whether IS is so of any port that is used. */
bool environment_any(const Environment *e, bool (*is)(const Rail *r));

/* Whether a list of all ports is a value of V. */
bool variable_is_list(const Variable *v);
/* Whether V must be set at all. */
bool variable_is_needed(const Environment *e, const Variable *v);
/* Whether V, a traffic class or a service level, has one value that is right for each port. */
bool variable_is_single(const Environment *e, const Variable *v);
/* What finds the values of V, a GID index, if the ports need several; NULL: nothing does. */
const char *variable_finder(const Environment *e, const Variable *v);

/* Writes into BUFFER what V must be for RAIL alone, "" if it must not be set. Returns false if RAIL
 * is left out, or any value is right for it. */
bool variable_value(const Environment *e, const Variable *v, const Rail *rail, char buffer[96]);
/* "3 for mlx5_0/1, mlx5_1/1; 5 for mlx5_2/1": all ports with a value where its first one is. The
 * caller frees it; NULL: there is no memory. */
char *variable_differences(const Environment *e, const Variable *v);
/* *RET_VALUE is the value of V, "" if it need not be set; or, if no single value is right, NULL,
 * and then *RET_WHY says which port needs which. The caller frees both. -ENOMEM. */
int variable_find(const Environment *e, const Variable *v, char **ret_value, char **ret_why);
