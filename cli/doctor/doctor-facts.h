/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What "rdmactl doctor" knows of this machine and of the rdmad that runs on it. Files are read
 * below ROOT, which is "" or, in a container, the directory where that of the host is.
 */

#include "kernel-features.h"
#include "object.h"
#include "rdmactl.h"

#define FACT_MAX 256

typedef struct Machine {
	const char *root;
	bool reached;	  /* rdmad has answered */
	bool simulated;	  /* the devices are none of this machine */
	pid_t pid;	  /* of rdmad; 0: not known */
	char version[32]; /* of rdmad; "": not known */
	char release[72]; /* of the kernel */
	ObjectList objects;
	KernelKnown kernel;
} Machine;

/* Asks rdmad on C->bus, which is NULL if there is none, and the kernel. Says what goes wrong with
 * rdmad. */
void machine_read(const Context *c, const char *root, Machine *ret);
void machine_done(Machine *m);
#define _cleanup_machine_ _cleanup_(machine_done)

/* The first line of the file PATH below the root; false: there is none, and RET is "". */
bool machine_line(const Machine *m, const char *path, char ret[FACT_MAX]);
bool machine_has(const Machine *m, const char *path);
/* Whether the worker of rdmad has a filter of seccomp; negative: not known. */
int machine_worker_is_filtered(const Machine *m);
/* Whether this is a container, as far as files say it. */
bool machine_is_container(const Machine *m);

/* One thing to know; "" if it is not known. */
typedef struct MachineFact {
	const char *name;
	void (*read)(const Machine *m, char ret[FACT_MAX]);
} MachineFact;

extern const MachineFact machine_facts[];
extern const size_t n_machine_facts;
