/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-gpudirect.h"

#include <dlfcn.h>
#include <fcntl.h>

#include "list.h"
#include "query-sysfs.h"

/* nvidia_peermem is a client of ib_core, too, but kernels without MLNX_OFED have no list of these.
 */
#define MODULE	  "nvidia_peermem"
#define PEERS_MAX 8U

void gpudirect_read_peers(int sys, AttrPath ret)
{
	_cleanup_(closedir_pointer) DIR *peers = sysfs_open_list(sys, "kernel/mm/memory_peers");
	const struct dirent *d;
	unsigned int n = 0;
	ListWriter w;

	list_begin(&w, ATTR_WORDS, ret, sizeof(AttrPath));
	if (faccessat(sys, "module/" MODULE "/version", F_OK, 0) == 0)
		list_add_word(&w, MODULE);
	while (peers && n < PEERS_MAX && (d = readdir(peers))) {
		AttrText name;

		if (d->d_name[0] == '.' || streq(d->d_name, MODULE) ||
		    d->d_name[strspn(d->d_name, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
			continue;
		text_copy(name, sizeof(name), d->d_name);
		list_add_word(&w, name);
		n++;
	}
	list_end(&w);
}

void gpudirect_supply_peers(DeviceSnapshot *s)
{
	_cleanup_close_ int sys = sysfs_open_directory(AT_FDCWD, "/sys");
	AttrPath peers;

	if (sys < 0)
		return;
	gpudirect_read_peers(sys, peers);
	DEVICE_SUPPLY_TEXT(s, peer_memory, peers);
}

/* A descriptor that is none is refused with EBADF by who could register it, and with another error
 * by a kernel or a driver that cannot. DMA_BUF_UNTRIED: neither was the answer. */
static DmaBuf try_dma_buf(struct ibv_context *context)
{
	static struct ibv_mr *(*reg)(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int);
	static bool looked_up;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	int error;

	if (!looked_up)
		*(void **)&reg = dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr");
	looked_up = true;
	pd = reg ? ibv_alloc_pd(context) : NULL;
	if (!pd)
		return DMA_BUF_UNTRIED;
	errno = 0;
	mr = reg(pd, 0, 0, 0, -1, 0);
	error = errno;
	if (mr)
		ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	if (error == EOPNOTSUPP || error == EPROTONOSUPPORT)
		return DMA_BUF_NO;
	return error == EBADF ? DMA_BUF_YES : DMA_BUF_UNTRIED;
}

void gpudirect_supply_dma_buf(struct ibv_context *context, DmaBuf *known, DeviceSnapshot *s)
{
	if (*known == DMA_BUF_UNTRIED)
		*known = try_dma_buf(context);
	if (*known != DMA_BUF_UNTRIED)
		DEVICE_SUPPLY(s, dma_buf, *known == DMA_BUF_YES);
}
