/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is the shared memory itself, as a program may be given it by anybody. librdmad must not
 * trust any of it. */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "memory-layout.h"
#include "rdmad.h"
#include "util.h"

/* What must be true of a record that was read successfully. */
static void check_port(const struct rdmad_port *p)
{
	FUZZ_CHECK(memchr(p->device_name, '\0', sizeof(p->device_name)));
	FUZZ_CHECK(memchr(p->netdev, '\0', sizeof(p->netdev)));
	FUZZ_CHECK(p->hot.flags & RDMAD_PORT_PRESENT);
	FUZZ_CHECK(!(p->hot.flags & (RDMAD_PORT_MOVED | RDMAD_PORT_CLOSED)));
	FUZZ_CHECK(p->hot.sequence % 2 == 0);
}

static void read_port(const struct rdmad *r, struct rdmad_handle port)
{
	struct rdmad_port p;
	struct rdmad_hot hot;
	struct ibv_port_attr a;
	int e = rdmad_read(r, port, &p);

	FUZZ_CHECK(e == 0 || e == -EAGAIN || e == -ENODEV || e == -ESTALE || e == -ENOTCONN);
	FUZZ_CHECK(rdmad_read_hot(r, port, &hot) == e);
	if (e == 0) {
		struct rdmad_handle found;

		check_port(&p);
		FUZZ_CHECK(memcmp(&hot, &p.hot, sizeof(hot)) == 0);
		(void)rdmad_find(r, p.device_name, &found);
		(void)rdmad_find(r, p.netdev, &found);
	}
	(void)rdmad_query_port(r, port, &a);
}

static void use(struct rdmad *r, const struct memory_header *h, size_t size)
{
	struct rdmad_handle port = RDMAD_HANDLE_FIRST, last = {0, h->capacity - 1};
	uint32_t n = 0;

	while (rdmad_next(r, &port) == 1) {
		/* no record is found behind the end of the file */
		FUZZ_CHECK(h->header_size + (port.slot + UINT64_C(1)) * h->record_size <= size);
		FUZZ_CHECK(++n <= h->capacity);
		if (n < 64)
			read_port(r, port);
	}
	read_port(r, last);
	read_port(r, (struct rdmad_handle){0, h->capacity});
	(void)rdmad_find(r, "mlx5_0/1", &port);
	(void)rdmad_ports_generation(r);
	FUZZ_CHECK(rdmad_wait(r, 0) == -EOPNOTSUPP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING), e;
	struct memory_header h = {};
	struct rdmad *r = NULL;

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	e = rdmad_open_fd(fd, -1, &r);
	FUZZ_CHECK(e == 0 || e == -EBADMSG || e == -EPROTONOSUPPORT);
	if (e < 0) {
		close(fd);
		return 0;
	}
	memcpy(&h, data, sizeof(h));
	use(r, &h, size);
	rdmad_close(r);
	return 0;
}
