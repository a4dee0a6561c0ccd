/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "control-files.h"

#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include "config-space.h"
#include "pci.h"
#include "util.h"

static bool read_config(void *userdata, unsigned int at, uint32_t *ret)
{
	const int *file = userdata;
	uint32_t value;

	if (pread(*file, &value, sizeof(value), at) != sizeof(value))
		return false;
	*ret = le32toh(value);
	return true;
}

static int write_control(int out, const char *address, const PciControl *c)
{
	_cleanup_close_ int file =
		openat(out, address, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	char text[PCI_CONTROL_SIZE];
	size_t n;

	if (file < 0)
		return -errno;
	pci_control_format(c, text);
	n = strlen(text);
	return write(file, text, n) == (ssize_t)n ? 0 : -EIO;
}

static int write_function(int functions, const char *address, int out)
{
	_cleanup_close_ int file = -EBADF;
	char path[PCI_ADDRESS_SIZE + sizeof("/physfn")];
	PciControl c;

	snprintf(path, sizeof(path), "%s/physfn", address);
	if (faccessat(functions, path, F_OK, 0) == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/config", address);
	file = openat(functions, path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || !config_space_control(read_config, &file, &c))
		return 0;
	return write_control(out, address, &c);
}

int control_files_write(DIR *functions, int out)
{
	const struct dirent *d;
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < CONTROL_FILES_MAX && (d = readdir(functions)); i++) {
		char address[PCI_ADDRESS_SIZE];

		if (pci_address_parse(d->d_name, address) == 0 && streq(address, d->d_name))
			r = write_function(dirfd(functions), address, out);
	}
	return r;
}
