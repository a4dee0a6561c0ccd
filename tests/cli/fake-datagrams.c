/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A library for LD_PRELOAD: what the network does with the datagrams of rdmactl ping. Nobody uses
 * the service "discard" of an address of this machine, whatever listens there: it is asked for at
 * the port 0. The first FAKE_LOST large datagrams are lost.
 */

#include <dlfcn.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DISCARD 9
#define LARGE	1000

static bool is_datagram(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

/* The function of the C library, which this one has replaced. */
static void find_real(const char *name, void *ret, size_t size)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	memcpy(ret, &found, size);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	int (*real)(int, const struct sockaddr *, socklen_t);
	struct sockaddr_storage changed = {};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&changed;

	find_real("connect", &real, sizeof(real));
	memcpy(&changed, to, size);
	if (to->sa_family == AF_INET && v4->sin_port == htons(DISCARD) && is_datagram(fd))
		v4->sin_port = 0;
	return real(fd, (struct sockaddr *)&changed, size);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int);
	const char *lost = getenv("FAKE_LOST");
	static int n;

	find_real("send", &real, sizeof(real));
	if (lost && size >= LARGE && is_datagram(fd) && n++ < atoi(lost))
		return (ssize_t)size;
	return real(fd, data, size, flags);
}
