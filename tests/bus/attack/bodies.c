/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bodies.h"

#include "names.h"

char long_path[LONG_PATH_SIZE + 1];

void bodies_init(void)
{
	memset(long_path, 'a', LONG_PATH_SIZE);
	long_path[0] = '/';
}

/* Texts */

static void put_repeated(Bytes *b, const char *part, unsigned int n)
{
	size_t size = strlen(part);
	char *text = malloc(n * size + 1);

	if (!text)
		abort();
	for (unsigned int i = 0; i < n; i++)
		memcpy(text + i * size, part, size);
	text[n * size] = '\0';
	bytes_text(b, 's', text);
	free(text);
}

void body_text(Bytes *b, unsigned int n)
{
	put_repeated(b, "a", n);
}

void body_names(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', RDMAD_INTERFACE_PORT);
	bytes_text(b, 's', "State");
}

void body_gids(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', RDMAD_INTERFACE_PORT);
	bytes_text(b, 's', "Gids");
}

void body_port_interface(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', RDMAD_INTERFACE_PORT);
}

void body_odd_text(Bytes *b, unsigned int n)
{
	/* U+009B, U+202E, U+2028, U+FEFF, U+FFFF, U+10FFFF, U+E000, ESC, DEL */
	put_repeated(b,
		     "\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf"
		     "\xee\x80\x80\x1b\x7f",
		     n);
}

void body_text_options(Bytes *b, unsigned int n)
{
	body_text(b, n);
	body_options(b, 0);
}

void body_odd_text_options(Bytes *b, unsigned int n)
{
	body_odd_text(b, n);
	body_options(b, 0);
}

void body_port_options(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', "sim0/1");
	body_options(b, 0);
}

void body_subnet_options(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', "fe80::/64");
	body_options(b, 0);
}

/* Options */

void body_options(Bytes *b, _unused_ unsigned int n)
{
	bytes_end_array(b, bytes_begin_array(b, 8), 8);
}

static void put_u64_option(Bytes *b, const char *name, uint64_t value)
{
	bytes_align(b, 8);
	bytes_text(b, 's', name);
	bytes_text(b, 'g', "t");
	bytes_u64(b, value);
}

void body_many_options(Bytes *b, unsigned int n)
{
	size_t begin = bytes_begin_array(b, 8);

	for (unsigned int i = 0; i < n; i++)
		put_u64_option(b, "max-age-usec", i);
	bytes_end_array(b, begin, 8);
}

void body_max_age(Bytes *b, _unused_ unsigned int n)
{
	body_many_options(b, 1);
}

void body_nested(Bytes *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		bytes_text(b, 'g', "v");
	bytes_text(b, 'g', "y");
	bytes_u8(b, 1);
}

void body_nested_options(Bytes *b, unsigned int n)
{
	size_t begin = bytes_begin_array(b, 8);

	bytes_align(b, 8);
	bytes_text(b, 's', "x");
	body_nested(b, n);
	bytes_end_array(b, begin, 8);
}

void body_empty_array(Bytes *b, _unused_ unsigned int n)
{
	bytes_u32(b, 0);
}

void body_number(Bytes *b, _unused_ unsigned int n)
{
	bytes_u64(b, UINT64_MAX);
}

void body_false(Bytes *b, _unused_ unsigned int n)
{
	bytes_u32(b, 0);
}

void body_zero(Bytes *b, _unused_ unsigned int n)
{
	bytes_u32(b, 0);
}

/* WaitFor */

/* N names of WIDTH characters. SAME: all are the same. */
static void put_wait(Bytes *b, unsigned int n, int width, bool same, uint64_t timeout)
{
	size_t options = bytes_begin_array(b, 8), texts;
	char name[300];

	bytes_align(b, 8);
	bytes_text(b, 's', "ports");
	bytes_text(b, 'g', "as");
	texts = bytes_begin_array(b, 4);
	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "no%0*u/1", width - 4, same ? 0 : i);
		bytes_text(b, 's', name);
	}
	bytes_end_array(b, texts, 4);
	bytes_end_array(b, options, 8);
	bytes_u64(b, timeout);
}

void body_wait_names(Bytes *b, unsigned int n)
{
	put_wait(b, n, 9, true, 0);
}

void body_wait_none(Bytes *b, unsigned int n)
{
	put_wait(b, n, 9, false, 0);
}

void body_wait_short(Bytes *b, unsigned int n)
{
	put_wait(b, n, 9, false, 20 * USEC_PER_MSEC);
}

void body_wait_long(Bytes *b, unsigned int n)
{
	put_wait(b, n, n > 1 ? 60 : 9, false, UINT64_MAX);
}

void body_wait_same(Bytes *b, unsigned int n)
{
	put_wait(b, n, 9, true, UINT64_MAX);
}

void body_wait_options(Bytes *b, unsigned int n)
{
	body_many_options(b, n);
	bytes_u64(b, 0);
}

/* Properties and signals */

static void put_set(Bytes *b, const char *interface, const char *name, const char *value)
{
	bytes_text(b, 's', interface);
	bytes_text(b, 's', name);
	bytes_text(b, 'g', "s");
	bytes_text(b, 's', value);
}

void body_log_level(Bytes *b, _unused_ unsigned int n)
{
	put_set(b, "org.freedesktop.LogControl1", "LogLevel", "debug");
}

void body_set(Bytes *b, _unused_ unsigned int n)
{
	put_set(b, RDMAD_INTERFACE_PORT, "State", "down");
}

void body_match(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', "type='signal',sender='" RDMAD_BUS_NAME "'");
}

void body_owner_changed(Bytes *b, _unused_ unsigned int n)
{
	bytes_text(b, 's', RDMAD_BUS_NAME);
	bytes_text(b, 's', ":1.0");
	bytes_text(b, 's', "");
}
