/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The descriptions of the interfaces on the bus and of their members: members.def at run time. The
 * properties that are rows of the attribute tables are documented there. */

#include "attribute.h"

typedef enum MemberKind {
	MEMBER_IS_INTERFACE,
	MEMBER_IS_METHOD,
	MEMBER_IS_SIGNAL,
	MEMBER_IS_PROPERTY
} MemberKind;

/* An argument of a method or signal. */
typedef struct MemberArgument {
	const char *name, *help;
} MemberArgument;

/* A row of members.def. */
typedef struct Member {
	MemberKind kind;
	const char *interface;		 /* "org.rdma.Port" */
	const char *name;		 /* "" for the interface itself */
	const char *help;		 /* sentences */
	const MemberArgument *arguments; /* the last one has no name; NULL: there are none */
} Member;

extern const Member members[];
extern const size_t n_members;

/* The row of NAME of INTERFACE; NULL if there is none. */
const Member *member_find(const char *interface, const char *name);
/* The sentence about argument NAME of M; NULL if there is none. */
const char *member_argument(const Member *m, const char *name);
