/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two cables that are exchanged, or one in another's switch. On a machine whose ports are each at a
 * switch of their own, the names of the switches mostly have the order of the ports; if all do but
 * two, each of which is where the other one would be, somebody has taken one cable for the other.
 */

#include "check-parts.h"
#include "checks.h"
#include "decode.h"
#include "pci.h"

/* Ours: two that are exchanged are found by the order of the others, of which there are two at
 * least. */
#define PORTS_LEAST 4U

/* A port whose rail is by its neighbour. */
typedef struct Cable {
	const Object *port;
	const char *address;
} Cable;

static int compare_cables(const void *a, const void *b)
{
	const Cable *x = a, *y = b;

	return pci_port_compare(x->address, object_number(x->port, PORT_ATTR_port_num), y->address,
				object_number(y->port, PORT_ATTR_port_num));
}

/* Fills RET, which has room for all ports, in the order of PCI. A function has the cable of its
 * adapter. */
static size_t find_cables(const CheckRun *r, Cable *ret)
{
	const char *by_neighbor = decode_name(ATTR_RAIL_SOURCE, RAIL_SOURCE_NEIGHBOR);
	size_t n = 0;

	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *port = r->objects->items[i];
		const Object *device = object_list_device(r->objects, port);

		if (port->is_port && !object_is_function(device) &&
		    streq(object_text(port, PORT_ATTR_rail_source), by_neighbor) &&
		    *object_text(port, PORT_ATTR_neighbor))
			ret[n++] = (Cable){port, object_text(device, DEVICE_ATTR_pci_address)};
	}
	sort(ret, n, sizeof(*ret), compare_cables);
	return n;
}

static void say(CheckRun *r, const Object *one, const Object *other, size_t n)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor];
	char name[96];

	r->port = one;
	r->device = object_list_device(r->objects, r->port);
	if (!check_is_expected(r, row))
		check_find(r, row,
			   "the port is at %s, and %s at %s: exchanged, they would have the order "
			   "of the other %zu ports",
			   object_text(one, PORT_ATTR_neighbor), object_name(other, name),
			   object_text(other, PORT_ATTR_neighbor), n - 2);
	r->port = r->device = NULL;
}

/* Reads the number at the end of NAME, or of the name of a host, and in *RET_DOMAIN what is behind
 * it; returns how long the rest is, which is all if there is none. */
static size_t read_number(const char *name, uint64_t *ret, const char **ret_domain)
{
	size_t n = strcspn(name, "."), end;
	char number[sizeof("4294967295")] = "";

	/* of "leaf-1.2" the last number counts */
	if (name[n] && (name[n + 1] | 0x20) < 'a')
		n = strlen(name);
	for (end = n; n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9';)
		n--;
	*ret_domain = name + end;
	if (end - n >= sizeof(number))
		return strlen(name);
	memcpy(number, name + n, end - n);
	return text_to_u64(number, UINT32_MAX, ret) == 0 ? n : strlen(name);
}

/* Fills RET with the numbers of the switches; false: not all have one behind the same name and in
 * the same domain. */
static bool find_numbers(const Cable *cables, size_t n, uint64_t *ret)
{
	const char *first = n > 0 ? object_text(cables[0].port, PORT_ATTR_neighbor) : "", *in, *too;

	for (size_t i = 0; i < n; i++) {
		const char *name = object_text(cables[i].port, PORT_ATTR_neighbor);
		size_t length = read_number(name, &ret[i], &in);

		if (!name[length] || strncmp(name, first, length) != 0 ||
		    read_number(first, &(uint64_t){0}, &too) != length || !streq(in, too))
			return false;
	}
	return true;
}

/* Whether the N numbers rise, with NUMBER in place I. */
static bool do_rise(const uint64_t *numbers, size_t n, size_t i, uint64_t number)
{
	for (size_t k = 1; k < n; k++)
		if ((k - 1 == i ? number : numbers[k - 1]) >= (k == i ? number : numbers[k]))
			return false;
	return true;
}

/* Finds two cables at one switch while all others have one each, and the number of the switch that
 * none is at. SORTED has room for the N numbers. *RET_WRONG is the one that belongs there. Two that
 * are side by side, with no number missing, may be meant so. */
static bool find_shared(const uint64_t *numbers, uint64_t *sorted, size_t n, size_t *ret_wrong,
			size_t *ret_other, uint64_t *ret_number)
{
	uint64_t shared = 0, missing = 0, n_missing = 0;
	size_t pair[2] = {n, n}, n_pairs = 0;

	memcpy(sorted, numbers, n * sizeof(*sorted));
	sort(sorted, n, sizeof(*sorted), check_compare_numbers);
	for (size_t i = 1; i < n; i++) {
		if (sorted[i] == sorted[i - 1]) {
			shared = sorted[i];
			n_pairs++;
		} else if (sorted[i] - sorted[i - 1] > 1) {
			missing = sorted[i - 1] + 1;
			n_missing += sorted[i] - missing;
		}
	}
	if (n_pairs != 1 || n_missing > 1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == shared)
			pair[pair[0] < n] = i;
	/* with none missing, it comes next, or before the first one */
	if (n_missing == 0 && pair[1] - pair[0] == 1)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(pair); i++) {
		uint64_t number = n_missing > 0	 ? missing
				  : pair[i] == 0 ? sorted[0] - 1
						 : sorted[n - 1] + 1;

		if (number == UINT64_MAX || !do_rise(numbers, n, pair[i], number))
			continue;
		*ret_wrong = pair[i];
		*ret_other = pair[1 - i];
		*ret_number = number;
		return true;
	}
	return false;
}

static void look_for_shared_switch(CheckRun *r, const Cable *cables, size_t n)
{
	_cleanup_free_ uint64_t *numbers = calloc(2 * n + 1, sizeof(*numbers));
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor];
	size_t wrong, other;
	uint64_t number;
	char name[96];

	if (!numbers) {
		r->error = -ENOMEM;
		return;
	}
	if (!find_numbers(cables, n, numbers) ||
	    !find_shared(numbers, numbers + n, n, &wrong, &other, &number))
		return;
	r->port = cables[wrong].port;
	r->device = object_list_device(r->objects, r->port);
	if (!check_same_adapter(r->device, object_list_device(r->objects, cables[other].port)) &&
	    !check_is_expected(r, row))
		check_find(
			r, row,
			"the port is at %s, as %s is, and the other %zu ports are each at one of "
			"their own: none is at that with the number %u",
			object_text(r->port, PORT_ATTR_neighbor),
			object_name(cables[other].port, name), n - 2, (unsigned int)number);
	r->port = r->device = NULL;
}

/* Finds two cables that are exchanged, by the order of the N; returns whether there are any. */
static bool look_for_exchange(CheckRun *r, const Cable *cables, size_t n)
{
	size_t wrong[2], n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		if (object_number(cables[i].port, PORT_ATTR_rail) == i)
			continue;
		if (n_wrong == ARRAY_SIZE(wrong))
			return false;
		wrong[n_wrong++] = i;
	}
	if (n_wrong < ARRAY_SIZE(wrong) ||
	    object_number(cables[wrong[0]].port, PORT_ATTR_rail) != wrong[1] ||
	    object_number(cables[wrong[1]].port, PORT_ATTR_rail) != wrong[0])
		return false;
	say(r, cables[wrong[0]].port, cables[wrong[1]].port, n);
	return true;
}

void look_for_swapped_rails(CheckRun *r)
{
	_cleanup_free_ Cable *cables = NULL;
	size_t n;

	/* if ports were named, only these are checked */
	if (r->n_names > 0)
		return;
	cables = calloc(r->objects->n + 1, sizeof(*cables));
	if (!cables) {
		r->error = -ENOMEM;
		return;
	}
	n = find_cables(r, cables);
	/* switches may be numbered from either end */
	for (unsigned int end = 0; n >= PORTS_LEAST && end < 2; end++) {
		look_for_shared_switch(r, cables, n);
		if (look_for_exchange(r, cables, n))
			return;
		for (size_t i = 0; i < n / 2; i++) {
			Cable c = cables[i];

			cables[i] = cables[n - 1 - i];
			cables[n - 1 - i] = c;
		}
	}
}
