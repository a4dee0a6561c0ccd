/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel, the contexts and the log for a test of query-target.c, which the linker puts in the
 * place of the worker's own. */

#include "log.h"
#include "query-target.h"

#define DEVICE 5U /* its kernel index */

typedef struct Kernel {
	/* of the device, one question after the other; the last one stays */
	const char *names[4];
	int error;				/* of questions about the device */
	int64_t driver_id;			/* negative: it has no uverbs node */
	unsigned int n_asked, n_nodes, n_links; /* questions of each kind */
	int links_error;
	bool is_switch, is_opa;
	const char *driver; /* of its parent; NULL: none */
	bool has_instance;  /* of devlink */
	int health_error;
	unsigned int n_health;
	AttrText opened[16]; /* the names whose directories were opened */
	int directories[16]; /* their descriptors */
	unsigned int n_opened;
} Kernel;

typedef struct OpenContexts {
	bool held;
	int error; /* of the device that is to be opened */
	bool listed;
	unsigned int n_got, n_put, n_forgotten, n_retired, n_queried;
} OpenContexts;

extern Kernel kernel;
extern OpenContexts contexts;
extern struct ibv_context context;	     /* the one that is opened */
extern unsigned int n_logged[LOG_DEBUG + 1]; /* messages of each level */
