/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rdmactl reads from the bus and prints: the interfaces of a port or a device,
 * a{sa{sv}}, with properties of any type and value. Whatever comes, the output has no control
 * characters, and JSON is closed.
 */

#include "cli-parts.h"
#include "format.h"
#include "json.h"
#include "message-object.h"
#include "rdmactl.h"

static void print(const Object *o)
{
	_cleanup_free_ char *json = NULL;
	char name[96];
	size_t size;
	FILE *f = open_memstream(&json, &size);

	FUZZ_CHECK(f != NULL);
	json_object(f, o);
	FUZZ_CHECK(fclose(f) == 0);
	check_json(json);
	check_lines(json);
	check_text(object_name(o, name));
	for (size_t i = 0; i < o->n_rows; i++) {
		_cleanup_free_ char *text = object_has(o, i) ? format_row(o, i) : NULL;

		if (text)
			check_lines(text);
	}
}

static void check_copy(const Object *o)
{
	_cleanup_(object_free_pointer) Object *copy = object_copy(o);

	FUZZ_CHECK(copy != NULL);
	for (size_t i = 0; i < o->n_rows; i++)
		/* a number that is none is not equal to itself */
		if (value_equal(&o->values[i], &o->values[i]))
			FUZZ_CHECK(value_equal(&o->values[i], &copy->values[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	sd_bus_message *m = message_new();
	bool is_port = input_u8(&in) & 1;
	Object *o = NULL;

	if (!m)
		return 0;
	FUZZ_CHECK(object_new(is_port ? "/org/rdma/device/0/port/1" : "/org/rdma/device/0", &o) ==
		   0);
	message_read_object(m, &in, o);
	print(o);
	check_copy(o);
	object_free(o);
	sd_bus_message_unref(m);
	return 0;
}
