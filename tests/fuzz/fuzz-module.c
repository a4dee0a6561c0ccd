/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is the pages of a module, and an answer of the kernel with one of them. The first byte
 * says which pages could be read. */

#include "fuzz.h"
#include "list.h"
#include "module-read.h"

static void look_at(const PortSnapshot *s)
{
	MASK_FOREACH(a, s->supplied)
	{
		const Attribute *row = &port_attributes[a];
		const char *text;

		FUZZ_CHECK(port_part_of(a) == READ_CABLE);
		if (!attr_is_text(row->type))
			continue;
		text = attr_get_text(row, &s->values);
		FUZZ_CHECK(memchr(text, '\0', row->size));
		FUZZ_CHECK(!attr_is_list(row->type) || list_is_valid(row->type, text));
		for (; *text; text++)
			FUZZ_CHECK(*text >= ' ' && *text <= '~');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ void *datagram = malloc(size + 1);
	uint8_t page[MODULE_PAGE_SIZE] = {};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	ModulePages p = {};
	ModulePlace place;
	int r;

	if (!datagram || size == 0)
		return 0;
	memcpy(p.bytes, data + 1, MIN(size - 1, sizeof(p.bytes)));
	for (ModulePage i = 0; i < _PAGE_MAX; i++)
		p.is_read[i] = module_has_page(&p, i, &place) && data[0] >> i & 1;
	module_decode(&p, &s);
	look_at(&s);
	memcpy(datagram, data, size);
	if (nlmsg_ok((struct nlmsghdr *)datagram, (int)size)) {
		r = module_parse_page(datagram, page);
		FUZZ_CHECK(r == 0 || r == -EBADMSG);
	}
	return 0;
}
