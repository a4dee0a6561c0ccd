/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives the users of the attacks a name, for dbus-daemon, which refuses connections of users that
 * have none. dbus-daemon is started with this library in LD_PRELOAD.
 */

#include <dlfcn.h>
#include <pwd.h>

#include "arena.h"

typedef int (*Function)(uid_t, struct passwd *, char *, size_t, struct passwd **);

__attribute__((visibility("default"))) int getpwuid_r(uid_t uid, struct passwd *p, char *buffer,
						      size_t size, struct passwd **ret)
{
	static char home[] = "/", shell[] = "/bin/false", none[] = "";
	Function next;

	if (uid < ARENA_FIRST_UID || uid > ARENA_LAST_UID) {
		*(void **)&next = dlsym(RTLD_NEXT, "getpwuid_r");
		return next(uid, p, buffer, size, ret);
	}
	snprintf(buffer, size, "attack%u", uid);
	*p = (struct passwd){.pw_name = buffer,
			     .pw_passwd = none,
			     .pw_uid = uid,
			     .pw_gid = uid,
			     .pw_gecos = none,
			     .pw_dir = home,
			     .pw_shell = shell};
	*ret = p;
	return 0;
}
