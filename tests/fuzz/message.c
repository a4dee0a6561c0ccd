/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "message.h"

#include <sys/socket.h>

/* Variants within variants; D-Bus allows 64. */
#define DEPTH_MAX 20U
/* Bytes of the input in one text, and elements of one array */
#define TEXT_BYTES_MAX 255U
#define ELEMENTS_MAX   80U

static const char *const *dictionary;
static size_t n_dictionary;

void message_set_words(const char *const *words, size_t n)
{
	FUZZ_CHECK(n <= MESSAGE_WORDS_MAX);
	dictionary = words;
	n_dictionary = n;
}

sd_bus_message *message_new(void)
{
	static sd_bus *bus;
	sd_bus_message *m = NULL;
	int fds[2];

	if (!bus) {
		FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
		FUZZ_CHECK(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0);
		FUZZ_CHECK(sd_bus_start(bus) >= 0);
	}
	return sd_bus_message_new(bus, &m, SD_BUS_MESSAGE_METHOD_CALL) < 0 ? NULL : m;
}

int message_seal(sd_bus_message *m)
{
	int r = sd_bus_message_seal(m, 1, 0);

	return r < 0 ? r : sd_bus_message_rewind(m, true);
}

const char *message_text(FuzzInput *in, char buffer[MESSAGE_TEXT_MAX])
{
	uint8_t bytes[TEXT_BYTES_MAX];
	size_t n = input_bytes(in, bytes, input_u8(in)), used = 0;

	for (size_t i = 0; i < n && bytes[i] != 0; i++) {
		uint8_t c = bytes[i];

		if (c == 1 || c == 2) /* U+2028 and U+202E, three bytes each */
			used += (size_t)sprintf(buffer + used, "\xe2\x80%c", c == 1 ? 0xa8 : 0xae);
		else if (c < 0x80)
			buffer[used++] = (char)c;
		else /* U+0080 to U+00FF */
			used += (size_t)sprintf(buffer + used, "%c%c", 0xc0 | c >> 6,
						0x80 | (c & 0x3f));
	}
	buffer[used] = '\0';
	return buffer;
}

static int append(sd_bus_message *m, FuzzInput *in, const char *signature, unsigned int depth);

static const char *choose_text(FuzzInput *in, char buffer[MESSAGE_TEXT_MAX])
{
	size_t choice = n_dictionary > 0 ? input_u8(in) : 0;

	return choice < n_dictionary ? dictionary[choice] : message_text(in, buffer);
}

static int append_basic(sd_bus_message *m, FuzzInput *in, char type)
{
	char text[MESSAGE_TEXT_MAX];
	uint64_t value;
	int boolean;

	switch (type) {
	case 's':
		return sd_bus_message_append_basic(m, 's', choose_text(in, text));
	case 'g':
		return sd_bus_message_append_basic(m, 'g', "a{sv}");
	case 'h':
		return sd_bus_message_append_basic(m, 'h', &(int){STDERR_FILENO});
	case 'b':
		boolean = input_u8(in) & 1;
		return sd_bus_message_append_basic(m, 'b', &boolean);
	case 'o':
		return sd_bus_message_append_basic(m, 'o', "/org/rdma/device/0/port/1");
	default: /* numbers; the first bytes of the union are those of the smaller types */
		value = input_u64(in);
		return sd_bus_message_append_basic(m, type, &value);
	}
}

/* The number of characters of the first type in SIGNATURE */
static size_t type_length(const char *signature)
{
	size_t n = 0;
	int depth = 0;

	do {
		depth += signature[n] == '(' || signature[n] == '{';
		depth -= signature[n] == ')' || signature[n] == '}';
	} while (signature[n++] == 'a' || depth > 0);
	return n;
}

/* What a container has inside: its signature without the brackets, or the element of an array. An
 * array ends where the input does: more elements of zeros would only cost time. */
static int append_members(sd_bus_message *m, FuzzInput *in, char type, const char *contents,
			  unsigned int depth)
{
	size_t n = type == 'a' ? input_u8(in) % ELEMENTS_MAX : 1;
	int r = sd_bus_message_open_container(m, type, contents);

	for (size_t i = 0; r >= 0 && i < n && (i == 0 || in->left > 0); i++) {
		for (const char *p = contents; r >= 0 && *p; p += type_length(p)) {
			char member[16];

			snprintf(member, sizeof(member), "%.*s", (int)type_length(p), p);
			r = append(m, in, member, depth);
		}
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Appends one value of SIGNATURE. */
static int append(sd_bus_message *m, FuzzInput *in, const char *signature, unsigned int depth)
{
	static const char *const types[] = {
		"s",	       "u",	     "t",     "d",
		"b",	       "x",	     "y",     "n",
		"o",	       "as",	     "au",    "a(ussssa{sv})",
		"a(uusa{sv})", "a(usa{sv})", "a{ss}", "a(ssuua{sv})",
		"a{sv}",       "v",	     "(sv)",  "h",
		"g",	       "ah",	     "(hs)",  "aa{sv}",
	};
	size_t n = n_dictionary > 0 ? ARRAY_SIZE(types) : ARRAY_SIZE(types) - 5;
	char contents[16];
	const char *type;

	switch (signature[0]) {
	case 'v':
		type = depth < DEPTH_MAX ? types[input_u8(in) % n] : "s";
		if (sd_bus_message_open_container(m, 'v', type) < 0)
			return -ENOMEM;
		if (append(m, in, type, depth + 1) < 0)
			return -EINVAL;
		return sd_bus_message_close_container(m);
	case 'a':
		return append_members(m, in, 'a', signature + 1, depth);
	case '(':
	case '{':
		snprintf(contents, sizeof(contents), "%.*s", (int)strlen(signature) - 2,
			 signature + 1);
		return append_members(m, in, signature[0] == '(' ? 'r' : 'e', contents, depth);
	default:
		return append_basic(m, in, signature[0]);
	}
}

int message_append(sd_bus_message *m, FuzzInput *in, const char *signature)
{
	return append(m, in, signature, 0);
}

int message_append_variant(sd_bus_message *m, FuzzInput *in)
{
	return append(m, in, "v", 0);
}
