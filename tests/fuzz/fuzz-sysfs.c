/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a worker reads in sysfs. The first byte says which function reads. Each file that it opens
 * has a length byte of the input and then so many bytes as its contents; for two lengths it cannot
 * be opened. Each entry of a directory is one byte, which chooses a name, and each link what
 * follows in the input. At the end of the input there is nothing more.
 */

#include <dirent.h>
#include <fcntl.h>

#include "input.h"
#include "port.h"
#include "query-aer.h"
#include "query-counters.h"
#include "query-function.h"
#include "query-sysfs.h"

#define OPENS_MAX	600U
#define LINK_TARGET_MAX 40U

static FuzzInput input;
static unsigned int n_opens;
static bool wrapped; /* the functions below stand for sysfs */

int __real_openat(int directory, const char *path, int flags, ...);
int __wrap_openat(int directory, const char *path, int flags, ...);
struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);
ssize_t __wrap_readlinkat(int directory, const char *path, char *buffer, size_t size);

static int no_file(int error)
{
	errno = error;
	return -1;
}

int __wrap_openat(int directory, const char *path, int flags, ...)
{
	uint8_t contents[UINT8_MAX], size;
	size_t n;
	int fd;

	if (!wrapped)
		return __real_openat(directory, path, flags);
	if (input.left == 0 || ++n_opens > OPENS_MAX)
		return no_file(ENOENT);
	if (flags & O_DIRECTORY)
		return __real_openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size = input_u8(&input);
	if (size >= 0xfe)
		return no_file(size == 0xff ? EINVAL : ENOENT);
	n = input_bytes(&input, contents, size);
	fd = memfd_create("sysfs", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && pwrite(fd, contents, n, 0) == (ssize_t)n);
	return fd;
}

struct dirent *__wrap_readdir(DIR *directory)
{
	static const char *const names[] = {
		".",
		"umad0",
		"issm0",
		"uverbs0",
		"uverbs1",
		"lifespan",
		"port_xmit_data",
		"link_downed",
		"\xff\xfe",
		"a\033[31mb",
		"umad18446744073709551615",
		"",
		"virtfn0",
		"virtfn65536",
	};
	static struct dirent entry;
	uint8_t choice;

	if (!wrapped)
		return __real_readdir(directory);
	if (input.left == 0)
		return NULL;
	choice = input_u8(&input);
	entry = (struct dirent){.d_type = DT_DIR};
	if (choice == 0xff) /* the longest possible */
		memset(entry.d_name, 'x', sizeof(entry.d_name) - 1);
	else
		text_copy(entry.d_name, sizeof(entry.d_name), names[choice % ARRAY_SIZE(names)]);
	return &entry;
}

ssize_t __wrap_readlinkat(_unused_ int directory, _unused_ const char *path, char *buffer,
			  size_t size)
{
	if (input.left == 0)
		return no_file(ENOENT);
	return (ssize_t)input_bytes(&input, buffer, MIN(size, LINK_TARGET_MAX));
}

/* What a snapshot supplies and the core derives from it is safe for the bus. */
static void check_texts(const Attribute *rows, size_t n, const void *values)
{
	for (size_t i = 0; i < n; i++) {
		AttrValue value;

		if (attr_publish(&rows[i], values, &value) >= 0 && value.kind == ATTR_VALUE_TEXT)
			check_text(value.text);
	}
}

static void read_device(void)
{
	DeviceSnapshot device = {};

	sysfs_supply_device(3, &device);
	function_supply(3, "/sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.2/mlx5_core.sf.4",
			&device);
	device_derive(&device);
	check_texts(device_attributes, _DEVICE_ATTR_MAX, &device.values);
	device_snapshot_done(&device);
}

static void read_port(void)
{
	DeviceSnapshot device = {};
	PortSnapshot port = {};

	(void)sysfs_supply_port(3, 1, &port);
	port_derive(&port, &device);
	check_texts(port_attributes, _PORT_ATTR_MAX, &port.values);
	port_snapshot_done(&port);
}

static void read_texts(void)
{
	char link[64];
	char lines[4096];
	AttrText text;
	uint64_t number;
	int file;

	if (sysfs_read_link(3, "link", link, sizeof(link)) == 0)
		FUZZ_CHECK(strnlen(link, sizeof(link)) < sizeof(link));
	if (sysfs_read_text(3, "text", text, sizeof(text)) == 0) {
		FUZZ_CHECK(text[0] != '\0' && strnlen(text, sizeof(text)) < sizeof(text));
		check_text(text);
	}
	if (sysfs_read_number(3, "number", 1000, &number) == 0)
		FUZZ_CHECK(number <= 1000);
	if (sysfs_read_lines(3, "lines", lines, sizeof(lines)) == 0 &&
	    aer_parse_total(lines, "TOTAL_ERR_COR", &number))
		FUZZ_CHECK(number < UINT64_MAX);
	file = sysfs_open_netdev_speed(3, "eth0", 7);
	if (file >= 0 && sysfs_read_netdev_speed(file, &number) == 0)
		FUZZ_CHECK(number <= UINT32_MAX * UINT64_C(1000000));
	close_fd(file);
}

static void read_input(uint8_t what)
{
	Table *table = NULL;
	int r = -ENODATA;

	switch (what % 6) {
	case 0:
		read_device();
		break;
	case 1:
		read_port();
		break;
	case 2:
		r = sysfs_read_pkeys(3, 1, &table);
		break;
	case 3:
		r = sysfs_read_gids(3, 1, what & 8, &table);
		break;
	case 4:
		r = sysfs_read_chardevs(3, 4, "mlx5_0", NULL, &table);
		break;
	case 5:
		r = counters_read(3, 1, USEC_PER_SEC, &table);
		break;
	}
	if (r >= 0)
		table_free(table);
	read_texts();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t what;

	input = (FuzzInput){data, size};
	n_opens = 0;
	what = input_u8(&input);
	wrapped = true;
	read_input(what);
	wrapped = false;
	return 0;
}
