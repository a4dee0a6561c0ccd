/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "http-peers.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Fills in KEY, which is zeroed. A peer that cannot be told has the key of zeros. */
static void make_key(int fd, uint8_t key[17])
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} u = {};
	socklen_t size = sizeof(u);
	struct ucred c;

	if (getpeername(fd, &u.any, &size) < 0)
		return;
	key[0] = (uint8_t)u.any.sa_family;
	if (u.any.sa_family == AF_INET) {
		memcpy(key + 1, &u.in.sin_addr, 4);
	} else if (u.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&u.in6.sin6_addr)) {
		key[0] = AF_INET;
		memcpy(key + 1, u.in6.sin6_addr.s6_addr + 12, 4);
	} else if (u.any.sa_family == AF_INET6) {
		memcpy(key + 1, u.in6.sin6_addr.s6_addr, 8);
	} else {
		size = sizeof(c);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size) == 0)
			memcpy(key + 1, &c.uid, sizeof(c.uid));
	}
}

int http_peer_add(HttpPeers *p, int fd, HttpPeer **ret)
{
	HttpPeer *new = calloc(1, sizeof(*new)), *found;

	if (!new)
		return -ENOMEM;
	make_key(fd, new->key);
	for (found = p->first; found; found = found->next)
		if (memcmp(found->key, new->key, sizeof(new->key)) == 0)
			break;
	if (found) {
		free(new);
	} else {
		found = new;
		found->next = p->first;
		if (found->next)
			found->next->at = &found->next;
		found->at = &p->first;
		p->first = found;
	}
	found->n++;
	*ret = found;
	return 0;
}

void http_peer_remove(HttpPeer *p)
{
	if (--p->n > 0)
		return;
	*p->at = p->next;
	if (p->next)
		p->next->at = p->at;
	free(p);
}
