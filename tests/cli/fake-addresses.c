/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A library for LD_PRELOAD: the addresses that a machine has, and how it answers ARP, without being
 * root. FAKE_ADDRESSES is "NETDEV=ADDRESS/PREFIX ...", FAKE_ARP what each file below
 * /proc/sys/net/ipv4/conf has.
 */

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fake {
	struct ifaddrs entry;
	struct sockaddr_in address, mask;
	char name[16];
} Fake;

int getifaddrs(struct ifaddrs **ret)
{
	const char *rest = getenv("FAKE_ADDRESSES");
	char name[16], text[16];
	unsigned int prefix;
	int used;

	*ret = NULL;
	for (; rest && sscanf(rest, " %15[^=]=%15[^/]/%u%n", name, text, &prefix, &used) == 3;
	     rest += used) {
		Fake *f = calloc(1, sizeof(*f));

		if (!f)
			abort();
		f->address.sin_family = f->mask.sin_family = AF_INET;
		inet_pton(AF_INET, text, &f->address.sin_addr);
		f->mask.sin_addr.s_addr = prefix ? htonl(~0U << (32 - prefix)) : 0;
		memcpy(f->name, name, sizeof(name));
		f->entry = (struct ifaddrs){.ifa_next = *ret,
					    .ifa_name = f->name,
					    .ifa_addr = (struct sockaddr *)&f->address,
					    .ifa_netmask = (struct sockaddr *)&f->mask};
		*ret = &f->entry;
	}
	return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
	while (all) {
		struct ifaddrs *next = all->ifa_next;

		free(all); /* the entry is the first member of a Fake */
		all = next;
	}
}

static FILE *open_fake(const char *path, const char *mode, const char *real)
{
	FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, real);
	char *value = getenv("FAKE_ARP");

	if (strncmp(path, "/proc/sys/net/ipv4/conf/", 24) == 0)
		return value && *value ? fmemopen(value, strlen(value), "r") : NULL;
	return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return open_fake(path, mode, "fopen");
}

FILE *fopen64(const char *path, const char *mode)
{
	return open_fake(path, mode, "fopen64");
}
