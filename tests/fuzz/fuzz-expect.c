/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rdmactl check expects: a file, or KEY=VALUE of a command line, and then ports with
 * properties of any type and value, which are compared with it. Whatever is wrong with an
 * expectation is said once; what is taken can be shown.
 */

#include "expect.h"
#include "message-object.h"

static bool is_check(const char *name)
{
	return streq(name, "errors");
}

/* The first byte says how long the text is, and whether it is that of a file. */
static void read_expectations(Expectations *e, FuzzInput *in)
{
	uint8_t choice = input_u8(in);
	char argument[256] = "", path[INPUT_PATH_MAX];
	FuzzInput text = {in->next, MIN(in->left, (choice >> 1) * (size_t)16)};
	int r;

	in->next += text.left;
	in->left -= text.left;
	if (choice & 1) {
		input_file(&text, path);
		r = expect_add(e, path);
	} else {
		argument[input_bytes(&text, argument, sizeof(argument) - 1)] = '\0';
		r = strchr(argument, '=') && !strchr(argument, '/') ? expect_add(e, argument) : 0;
	}
	FUZZ_CHECK(r == 0 || r == -EINVAL);
	FUZZ_CHECK((r < 0) == (e->error != NULL) && (r == 0 || *e->error));
}

static void compare(const Expectations *e, const Object *port, const Object *device)
{
	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];
		_cleanup_free_ char *shown = NULL;

		FUZZ_CHECK(x->text && x->place &&
			   (x->kind == EXPECT_ATTRIBUTE || x->kind == EXPECT_CONDITION) ==
				   (x->row != NULL));
		(void)expectation_applies(e, x, port, device);
		if (!x->row)
			continue;
		(void)expectation_holds(x, x->of_device ? device : port);
		shown = expectation_format(x);
		FUZZ_CHECK(shown && *shown);
	}
}

static Object *read_object(FuzzInput *in, const char *path)
{
	sd_bus_message *m = message_new();
	Object *o = NULL;

	FUZZ_CHECK(m && object_new(path, &o) == 0);
	message_read_object(m, in, o);
	sd_bus_message_unref(m);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	Expectations e = {.is_check = is_check};
	Object *port, *device;

	read_expectations(&e, &in);
	port = read_object(&in, "/org/rdma/device/0/port/1");
	device = read_object(&in, "/org/rdma/device/0");
	compare(&e, port, device);
	object_free(port);
	object_free(device);
	expectations_done(&e);
	return 0;
}
