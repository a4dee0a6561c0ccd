/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <dirent.h>

/* So many functions of the machine are looked at. */
#define CONTROL_FILES_MAX 16384U

/* Writes into the directory OUT, which is empty, the PciControl of each PCI Express function in the
 * directory FUNCTIONS, /sys/bus/pci/devices, but virtual ones: of these that of the physical one
 * counts. What cannot be read has no file. Returns a negative errno of OUT. */
int control_files_write(DIR *functions, int out);
