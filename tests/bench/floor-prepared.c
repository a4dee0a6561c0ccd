/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A floor: a service, written without a library, that answers every call with the same prepared
 * bytes, and Ping with an empty reply. So the time that a call takes is that of the bus and the
 * kernel.
 *
 *     floor-prepared SOCKET NAME SIGNATURE FILE
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bench.h"
#include "raw.h"

int main(int argc, char *argv[])
{
	const char *signature;
	struct stat st;
	RawMessage m;
	void *body;
	Raw *r;
	int fd;

	if (argc != 5)
		return 2;
	signature = argv[3];
	fd = open(argv[4], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		bench_die("%s: %m", argv[4]);
	body = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (body == MAP_FAILED)
		bench_die("%s: %m", argv[4]);
	r = raw_connect(argv[1], argv[2]);
	for (;;) {
		raw_receive(r, &m);
		if (m.type != RAW_CALL || !m.wants_reply)
			continue;
		if (streq(m.member, "Ping"))
			raw_reply(r, &m, NULL, NULL, 0);
		else
			raw_reply(r, &m, signature, body, (size_t)st.st_size);
	}
}
