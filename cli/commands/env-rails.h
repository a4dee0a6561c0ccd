/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which ports a communication library should use, and by which of their GIDs and P_Keys. */

#include "bus.h"
#include "gid.h"
#include "selection.h"

/* The wishes of the command line about ports. */
typedef struct RailWish {
	const char *title;	 /* of the library */
	bool iwarp;		 /* it uses iWARP too */
	bool pkey_by_index;	 /* it is told the index of a P_Key, one for all ports */
	const char *without_efa; /* why it does not use EFA itself; NULL: it does */
	bool interface;		 /* it uses network interfaces, and needs one with an address */
	uint64_t rate;		 /* bit/s, at least; 0: any */
	const char *link_layer;	 /* NULL: that of the most bandwidth */
	const char *model;	 /* a pattern for HcaType or BoardId; NULL: any */
	const char *gpu;	 /* an index or a PCI address; NULL: none in particular */
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

	bool efa, infiniband;
	uint64_t rate;	    /* bit/s; 0: not known */
	bool has_index;	    /* a program must know the index of its GID */
	GidChoice gid;	    /* this one */
	const char *netdev; /* the interface with its address; "": none is known */

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
} Rails;

void rails_done(Rails *r);

/* Reads the ports that the arguments of C name, *RET_MISSING as selection_complain() says it, and
 * decides what W means for them. */
ExitStatus rails_read(Context *c, const RailWish *w, Rails *ret, ExitStatus *ret_missing);

/* Whether all rails that are used and have a GID have the index that is in its entry. */
bool rails_agree_on_index(const Rails *r);
/* Prints a comment of each rail that is left out, and why; of many for one reason there is one. */
void rails_print_left_out(const Rails *r, FILE *f);
