/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets that rdmad-fabric gets as answers, from a umad that this harness plays: in any order,
 * with any of their bytes wrong, too short, or none. Whatever comes, an end that is known has a
 * type, a port and a GUID, and one that is not has a reason.
 */

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "hop.h"
#include "input.h"

#define HOPS	 3U
#define SENT_MAX (HOPS * _FAR_END_PART_MAX)

static FuzzInput input;
static struct umad_smp sent[SENT_MAX];
static size_t n_sent;
static unsigned int n_open;

int umad_open_port(const char *name, int port)
{
	FUZZ_CHECK(*name && port > 0);
	if (input_u8(&input) == UINT8_MAX)
		return -ENODEV;
	n_open++;
	return 7;
}

int umad_close_port(int fd)
{
	FUZZ_CHECK(fd == 7 && n_open > 0);
	n_open--;
	return 0;
}

int umad_register(_unused_ int fd, _unused_ int class, _unused_ int version, _unused_ uint8_t rmpp,
		  _unused_ long methods[16 / sizeof(long)])
{
	return input_u8(&input) == UINT8_MAX ? -EPERM : 3;
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return (uint8_t *)umad + sizeof(struct ib_user_mad);
}

int umad_set_addr(_unused_ void *umad, _unused_ int lid, _unused_ int qp, _unused_ int sl,
		  _unused_ int qkey)
{
	return 0;
}

int umad_send(_unused_ int fd, _unused_ int agent, void *umad, int length, _unused_ int timeout_ms,
	      _unused_ int retries)
{
	FUZZ_CHECK(length == sizeof(*sent) && n_sent < SENT_MAX);
	if (input_u8(&input) == UINT8_MAX)
		return -EIO;
	sent[n_sent++] = *(struct umad_smp *)umad_get_mad(umad);
	return 0;
}

/* The answer to any of the packets, with what the input has in its data, and a few bytes that are
 * others. */
int umad_recv(_unused_ int fd, void *umad, int *length, _unused_ int timeout_ms)
{
	uint8_t choice = input_u8(&input);
	struct umad_smp *smp = umad_get_mad(umad);

	FUZZ_CHECK(*length == sizeof(*smp));
	if (choice == UINT8_MAX || n_sent == 0)
		return -ETIMEDOUT;
	*smp = sent[choice % n_sent];
	smp->method = UMAD_METHOD_GET_RESP;
	input_bytes(&input, smp->data, sizeof(smp->data));
	for (unsigned int edits = input_u8(&input) % 4; edits > 0; edits--) {
		size_t at = input_u8(&input);

		((uint8_t *)smp)[at % sizeof(*smp)] = input_u8(&input);
	}
	if (input_u8(&input) == UINT8_MAX)
		*length = input_u8(&input);
	((struct ib_user_mad *)umad)->status = input_u8(&input) == UINT8_MAX ? ETIMEDOUT : 0;
	return 3;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

/* Each counter once, and none of a node without a LID. */
static void check_counters(const FarEnd *e)
{
	const char *names[FAR_COUNTERS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < FAR_COUNTERS_MAX; i++) {
		uint64_t value;
		const char *name = far_end_counter(e, i, &value);

		if (!name)
			continue;
		for (size_t k = 0; k < n; k++)
			FUZZ_CHECK(!streq(names[k], name));
		names[n++] = name;
	}
	FUZZ_CHECK(!n == !far_end_has_counters(e));
	FUZZ_CHECK(n == 0 || (e->type && e->lid > 0 && e->lid < 0xc000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Hop hops[HOPS] = {{.device = "mlx5_0", .port = 1},
			  {.device = "mlx5_1", .port = 254},
			  {.device = "mlx5_2", .port = 2}};

	bool counters;

	input = (FuzzInput){data, size};
	n_sent = 0;
	counters = input_u8(&input) % 2;
	hop_ask(hops, HOPS, counters);
	FUZZ_CHECK(n_open == 0);
	for (size_t i = 0; i < HOPS; i++) {
		const FarEnd *e = &hops[i].end;

		FUZZ_CHECK(e->type <= 3 && !!e->type == !!e->guid && !!e->type == !!e->port);
		FUZZ_CHECK((counters ? far_end_has_counters(e) : e->type) ||
			   hops[i].why == UNAVAILABLE_NOT_ASKED ||
			   hops[i].why == UNAVAILABLE_NO_ANSWER ||
			   hops[i].why == UNAVAILABLE_REFUSED ||
			   (counters && hops[i].why == UNAVAILABLE_NOT_CONFIGURED));
		check_counters(e);
		FUZZ_CHECK(memchr(e->text, '\0', sizeof(e->text)));
		check_text(e->text);
		FUZZ_CHECK(!(e->widths >> 8) && !(e->speeds >> 9));
	}
	return 0;
}
