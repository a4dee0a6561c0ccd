/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rdmad-networkd takes of an answer of systemd-networkd, which has in it what a switch says.
 */

#include "input.h"
#include "networkd.h"

#define NOW_USEC 7U

static int on_neighbor(void *userdata, const Neighbor *n)
{
	unsigned int *n_told = userdata;

	check_text(n->interface);
	check_text(n->system);
	check_text(n->port);
	check_text(n->port_text);
	check_text(n->chassis);
	FUZZ_CHECK(n->vlan <= VLAN_MAX && n->pfc == -1 && n->since_usec == NOW_USEC);
	FUZZ_CHECK(!*n->address && !n->frame && n->ets == UINT64_MAX);
	return ++*n_told > 8 ? -ENOBUFS : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int n_told = 0;
	int r = networkd_parse((const char *)data, size, NOW_USEC, on_neighbor, &n_told);

	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -EIO || (r == -ENOBUFS && n_told == 9));
	FUZZ_CHECK(r == 0 || r == -ENOBUFS || n_told == 0);
	return 0;
}
