/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The input is uevents as libudev passes them on: properties as in a uevent, each ended by a zero
 * byte: ACTION=, SUBSYSTEM=, DEVPATH=, and GROUP=kernel for a uevent from the kernel itself. An
 * empty property ends a uevent. LIST=name says that the list of devices now has this device.
 */

#include "fuzz.h"
#include "watch-udev.h"

#define DEVICE 7U

static void on_event(_unused_ void *userdata, const Event *e)
{
	FUZZ_CHECK(e->port == EVENT_ALL_PORTS);
	FUZZ_CHECK((e->reason == REASON_DEVICE && e->device == EVENT_ALL_DEVICES) ||
		   (e->reason == REASON_CHARDEV && e->device == DEVICE));
}

static void on_going(_unused_ void *userdata, uint32_t device)
{
	FUZZ_CHECK(device == DEVICE);
}

static const WatchHandler handler = {on_event, on_going};

static void list(WatchUdev *w, const char *name)
{
	DeviceSnapshot d = {};

	DEVICE_SUPPLY_TEXT(&d, name, name);
	DEVICE_SUPPLY(&d, index, DEVICE);
	watch_udev_devices(w, &d, 1);
	device_snapshot_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *action = NULL, *subsystem = NULL, *devpath = NULL, *value;
	_cleanup_(watch_udev_free_pointer) WatchUdev *w = NULL;
	_cleanup_free_ char *text = calloc(1, size + 2);
	bool first = false;

	/* The sysfs that CMake makes has uverbs0 and uverbs1, both of the device "rxe0". */
	if (!text || watch_udev_new(NULL, FUZZ_SYSFS, &handler, NULL, &w) < 0)
		return 0;
	memcpy(text, data, size);
	for (char *p = text; p <= text + size; p += strlen(p) + 1) {
		if ((value = startswith(p, "ACTION=")))
			action = value;
		else if ((value = startswith(p, "SUBSYSTEM=")))
			subsystem = value;
		else if ((value = startswith(p, "DEVPATH=")))
			devpath = value;
		else if ((value = startswith(p, "LIST=")))
			list(w, value);
		else if (streq(p, "GROUP=kernel"))
			first = true;
		if (*p != '\0')
			continue;
		if (action && subsystem && devpath)
			watch_udev_uevent(w, first, action, subsystem, devpath);
		action = subsystem = devpath = NULL;
		first = false;
	}
	return 0;
}
