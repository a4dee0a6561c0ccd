/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "no-ports.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "bus.h"
#include "terminal.h"

static void closedir_pointer(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* The directory PATH below ROOT; NULL: there is none. */
static DIR *open_below(const char *root, const char *path)
{
	char whole[PATH_MAX];

	return snprintf(whole, sizeof(whole), "%s%s", root, path) < (int)sizeof(whole)
		       ? opendir(whole)
		       : NULL;
}

/* The next name in D that is none of the directory itself; NULL at the end. */
static const char *next_name(DIR *d)
{
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			return e->d_name;
	return NULL;
}

/* The kernel has devices, and rdmad has none of them. */
static bool say_unseen(const char *root, NextStep *say, void *userdata)
{
	_cleanup_(closedir_pointer) DIR *d = open_below(root, "/sys/class/infiniband");
	const char *name = next_name(d);
	char text[512];

	if (!name)
		return false;
	snprintf(text, sizeof(text),
		 "This shell sees the RDMA device %s, but rdmad has no port of it. The device may "
		 "have just come, or rdmad may run in another network namespace: see "
		 "'journalctl -u rdmad'.",
		 name);
	say(text, userdata);
	return true;
}

/* The module that makes RDMA devices of the functions of a network driver; NULL: none does, or the
 * driver does by itself. See kernel-boot/rdma-hw-modules.rules of rdma-core. */
static const char *rdma_module(const char *driver)
{
	static const TextPair modules[] = {
		{"be2net", "ocrdma"},	  {"bnxt_en", "bnxt_re"},     {"cxgb4", "iw_cxgb4"},
		{"enic", "usnic_verbs"},  {"hns3", "hns_roce_hw_v2"}, {"i40e", "irdma"},
		{"ice", "irdma"},	  {"mana", "mana_ib"},	      {"mlx4_core", "mlx4_ib"},
		{"mlx5_core", "mlx5_ib"}, {"qede", "qedr"},
	};

	return text_of_key(modules, ARRAY_SIZE(modules), driver);
}

/* Whether the file NAME of FUNCTION, an entry of the directory FD, begins with TEXT. */
static bool says(int fd, const char *function, const char *name, const char *text)
{
	char path[300], line[16] = "";
	_cleanup_close_ int file = -1;

	snprintf(path, sizeof(path), "%s/%s", function, name);
	file = openat(fd, path, O_RDONLY | O_CLOEXEC);
	return file >= 0 && read(file, line, sizeof(line) - 1) > 0 && startswith(line, text);
}

/* Whether the class of the PCI function says InfiniBand, which has two, or a fabric such as
 * Omni-Path (see the "PCI Code and ID Assignment Specification"), or it is an Ethernet adapter of
 * Mellanox, each of which can do RDMA. The switches of Mellanox, which cannot, are Ethernet
 * functions too: Spectrum has device IDs from 0xcb84 to 0xcf84, adapters have none with c. */
static bool is_for_rdma(int fd, const char *function)
{
	return says(fd, function, "class", "0x0207") || says(fd, function, "class", "0x0208") ||
	       says(fd, function, "class", "0x0c06") ||
	       (says(fd, function, "class", "0x0200") && says(fd, function, "vendor", "0x15b3") &&
		!says(fd, function, "device", "0xc"));
}

/* The driver of FUNCTION, in LINK; NULL: it has none. */
static const char *find_driver(int fd, const char *function, char link[300])
{
	char path[300];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/driver", function);
	n = readlinkat(fd, path, link, 299);
	if (n <= 0)
		return NULL;
	link[n] = '\0';
	return strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
}

/* Says that FUNCTION has no driver, if it is one for RDMA. A virtual function without a driver may
 * wait for a virtual machine. */
static bool say_driverless(int fd, const char *function, NextStep *say, void *userdata)
{
	char path[300], link[300], text[512];

	snprintf(path, sizeof(path), "%s/physfn", function);
	if (find_driver(fd, function, link) || !is_for_rdma(fd, function) ||
	    faccessat(fd, path, F_OK, 0) == 0)
		return false;
	snprintf(text, sizeof(text),
		 "The PCI function %s is an adapter for RDMA without a driver. Is the module for "
		 "it installed? See 'lspci -k -s %s' and 'journalctl -k -g %s'.",
		 function, function, function);
	say(text, userdata);
	return true;
}

/* Says that FUNCTION has a driver and lacks the module that makes an RDMA device of it. */
static bool say_moduleless(int fd, const char *function, NextStep *say, void *userdata)
{
	char link[300], text[512];
	const char *driver = find_driver(fd, function, link);
	const char *module = driver ? rdma_module(driver) : NULL;

	if (!module)
		return false;
	snprintf(text, sizeof(text),
		 "The PCI function %s has the driver %s, but no RDMA device. Try: modprobe %s",
		 function, driver, module);
	say(text, userdata);
	return true;
}

/* Says what is missing to make PCI functions RDMA devices; NO_DEVICE: none has become one. False:
 * there is no function that could be. */
static bool say_functions(const char *root, bool no_device, NextStep *say, void *userdata)
{
	_cleanup_(closedir_pointer) DIR *d = open_below(root, "/sys/bus/pci/devices");
	const char *name;
	bool said = false;

	while ((name = next_name(d)))
		said |= say_driverless(dirfd(d), name, say, userdata) ||
			(no_device && say_moduleless(dirfd(d), name, say, userdata));
	return said;
}

void no_driver_next(const char *root, NextStep *say, void *userdata)
{
	(void)say_functions(root, false, say, userdata);
}

void no_ports_next(const char *root, NextStep *say, void *userdata)
{
	if (say_unseen(root, say, userdata) || say_functions(root, true, say, userdata))
		return;
	say("This machine has no adapter for RDMA that Linux knows. For a software device on a "
	    "network interface: rdma link add rxe0 type rxe netdev eth0. For simulated ports see "
	    "--simulate in rdmad(8).",
	    userdata);
}

static void print_step(const char *text, void *userdata)
{
	terminal_print_wrapped(userdata, text, 0);
}

void no_ports(Context *c)
{
	fputs("No RDMA ports.\n", c->out);
	if (c->is_terminal && bus_is_local(c))
		no_ports_next("", print_step, c);
}
