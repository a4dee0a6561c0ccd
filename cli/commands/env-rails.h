/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which ports a communication library should use, and by which of their GIDs and P_Keys. */

#include <net/if.h>

#include "bus.h"
#include "env-library.h"
#include "gid.h"
#include "selection.h"

/* The wishes of the command line about ports, and the library that is to use them. */
typedef struct RailWish {
	const Library *library;
	uint64_t rate;		/* bit/s, at least; 0: any */
	const char *link_layer; /* NULL: that of the most bandwidth */
	const char *model;	/* a pattern for HcaType or BoardId; NULL: any */
	const char *gpu;	/* an index or a PCI address; NULL: none in particular */
	bool has_pkey;
	uint32_t pkey; /* the partition, without the bit of the membership */
} RailWish;

/* A port that was chosen. */
typedef struct Rail {
	const Object *port, *device;
	char *reason; /* why it is left out; NULL: it is not */

	/* what the arguments say of it */
	uint32_t named_index;	  /* of the GID; UINT32_MAX: none */
	const char *named_netdev; /* a network interface; "": none */
	bool named_twice;	  /* by two addresses */
	uint32_t named_pkey;	  /* of the IPoIB interface; 0: none */

	bool efa, infiniband;
	uint64_t rate;		  /* bit/s; 0: not known */
	bool has_index;		  /* a program must know the index of its GID */
	GidChoice gid;		  /* this one */
	char netdev[IF_NAMESIZE]; /* the interface with its address; "": none is known */

	bool has_pkey; /* it is a full member of PKEY, the entry PKEY_INDEX */
	uint32_t pkey, pkey_index;
} Rail;

typedef struct Rails {
	Selection selection;
	FoundPaths *found; /* by argument; what the rails point to is in here */
	size_t n_found;
	FoundPaths with_v4,
		with_v6; /* the ports whose interfaces have addresses, if that is known */
	bool know_addresses;
	Rail *items;
	size_t n, n_used;
	int index_family; /* see rails_index_family() */
} Rails;

void rails_done(Rails *r);

/* Reads the ports that the arguments of C name, *RET_MISSING as selection_complain() says it, and
 * decides what W means for them. */
ExitStatus rails_read(Context *c, const RailWish *w, Rails *ret, ExitStatus *ret_missing);

/* NULL: the rail has a GID, the best of which is in it now. Else why not; the text may be in
 * BUFFER.
 */
const char *rail_find_gid(Rail *r, char buffer[256]);
/* A library takes one index for all ports. Each may have another one that is as good as its best:
 * an index that is good for all is taken, the lowest of them. */
void rails_find_common_index(Rails *r);
/* Gives R the P_Key with the lowest index of those that are PKEY, 0: any. False: there is none. */
bool rail_find_pkey(Rail *r, const RailWish *w, uint32_t pkey);
/* A job that was told an IPoIB interface belongs to its partition, if the port is a full member. */
void rail_name_pkey(Rail *r, const RailWish *w);
/* A library takes one P_Key for all ports. The first that is right for all is taken, though it is
 * not the first one of each. */
void rails_find_common_pkey(Rails *r, const RailWish *w);

/* NCCL and UCX, if they are told no index, take the first GID of each port with RoCE v2 and an
 * address of one family. If the rails need several indices and each is that: the family, AF_INET or
 * AF_INET6, else AF_UNSPEC. */
int rails_index_family(const Rails *r);
/* Whether any rail has a GID of RoCE v2 with an address of FAMILY, that of IPv6 not link-local. */
bool rails_have(const Rails *r, int family);
/* The traffic class with which packets of R have a priority with flow control, if the DSCP that
 * they have by themselves has none; if several are right, their DSCPs with the priorities. False:
 * none is needed, or none helps, or it is not known. */
bool rail_find_class(const Rail *r, uint32_t dscp, char buffer[96]);
/* The same of the service level, which is the priority where the tag of a VLAN says it. */
bool rail_find_level(const Rail *r, char buffer[96]);
/* Whether only neighbours reach the GID of R. */
bool rail_is_link_local(const Rail *r);
/* The device that a library which compares beginnings takes for that of R too; NULL: there is none.
 */
const char *rails_same_beginning(const Rails *rails, const Rail *r);
/* Prints a comment of each rail that is left out, and why; of many for one reason there is one. */
void rails_print_left_out(const Rails *r, FILE *f);
