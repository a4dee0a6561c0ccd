/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A C++ program that uses all of rdmad.h: test-install compiles and links it. */

#include <rdmad.h>

int main()
{
	struct rdmad *r = nullptr;
	struct rdmad_handle port = RDMAD_HANDLE_FIRST;
	struct rdmad_port record = {};
	struct rdmad_gid gid = {};
	char text[RDMAD_TEXT_MAX];

	if (rdmad_open(nullptr, &r) < 0)
		return 1;
	while (rdmad_next(r, &port) > 0)
		if (rdmad_read(r, port, &record) == 0 && RDMAD_VALID(record.hot, STATE))
			static_cast<void>(
				rdmad_field_text(&record, RDMAD_FIELD_STATE, text, sizeof(text)));
	static_cast<void>(rdmad_find_any(r, "0000:c1:00.0", &port));
	static_cast<void>(rdmad_find_gid(r, &port, nullptr, nullptr, RDMAD_GID_ANY, &gid));
	rdmad_close(r);
	return 0;
}
