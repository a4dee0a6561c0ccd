/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-hwmon.h"

#include "query-sysfs.h"

/* A driver has one chip, with a sensor or a few: mlx5 some of the board and one of the module. */
#define CHIPS_MAX   4U
#define SENSORS_MAX 32U
/* A sensor says thousandths of a degree. One that says more than a thousand degrees is broken. */
#define PER_DEGREE   1000U
#define MILLIDEG_MAX (1000U * PER_DEGREE)

/* A sensor; a number that is not known is UINT32_MAX. */
typedef struct Sensor {
	uint32_t now, highest, critical; /* degrees Celsius */
	bool has_failed;		 /* one of this kind has not answered */
} Sensor;

/* Reads the file temp NUMBER _ WHAT of CHIP in whole degrees; what is below 0 is 0. UINT32_MAX: it
 * has none, or the driver has returned *RET_ERROR, which is 0 otherwise. */
static uint32_t read_degrees(int chip, unsigned int number, const char *what, int *ret_error)
{
	char path[32];
	AttrText text;
	uint64_t v;
	int r;

	snprintf(path, sizeof(path), "temp%u_%s", number, what);
	r = sysfs_read_text(chip, path, text, sizeof(text));
	*ret_error = r == -ENOENT || r == -ENODATA || r == -EOPNOTSUPP ? 0 : r;
	if (r < 0)
		return UINT32_MAX;
	if (text[0] == '-')
		return text_to_u64(text + 1, MILLIDEG_MAX, &v) == 0 ? 0 : UINT32_MAX;
	if (text_to_u64(text, MILLIDEG_MAX, &v) < 0)
		return UINT32_MAX;
	return (uint32_t)((v + PER_DEGREE / 2) / PER_DEGREE);
}

/* A limit of 0 is none: mlx5 says so of a module that does not name one. */
static uint32_t read_critical(int chip, unsigned int number)
{
	int error;
	uint32_t v = read_degrees(chip, number, "crit", &error);

	if (v == UINT32_MAX || v == 0)
		v = read_degrees(chip, number, "max", &error);
	return v == 0 ? UINT32_MAX : v;
}

/* How far S is from its limit. One without a limit is farther than any other, the hotter the
 * nearer. */
static uint32_t distance(const Sensor *s)
{
	if (s->critical == UINT32_MAX)
		return UINT32_MAX - s->now;
	return s->critical > s->now ? s->critical - s->now : 0;
}

/* Whether the label of a sensor says that it is in the module: mlx5 has "Module0". A driver with
 * one sensor has no labels. */
static bool is_of_module(int chip, unsigned int number)
{
	char path[32];
	AttrText label;

	snprintf(path, sizeof(path), "temp%u_label", number);
	return sysfs_read_text(chip, path, label, sizeof(label)) == 0 &&
	       strncasecmp(label, "module", strlen("module")) == 0;
}

/* Reads the sensors of CHIP; of those of the adapter and those of the module that is kept which is
 * nearest to its limit. */
static void read_chip(int chip, Sensor *adapter, Sensor *module)
{
	for (unsigned int i = 1; i <= SENSORS_MAX; i++) {
		int error;
		Sensor s = {.now = read_degrees(chip, i, "input", &error)}, *kept;

		if (s.now == UINT32_MAX && error == 0)
			continue;
		kept = is_of_module(chip, i) ? module : adapter;
		kept->has_failed |= s.now == UINT32_MAX;
		if (s.now == UINT32_MAX)
			continue;
		s.critical = read_critical(chip, i);
		if (kept->now != UINT32_MAX && distance(kept) <= distance(&s))
			continue;
		s.highest = read_degrees(chip, i, "highest", &error);
		*kept = s;
	}
}

/* What a sensor has, in the order of its rows. */
enum { NOW, HIGHEST, CRITICAL, MARGIN, ROWS };

/* Supplies the rows of SENSOR, of which FIRST is the first. */
static void supply(const Sensor *sensor, PortAttr first, PortSnapshot *s)
{
	const uint32_t values[ROWS] = {
		[NOW] = sensor->now,
		[HIGHEST] = sensor->highest,
		[CRITICAL] = sensor->critical,
		[MARGIN] = sensor->critical == UINT32_MAX ? UINT32_MAX : distance(sensor),
	};

	for (unsigned int i = 0; i < ROWS; i++) {
		mask_set(&s->unanswered, first + i,
			 sensor->now == UINT32_MAX && sensor->has_failed);
		if (values[i] != UINT32_MAX)
			port_supply_number(s, first + i, values[i]);
	}
}
_Static_assert(PORT_ATTR_adapter_temperature_margin == PORT_ATTR_adapter_temperature + MARGIN &&
		       PORT_ATTR_module_temperature_margin == PORT_ATTR_module_temperature + MARGIN,
	       "the rows of a sensor are one after the other");

void hwmon_supply(int function, PortSnapshot *s)
{
	Sensor adapter = {UINT32_MAX, UINT32_MAX, UINT32_MAX, false}, module = adapter;
	_cleanup_(closedir_pointer) DIR *chips = sysfs_open_list(function, "hwmon");
	const struct dirent *entry;
	unsigned int n = 0;

	if (!chips)
		return;
	while (n < CHIPS_MAX && (entry = readdir(chips))) {
		_cleanup_close_ int chip = -EBADF;

		if (!startswith(entry->d_name, "hwmon"))
			continue;
		n++;
		chip = sysfs_open_directory(dirfd(chips), entry->d_name);
		if (chip >= 0)
			read_chip(chip, &adapter, &module);
	}
	supply(&adapter, PORT_ATTR_adapter_temperature, s);
	/* mlx5 has the sensor of the cage, and says 0 while no module is in it that measures */
	if (module.now != 0)
		supply(&module, PORT_ATTR_module_temperature, s);
}
