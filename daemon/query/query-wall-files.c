/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-wall-files.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include "landlock.h"
#include "pci-control.h"
#include "util.h"

/* Newer than the headers of Debian 12. The number is that of the ABI which has it. */
#define FS_TRUNCATE	 (UINT64_C(1) << 14) /* 3: Linux 6.2 */
#define NET_TCP		 UINT64_C(3)	     /* 4: Linux 6.7, bind and connect */
#define FS_IOCTL_DEV	 (UINT64_C(1) << 15) /* 5: Linux 6.10 */
#define SCOPE_ABSTRACT	 (UINT64_C(1) << 0)  /* 6: Linux 6.12, abstract UNIX sockets */
#define SCOPE_SIGNAL	 (UINT64_C(1) << 1)  /* 6 */
#define FS_OF_FIRST_ABI	 ((UINT64_C(1) << 13) - 1)
#define FS_FOR_DIRECTORY (FS_OF_FIRST_ABI & ~FS_FOR_FILE)
#define FS_FOR_FILE                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE)

#define READ	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EXECUTE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE)
#define DEVICE	(READ | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_IOCTL_DEV)

/* struct landlock_ruleset_attr of ABI 6. An older kernel takes it if what it does not know is 0. */
typedef struct RulesetAttr {
	uint64_t fs, net, scoped;
} RulesetAttr;

static const struct {
	const char *path;
	uint64_t access;
} files[] = {
	{"/sys", READ},
	{PCI_CONTROLS, READ},
	/* Not only /dev/infiniband: the kernel makes that directory with the first device and
	 * removes it with the last, and a rule belongs to the directory that was there. Which
	 * devices can be opened is for the unit to say. */
	{"/dev", DEVICE},
	/* Libraries: libibverbs loads those of the drivers when it meets the first device. */
	{"/etc/ld.so.cache", READ},
	{"/etc/libibverbs.d", READ},
	{"/lib", READ},
	{"/lib64", READ},
	{"/opt", READ},
	{"/usr", READ},
};

/* The rights of this file that the kernel of ABI knows. */
static RulesetAttr known(int abi)
{
	RulesetAttr a = {.fs = FS_OF_FIRST_ABI};

	if (abi >= 2)
		a.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		a.fs |= FS_TRUNCATE;
	if (abi >= 4)
		a.net = NET_TCP;
	if (abi >= 5)
		a.fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		a.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL;
	return a;
}

/* Allows ACCESS to PATH, and to all below it. A path that does not exist needs no rule. */
static int allow(int ruleset, const RulesetAttr *attr, const char *path, uint64_t access)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {.parent_fd = fd};
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	rule.allowed_access = access & attr->fs;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= ~FS_FOR_DIRECTORY;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

static int allow_libraries(int ruleset, const RulesetAttr *attr)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	_cleanup_free_ char *copy = strdup(list ? list : "");
	char *rest = copy, *path;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (path = strsep(&rest, ":;")))
		if (path[0] == '/')
			r = allow(ruleset, attr, path, READ);
	return r;
}

/* The first object is the program. Its interpreter is the dynamic loader. */
static int find_loader(struct dl_phdr_info *info, _unused_ size_t size, void *userdata)
{
	const char **ret = userdata;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*ret = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1;
}

static int allow_itself(int ruleset, const RulesetAttr *attr)
{
	const char *loader = NULL;
	int r = allow(ruleset, attr, "/proc/self/exe", EXECUTE);

	dl_iterate_phdr(find_loader, &loader);
	return r < 0 || !loader ? r : allow(ruleset, attr, loader, EXECUTE);
}

int wall_files_put_on(bool isolates, bool *ret_signals)
{
	_cleanup_close_ int ruleset = -EBADF;
	RulesetAttr attr;
	int abi = landlock_abi(), r = 0;

	if (abi == 0)
		return -EOPNOTSUPP;
	attr = known(abi);
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return -errno;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(files); i++)
		r = allow(ruleset, &attr, files[i].path, files[i].access);
	if (r == 0)
		r = allow_libraries(ruleset, &attr);
	if (r == 0 && isolates)
		r = allow_itself(ruleset, &attr);
	if (r < 0)
		return r;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return -errno;
	*ret_signals = attr.scoped & SCOPE_SIGNAL;
	return 0;
}
