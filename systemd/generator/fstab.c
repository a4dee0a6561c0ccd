/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libmount/libmount.h>

#include "generator.h"
#include "order.h"
#include "util.h"

/* What makes a line one over RDMA: an option (with this value, if there is one here), or a part of
 * the source. */
static const struct {
	const char *type;
	const char *option;
	const char *value;
	const char *source;
} KINDS[] = {
	{"nfs", "proto", "rdma", NULL}, /* nfs(5) */
	{"nfs", "rdma", NULL, NULL},
	{"nfs4", "proto", "rdma", NULL},
	{"nfs4", "rdma", NULL, NULL},
	{"cifs", "rdma", NULL, NULL}, /* mount.cifs(8) */
	{"smb3", "rdma", NULL, NULL},
	{"lustre", NULL, NULL, "@o2ib"}, /* mount.lustre(8): the network of the server */
};

/* rdmad itself needs these: a mount of one of them that waited for rdmad would wait for itself. */
static const char *const NEEDED[] = {"/",	 "/dev",	   "/etc",    "/lib", "/proc",
				     "/run",	 "/sys",	   "/tmp",    "/usr", "/var",
				     "/var/lib", "/var/lib/rdmad", "/var/tmp"};

static bool has_option(const char *options, const char *name, const char *value)
{
	char *found = NULL;
	size_t size = 0;

	if (!options || mnt_optstr_get_option(options, name, &found, &size) != 0)
		return false;
	return !value || (size == strlen(value) && memcmp(found, value, size) == 0);
}

static bool is_rdma(struct libmnt_fs *fs)
{
	const char *type = mnt_fs_get_fstype(fs), *source = mnt_fs_get_srcpath(fs);
	const char *options = mnt_fs_get_options(fs);

	for (size_t i = 0; type && i < ARRAY_SIZE(KINDS); i++) {
		if (!streq(KINDS[i].type, type))
			continue;
		if (KINDS[i].option ? has_option(options, KINDS[i].option, KINDS[i].value)
				    : source && strstr(source, KINDS[i].source))
			return true;
	}
	return false;
}

static bool is_needed(const char *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(NEEDED); i++) {
		char needed[64];

		if (order_mount_unit(NEEDED[i], needed, sizeof(needed)) == 0 && streq(unit, needed))
			return true;
	}
	return false;
}

/* The port that the line names: the option x-rdma.port= is for us alone, clientaddr= is an address
 * of this machine. */
static char *port_of(struct libmnt_fs *fs)
{
	static const char *const NAMES[] = {"x-rdma.port", "clientaddr"};
	const char *options = mnt_fs_get_options(fs);

	for (size_t i = 0; options && i < ARRAY_SIZE(NAMES); i++) {
		char *value = NULL;
		size_t size = 0;

		if (mnt_optstr_get_option(options, NAMES[i], &value, &size) == 0 && size > 0)
			return strndup(value, size);
	}
	return NULL;
}

static int read_line(struct libmnt_fs *fs, const char *directory)
{
	_cleanup_free_ char *port = port_of(fs);
	const char *target = mnt_fs_get_target(fs);
	char unit[256];
	int r;

	if (!target || !is_rdma(fs))
		return 0;
	r = order_mount_unit(target, unit, sizeof(unit));
	if (r < 0) {
		fprintf(stderr, "fstab: '%s' is no mount point that a unit can have\n", target);
		return r;
	}
	if (is_needed(unit)) {
		fprintf(stderr, "fstab: %s does not wait for its port, because rdmad needs it\n",
			target);
		return 0;
	}
	r = order_write(directory, unit, port);
	if (r < 0)
		fprintf(stderr, "fstab: %s does not wait for %s: %s\n", target,
			port ?: "the configured ports", strerror(-r));
	return r;
}

/* libmount goes on after a line that it does not understand. */
static int bad_line(_unused_ struct libmnt_table *table, const char *path, int line)
{
	fprintf(stderr, "%s:%d: not understood, and ignored\n", path, line);
	return 1;
}

int fstab_read(const char *path, const char *directory)
{
	struct libmnt_table *table = mnt_new_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;
	int r = table && iter ? 0 : -ENOMEM, q;

	if (r == 0) {
		mnt_table_set_parser_errcb(table, bad_line);
		r = access(path, F_OK) < 0 && errno == ENOENT ? 0
							      : mnt_table_parse_fstab(table, path);
		if (r != 0)
			fprintf(stderr, "%s: %s\n", path, strerror(r < 0 ? -r : EINVAL));
	}
	if (r > 0)
		r = -EINVAL;
	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		q = read_line(fs, directory);
		if (r == 0)
			r = q;
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return r;
}
