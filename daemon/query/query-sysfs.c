/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include "decode.h"

int sysfs_open_directory(int parent, const char *path)
{
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

DIR *sysfs_open_list(int parent, const char *path)
{
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list)
		close_fd(fd);
	return list;
}

int sysfs_open_device(const char *name)
{
	char path[sizeof("/sys/class/infiniband/") + sizeof(AttrText)];

	if (!is_file_name(name))
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	return sysfs_open_directory(AT_FDCWD, path);
}

/* Reads the first SIZE - 1 bytes without space at the end, terminated. -ENODATA if that is nothing.
 */
static int read_open_file(int fd, char *buffer, size_t size, size_t *ret)
{
	ssize_t n;

	do
		n = pread(fd, buffer, size - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	while (n > 0 && (isspace((unsigned char)buffer[n - 1]) || buffer[n - 1] == '\0'))
		n--;
	buffer[n] = '\0';
	*ret = (size_t)n;
	return n ? 0 : -ENODATA;
}

static int read_file(int directory, const char *path, char *buffer, size_t size, size_t *ret)
{
	_cleanup_close_ int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_open_file(fd, buffer, size, ret);
}

int sysfs_read_text(int directory, const char *path, char *buffer, size_t size)
{
	size_t n;
	int r = read_file(directory, path, buffer, size, &n);

	if (r < 0)
		return r;
	memset(buffer + n, 0, size - n);
	text_sanitize(buffer, size);
	return buffer[0] ? 0 : -ENODATA; /* the file may begin with a zero byte */
}

int sysfs_read_lines(int directory, const char *path, char *buffer, size_t size)
{
	size_t n;

	return read_file(directory, path, buffer, size, &n);
}

static int parse_number(char *text, uint64_t max, uint64_t *ret)
{
	text[strcspn(text, ":")] = '\0';
	return text_to_u64(text, max, ret) < 0 ? -EINVAL : 0;
}

int sysfs_read_number(int directory, const char *path, uint64_t max, uint64_t *ret)
{
	AttrText text;
	size_t n;
	int r = read_file(directory, path, text, sizeof(text), &n);

	return r < 0 ? r : parse_number(text, max, ret);
}

int sysfs_read_open_number(int file, uint64_t max, uint64_t *ret)
{
	AttrText text;
	size_t n;
	int r = read_open_file(file, text, sizeof(text), &n);

	return r < 0 ? r : parse_number(text, max, ret);
}

int sysfs_read_link(int directory, const char *path, char *buffer, size_t size)
{
	char target[512];
	ssize_t n = readlinkat(directory, path, target, sizeof(target) - 1);
	const char *slash;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	slash = strrchr(target, '/');
	text_copy(buffer, size, slash ? slash + 1 : target);
	return 0;
}

bool sysfs_is_pci_address(const char *text)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	return !text[strspn(text, "0123456789abcdef:.")] &&
	       sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 &&
	       text[end] == '\0';
}

void sysfs_supply_device(int device, DeviceSnapshot *s)
{
	AttrLongText long_text;
	AttrText text;
	uint64_t v;

	if (sysfs_read_text(device, "hw_rev", text, sizeof(text)) == 0)
		DEVICE_SUPPLY_TEXT(s, hw_rev, text);
	if (sysfs_read_text(device, "hca_type", text, sizeof(text)) == 0)
		DEVICE_SUPPLY_TEXT(s, hca_type, text);
	if (sysfs_read_text(device, "board_id", text, sizeof(text)) == 0)
		DEVICE_SUPPLY_TEXT(s, board_id, text);
	if (sysfs_read_text(device, "node_desc", long_text, sizeof(long_text)) == 0)
		DEVICE_SUPPLY_TEXT(s, node_desc, long_text);
	if (sysfs_read_link(device, "device/driver", text, sizeof(text)) == 0)
		DEVICE_SUPPLY_TEXT(s, driver, text);
	if (sysfs_read_link(device, "device", text, sizeof(text)) == 0 &&
	    sysfs_is_pci_address(text))
		DEVICE_SUPPLY_TEXT(s, pci_address, text);
	/* -1 stands for none. */
	if (sysfs_read_number(device, "device/numa_node", INT32_MAX, &v) == 0)
		DEVICE_SUPPLY(s, numa_node, (uint32_t)v);
}

/* The entries of a table that is being read. */
typedef struct Growing {
	void *entries;
	size_t n;
} Growing;

static int append(Growing *g, const void *entry, size_t size)
{
	void *p;

	if (g->n >= TABLE_ENTRIES_MAX)
		return -E2BIG;
	p = array_double(g->entries, g->n, size);
	if (!p)
		return -ENOMEM;
	g->entries = p;
	memcpy((char *)g->entries + g->n++ * size, entry, size);
	return 0;
}

/* Makes the table of the entries of G unless R is an error, which it returns. Frees the entries. */
static int finish(Growing *g, size_t size, int r, Table **ret)
{
	if (r == 0)
		r = table_make(g->entries, g->n, size, ret);
	free(g->entries);
	return r;
}

static int compare_chardevs(const void *a, const void *b)
{
	const ChardevEntry *x = a, *y = b;

	return x->major != y->major ? (x->major < y->major ? -1 : 1)
				    : (x->minor > y->minor) - (x->minor < y->minor);
}

/* The entry of the character device called NODE in a directory of its class; false if it belongs to
 * another RDMA device. */
static bool read_chardev(int class, const char *node, const char *name, ChardevEntry *ret)
{
	ChardevEntry e = {};
	AttrText text;
	char path[300];
	unsigned int major_number, minor_number;
	uint64_t port;
	int end = 0;

	snprintf(path, sizeof(path), "%s/ibdev", node);
	if (sysfs_read_text(class, path, text, sizeof(text)) < 0 || !streq(text, name))
		return false;
	snprintf(path, sizeof(path), "%s/dev", node);
	if (sysfs_read_text(class, path, text, sizeof(text)) < 0 ||
	    sscanf(text, "%u:%u%n", &major_number, &minor_number, &end) != 2 || text[end] ||
	    strlen(node) + sizeof("/dev/infiniband/") > sizeof(e.path))
		return false;
	e.major = major_number;
	e.minor = minor_number;
	snprintf(path, sizeof(path), "%s/port", node);
	if (sysfs_read_number(class, path, UINT32_MAX, &port) == 0)
		e.port = (uint32_t)port;
	text_copy(e.class, sizeof(e.class), startswith(node, "issm") ? "issm" : "mad");
	snprintf(e.path, sizeof(e.path), "/dev/infiniband/%.*s", (int)sizeof(e.path) - 17, node);
	*ret = e;
	return true;
}

static int read_mad_class(int parent, const char *name, Growing *g)
{
	_cleanup_(closedir_pointer) DIR *directory = sysfs_open_list(parent, "infiniband_mad");
	struct dirent *d;
	int r = 0;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (d = readdir(directory))) {
		ChardevEntry e;

		if (read_chardev(dirfd(directory), d->d_name, name, &e))
			r = append(g, &e, sizeof(e));
	}
	return r;
}

int sysfs_read_chardevs(int device, int classes, const char *name, const ChardevEntry *verbs,
			Table **ret)
{
	_cleanup_close_ int parent = sysfs_open_directory(device, "device");
	int base = parent >= 0 ? parent : classes;
	Growing g = {};
	int r = verbs ? append(&g, verbs, sizeof(*verbs)) : 0;

	if (r == 0)
		r = read_mad_class(base, name, &g);
	if (r == 0 && g.n)
		sort(g.entries, g.n, sizeof(ChardevEntry), compare_chardevs);
	return finish(&g, sizeof(ChardevEntry), r, ret);
}

/*
 * The rows that a file of the port's directory has. The first seven are those of a port whose
 * context is not open: verbs says them too. For a row that sysfs alone has, a line here and the row
 * in port-attributes.def are all that is needed.
 */
static const struct {
	PortAttr attr;
	const char *file;
} port_files[] = {
	{PORT_ATTR_state, "state"},
	{PORT_ATTR_phys_state, "phys_state"},
	{PORT_ATTR_lid, "lid"},
	{PORT_ATTR_lmc, "lid_mask_count"},
	{PORT_ATTR_sm_lid, "sm_lid"},
	{PORT_ATTR_sm_sl, "sm_sl"},
	{PORT_ATTR_link_layer, "link_layer"},
};

/* Whether verbs was not asked: the width is always in its answer. */
static bool lacks_verbs(const PortSnapshot *s)
{
	return !mask_has(&s->supplied, PORT_ATTR_active_width);
}

bool sysfs_may_supply_port(const PortSnapshot *s)
{
	if (lacks_verbs(s))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(port_files); i++)
		if (!mask_has(&s->supplied, port_files[i].attr))
			return true;
	return false;
}

/* Reads one file into its row. */
static int read_row(int directory, const char *file, const Attribute *row, PortValues *values)
{
	AttrPath long_text;
	AttrText text;
	uint32_t code = 0;
	uint64_t v;
	int r;

	if (attr_is_text(row->type)) {
		r = sysfs_read_text(directory, file, long_text, row->size);
		return r < 0 ? r : attr_set_text(row, values, long_text);
	}
	if (row->type == ATTR_LINK_LAYER) {
		r = sysfs_read_text(directory, file, text, sizeof(text));
		/* "Unknown" stays 0, which is IBV_LINK_LAYER_UNSPECIFIED. */
		if (r == 0)
			(void)decode_value(row->type, text, &code);
		v = code;
	} else {
		r = sysfs_read_number(directory, file,
				      row->size == sizeof(code) ? UINT32_MAX : UINT64_MAX, &v);
	}
	if (r < 0)
		return r;
	attr_set_raw(row, values, v);
	return 0;
}

bool sysfs_parse_rate(const char *text, uint32_t *ret_width, uint32_t *ret_speed)
{
	unsigned int lanes;
	char name[8] = "SDR"; /* kernels before 6.7 leave that name out */
	int n = 0;

	if (sscanf(text, "%*[0-9.] Gb/sec (%3uX%n", &lanes, &n) != 1 || n == 0)
		return false;
	text += n;
	if (*text == ' ' && sscanf(text, " %7[A-Z0-9]%n", name, &n) == 1)
		text += n;
	return streq(text, ")") && decode_code(ATTR_WIDTH, lanes, ret_width) == 0 &&
	       decode_value(ATTR_SPEED, name, ret_speed) == 0;
}

/* The width and speed of the link. As verbs does, the field of eight bits says NDR of everything
 * quicker. */
static int supply_rate(int directory, PortSnapshot *s)
{
	uint32_t width, speed;
	AttrText text;
	int r = sysfs_read_text(directory, "rate", text, sizeof(text));

	if (r < 0 || !sysfs_parse_rate(text, &width, &speed))
		return r;
	PORT_SUPPLY(s, active_width, width);
	PORT_SUPPLY(s, active_speed, MIN(speed, (uint32_t)SPEED_NDR));
	if (speed > SPEED_NDR)
		PORT_SUPPLY(s, active_speed_ex, speed);
	return 0;
}

/* The number of entries of a table: it has a file for each. False if that is not known. */
static bool count_files(int directory, const char *name, uint32_t *ret)
{
	_cleanup_(closedir_pointer) DIR *files = sysfs_open_list(directory, name);
	const struct dirent *entry;
	uint32_t n = 0;

	if (!files)
		return false;
	while ((entry = readdir(files)))
		n += isdigit((unsigned char)entry->d_name[0]) != 0;
	*ret = n;
	return true;
}

bool sysfs_may_pass(int error)
{
	return error != -ENOENT && error != -ENODEV && error != -EOPNOTSUPP && error != -EINVAL &&
	       error != -EACCES && error != -EPERM && error != -E2BIG;
}

/* Keeps in *FIRST the first error that may pass. No text, or one that is not understood, does not.
 */
static void note_error(int r, int *first)
{
	if (r < 0 && r != -ENODATA && r != -EBADMSG && sysfs_may_pass(r) && *first == 0)
		*first = r;
}

/* Supplies values that files have in another form than verbs. Netlink has the capability mask of
 * some ports only.
 */
static void supply_without_verbs(int directory, PortSnapshot *s, int *error)
{
	uint64_t mask;
	uint32_t n;
	int r;

	note_error(supply_rate(directory, s), error);
	if (!mask_has(&s->supplied, PORT_ATTR_gid_tbl_len) && count_files(directory, "gids", &n))
		PORT_SUPPLY(s, gid_tbl_len, n);
	/* a port without P_Keys has no directory for them */
	if (!mask_has(&s->supplied, PORT_ATTR_pkey_tbl_len)) {
		if (count_files(directory, "pkeys", &n))
			PORT_SUPPLY(s, pkey_tbl_len, n);
		else if (errno == ENOENT)
			PORT_SUPPLY(s, pkey_tbl_len, 0);
	}
	if (mask_has(&s->supplied, PORT_ATTR_cap_mask))
		return;
	r = sysfs_read_number(directory, "cap_mask", UINT32_MAX, &mask);
	if (r == 0)
		PORT_SUPPLY(s, cap_mask, mask);
	note_error(r, error);
}

int sysfs_supply_port(int device, uint32_t port, PortSnapshot *s)
{
	_cleanup_close_ int directory = -EBADF;
	int error = 0, r;
	char path[32];

	snprintf(path, sizeof(path), "ports/%u", port);
	directory = sysfs_open_directory(device, path);
	if (directory < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(port_files); i++) {
		PortAttr attr = port_files[i].attr;

		if (mask_has(&s->supplied, attr))
			continue;
		r = read_row(directory, port_files[i].file, &port_attributes[attr], &s->values);
		if (r == 0)
			mask_set(&s->supplied, attr, true);
		note_error(r, &error);
	}
	if (lacks_verbs(s))
		supply_without_verbs(directory, s, &error);
	return error;
}

/* Adds entry I of a table, unless it is empty. */
static int append_pkey(Growing *g, uint32_t i, uint64_t pkey)
{
	PkeyEntry e = {.index = i, .pkey = (uint32_t)pkey};

	/* The lower 15 bits are the key; key 0 is an empty entry. */
	return pkey & 0x7fff ? append(g, &e, sizeof(e)) : 0;
}

int sysfs_read_pkey_files(const int *fds, uint32_t n, Table **ret)
{
	Growing g = {};
	int r = 0;

	for (uint32_t i = 0; i < n && r == 0; i++) {
		uint64_t pkey;

		r = sysfs_read_open_number(fds[i], UINT16_MAX, &pkey);
		if (r == 0)
			r = append_pkey(&g, i, pkey);
	}
	return finish(&g, sizeof(PkeyEntry), r, ret);
}

int sysfs_read_pkeys(int device, uint32_t port, Table **ret)
{
	_cleanup_close_ int directory = -EBADF;
	Growing g = {};
	char path[48];
	int r;

	snprintf(path, sizeof(path), "ports/%u/pkeys", port);
	directory = sysfs_open_directory(device, path);
	r = directory < 0 ? directory : 0;
	for (uint32_t i = 0; i < TABLE_ENTRIES_MAX && r == 0; i++) {
		uint64_t pkey;

		snprintf(path, sizeof(path), "%u", i);
		r = sysfs_read_number(directory, path, UINT16_MAX, &pkey);
		if (r == -ENOENT && i > 0)
			return finish(&g, sizeof(PkeyEntry), 0, ret);
		if (r == 0)
			r = append_pkey(&g, i, pkey);
	}
	return finish(&g, sizeof(PkeyEntry), r, ret);
}

/* "fe80:0000:0000:0000:0002:c903:00ab:cdef" */
static bool parse_gid(const char *text, uint8_t gid[16])
{
	unsigned int g[8];
	int end = 0;

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x%n", &g[0], &g[1], &g[2], &g[3], &g[4],
		   &g[5], &g[6], &g[7], &end) != 8 ||
	    text[end])
		return false;
	for (unsigned int i = 0; i < 8; i++) {
		gid[2 * i] = (uint8_t)(g[i] >> 8);
		gid[2 * i + 1] = (uint8_t)g[i];
	}
	return true;
}

int sysfs_read_port_guid(int device, uint32_t port, uint8_t ret[8])
{
	uint8_t gid[16];
	char path[32];
	AttrText text;
	int r;

	snprintf(path, sizeof(path), "ports/%u/gids/0", port);
	r = sysfs_read_text(device, path, text, sizeof(text));
	if (r < 0)
		return r;
	if (!parse_gid(text, gid))
		return -EINVAL;
	memcpy(ret, gid + 8, 8);
	return 0;
}

int sysfs_read_gids(int device, uint32_t port, bool roce, Table **ret)
{
	static const uint8_t zero[16];
	Growing g = {};
	int r = 0;

	for (uint32_t i = 0; i < TABLE_ENTRIES_MAX && r == 0; i++) {
		GidEntry e = {.index = i, .type = roce ? GID_TYPE_ROCE_V1 : GID_TYPE_IB};
		char path[64];
		AttrText text;

		snprintf(path, sizeof(path), "ports/%u/gids/%u", port, i);
		r = sysfs_read_text(device, path, text, sizeof(text));
		if (r == -ENOENT && i > 0)
			return finish(&g, sizeof(GidEntry), 0, ret);
		if (r < 0)
			break;
		if (!parse_gid(text, e.gid)) {
			r = -EINVAL;
			break;
		}
		if (memcmp(e.gid, zero, sizeof(zero)) == 0)
			continue;
		/* Reading the type or the interface of an entry fails with EINVAL if it has none.
		 * "IB/RoCE v1" is the one or the other, as the link layer says. */
		snprintf(path, sizeof(path), "ports/%u/gid_attrs/types/%u", port, i);
		if (sysfs_read_text(device, path, text, sizeof(text)) == 0 &&
		    streq(text, "RoCE v2"))
			e.type = GID_TYPE_ROCE_V2;
		snprintf(path, sizeof(path), "ports/%u/gid_attrs/ndevs/%u", port, i);
		if (sysfs_read_text(device, path, text, sizeof(e.netdev)) == 0)
			text_copy(e.netdev, sizeof(e.netdev), text);
		r = append(&g, &e, sizeof(e));
	}
	return finish(&g, sizeof(GidEntry), r, ret);
}

int sysfs_open_netdev_speed(int net, const char *name, uint32_t ifindex)
{
	_cleanup_close_ int directory = sysfs_open_directory(net, name);
	uint64_t v;
	int r;

	if (directory < 0)
		return directory;
	r = sysfs_read_number(directory, "ifindex", UINT32_MAX, &v);
	if (r < 0)
		return r;
	if (v != ifindex)
		return -ENODEV; /* another interface has the name by now */
	r = openat(directory, "speed", O_RDONLY | O_CLOEXEC);
	return r < 0 ? -errno : r;
}

int sysfs_read_netdev_speed(int file, uint64_t *ret)
{
	uint64_t v = 0;
	int r = sysfs_read_open_number(file, UINT32_MAX, &v); /* Mbit/s; "-1": unknown */

	if (r < 0)
		return r;
	/* Some drivers print that -1 as an unsigned number, of 32 or of 16 bits. */
	if (v == UINT32_MAX || v == UINT16_MAX)
		return -EINVAL;
	*ret = v * UINT64_C(1000000);
	return 0;
}
