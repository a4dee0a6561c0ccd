/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-pci reads, once before rdmad starts, registers of PCI functions that the kernel shows to
 * CAP_SYS_ADMIN only, writes them into the directory that its unit made (RUNTIME_DIRECTORY), and
 * ends. It listens to nobody, and rdmad itself does not have that right.
 */

#include <fcntl.h>
#include <unistd.h>

#include "control-files.h"
#include "util.h"

#define FUNCTIONS "/sys/bus/pci/devices"

int main(int argc, char *argv[])
{
	_cleanup_close_ int functions = -EBADF, out = -EBADF;
	const char *directory = getenv("RUNTIME_DIRECTORY");
	int r;

	if (argc > 1) {
		fprintf(stderr, "Unexpected argument: %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	if (!directory) {
		fputs("rdmad-pci: RUNTIME_DIRECTORY is not set: see rdmad-pci.service\n", stderr);
		return EXIT_FAILURE;
	}
	functions = open(FUNCTIONS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (functions < 0 && errno == ENOENT)
		return EXIT_SUCCESS; /* a machine without PCI */
	out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = functions < 0 || out < 0 ? -errno : control_files_write(functions, out);
	if (r < 0)
		fprintf(stderr, "rdmad-pci: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
