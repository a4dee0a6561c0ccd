/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The comparison of devices that libibverbs does not list, and what it shares with that of the
 * others in compare.c.
 */

#include "published.h"

/* The differences that were found. */
typedef struct Report {
	FILE *stream; /* gets a line for each */
	int n;
} Report;

void differs(Report *r, const char *what, uint64_t published, uint64_t is);
void compare_property(Report *r, const Object *o, const char *name, const char *expected);
void compare_number(Report *r, const Object *o, const char *name, uint64_t expected);

/* Reads the first line of a file in sysfs. False if it cannot be read. */
bool read_line(char *buffer, size_t size, const char *format, ...) _printf_(3, 4);
/* The value of a table property, entered as far as its entries. NULL if rdmad does not answer or
 * answers with an error, which is reported. */
sd_bus_message *get_table(Fixture *f, Report *r, const char *path, const char *interface,
			  const char *name, const char *entry);
void format_gid(const union ibv_gid *gid, char ret[40]);
/* The interface of a GID, empty if it is none of this network namespace: then no interface here has
 * its name, or the one that has it has another index than IFINDEX. IFINDEX 0: not known. */
void gid_netdev(const char *device, uint8_t port, uint32_t index, uint32_t ifindex, char ret[64]);

/* The network interface of an Ethernet port: the one of its first GID. Without a GID there is no
 * way to find it here. */
void compare_netdev(Report *r, const Object *o, const char *device, uint8_t port);
/* The first LENGTH entries of the table. Reads sysfs and does not call ibv_query_pkey(), which
 * looks under the name that the device had first. */
void compare_pkeys(Fixture *f, Report *r, const char *path, const char *device, uint8_t port,
		   uint32_t length);

/* Compares port NUMBER, or the device itself if that is 0, whose object is PATH. Returns 0, or a
 * negative errno if the kernel cannot be asked. */
int compare_unlisted(Fixture *f, Report *r, uint32_t index, const char *path, uint8_t number);
