/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of a method call, a{sv}, read as those of WaitFor, which have all types. Each option
 * in the input is a byte that chooses its name, and then its value.
 */

#include "bus-options.h"
#include "gid.h"
#include "message.h"
#include "wait.h"

#define OPTIONS_MAX 12U

typedef struct Options {
	BusTexts ports;
	const char *state, *gid;
	int any;
	uint32_t mtu;
	uint64_t rate;
} Options;

static int append_options(sd_bus_message *m, FuzzInput *in)
{
	static const char *const names[] = {"ports", "state", "gid", "any", "mtu", "rate", "mtu "};
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (size_t n = input_u8(in) % OPTIONS_MAX; r >= 0 && n > 0; n--) {
		uint8_t name = input_u8(in) % (ARRAY_SIZE(names) + 1);
		char text[MESSAGE_TEXT_MAX];

		r = sd_bus_message_open_container(m, 'e', "sv");
		if (r >= 0)
			r = sd_bus_message_append_basic(
				m, 's',
				name < ARRAY_SIZE(names) ? names[name] : message_text(in, text));
		if (r >= 0)
			r = message_append_variant(m, in);
		if (r >= 0)
			r = sd_bus_message_close_container(m);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* What WaitFor does with them next. */
static void use(const Options *o)
{
	Wait wait = {};

	for (char *const *port = o->ports.texts; port && *port; port++) {
		int r = wait_add(&wait, *port);

		FUZZ_CHECK(r == 0 || r == -EINVAL || r == -E2BIG);
	}
	FUZZ_CHECK(wait.n_ports <= WAIT_PORTS_MAX);
	if (o->gid)
		(void)gid_parse(o->gid, wait.condition.gid);
	FUZZ_CHECK(o->any == 0 || o->any == 1);
	FUZZ_CHECK(!o->state || strlen(o->state) < MESSAGE_TEXT_MAX);
}

static void read_options(sd_bus_message *m)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	Options o = {.ports.max = WAIT_PORTS_MAX};
	const BusOption options[] = {
		{"ports", 'a', &o.ports}, {"state", 's', &o.state}, {"gid", 's', &o.gid},
		{"any", 'b', &o.any},	  {"mtu", 'u', &o.mtu},	    {"rate", 't', &o.rate},
	};
	int r = bus_read_options(m, "WaitFor", options, ARRAY_SIZE(options), &error);

	FUZZ_CHECK(r < 0 || !sd_bus_error_is_set(&error));
	FUZZ_CHECK(!sd_bus_error_is_set(&error) || error.message);
	if (r >= 0) {
		FUZZ_CHECK(sd_bus_message_at_end(m, true) > 0);
		use(&o);
	}
	bus_texts_done(&o.ports);
	sd_bus_error_free(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	sd_bus_message *m = message_new();

	if (!m)
		return 0;
	if (append_options(m, &in) >= 0 && message_seal(m) >= 0)
		read_options(m);
	sd_bus_message_unref(m);
	return 0;
}
