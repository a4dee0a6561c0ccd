/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-anonymous.h"

#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <search.h>

#include "command.h"
#include "gid.h"
#include "pci.h"
#include "port.h"
#include "script-line.h"
#include "section.h"
#include "table-columns.h"
#include "word.h"

/* Aliases */

typedef struct Alias {
	char *name; /* NULL: it is a number */
	uint64_t number;
	uint64_t alias; /* the how-manieth it is, from 1 */
} Alias;

typedef struct Aliases {
	void *names, *numbers; /* tsearch(): Alias */
	uint64_t n_names, n_numbers;
	bool no_memory;
	FILE *out;
} Aliases;

static int compare(const void *pa, const void *pb)
{
	const Alias *a = pa, *b = pb;

	return a->name ? strverscmp(a->name, b->name)
		       : (a->number > b->number) - (a->number < b->number);
}

static void free_alias(void *p)
{
	Alias *a = p;

	free(a->name);
	free(a);
}

/* The alias of NAME, or of NUMBER if it is NULL; a new one has 0. NULL without memory. */
static Alias *find(Aliases *as, const char *name, uint64_t number)
{
	Alias key = {.name = CONST_CAST(char *, name), .number = number}, **at, *a;

	at = tsearch(&key, name ? &as->names : &as->numbers, compare);
	if (at && *at == &key) {
		a = calloc(1, sizeof(*a));
		if (a)
			*a = (Alias){name ? strdup(name) : NULL, number, 0};
		if (a && (a->name || !name)) {
			*at = a;
			return a;
		}
		free(a);
		tdelete(&key, name ? &as->names : &as->numbers, compare);
		at = NULL;
	}
	as->no_memory |= !at;
	return at ? *at : NULL;
}

/* Called in the order of the names. */
static void number_name(const void *node, VISIT which, void *userdata)
{
	Aliases *as = userdata;

	if (which == postorder || which == leaf)
		(*(Alias *const *)node)->alias = ++as->n_names;
}

/* Names */

/* Whether NAME is that of a place or a kind, as the kernel and udev make it: a PCI
 * address, or one of these beginnings and then numbers, with at most two letters between two of
 * them. */
static bool is_made(const char *name)
{
	/* clang-format off */
	static const char *const beginnings[] = {
		"/dev/infiniband/uverbs", "/dev/infiniband/umad", "/dev/infiniband/issm",
		"mlx5_bond_", "mlx5_", "mlx4_", "bnxt_re", "irdma", "rdmap", "efa_", "erdma_", "mana_",
		"hns_", "qedr", "cxgb4_", "ocrdma", "hfi1_", "hfi2_", "ionic_", "usnic_", "vmw_pvrdma",
		"rxe", "siw", "roce", "iw", "opa", "ib", "eth", "en", "bond", "team", "br", "vlan", "dummy",
	};
	/* clang-format on */
	char address[PCI_ADDRESS_SIZE];
	const char *rest = NULL;
	size_t letters = 0;

	for (size_t i = 0; !rest && i < ARRAY_SIZE(beginnings); i++)
		rest = startswith(name, beginnings[i]);
	if (!rest)
		return pci_address_parse(name, address) >= 0;
	for (; *rest; rest++) {
		bool is_letter = strchr("bcdfinoprsuvP", *rest);

		letters = is_letter ? letters + 1 : 0;
		if (letters > 2 || (!is_letter && !strchr("0123456789_.", *rest)))
			return false;
	}
	return letters <= 1;
}

static void put_name(Aliases *as, const char *name)
{
	bool stays = !*name || is_made(name);
	Alias *a = stays ? NULL : find(as, name, 0);
	char word[WORD_SIZE(SCENARIO_LINE_MAX)] = "%"; /* without memory */

	if (stays)
		word_write(word, name);
	else if (a)
		snprintf(word, sizeof(word), "name-%0*" PRIu64,
			 snprintf(NULL, 0, "%" PRIu64, as->n_names), a->alias);
	fputs(word, as->out);
}

/* Numbers */

/* Of an interface identifier that is made of a MAC address */
#define EUI_MIDDLE	UINT64_C(0x000000fffe000000)
#define EUI_MIDDLE_MASK UINT64_C(0x000000ffff000000)
#define LINK_LOCAL	UINT64_C(0xfe80000000000000)
#define LOCAL		UINT64_C(0x0200000000000000) /* nobody is given such a GUID */

static uint64_t alias_number(Aliases *as, uint64_t number)
{
	bool stays = !number || number == LINK_LOCAL;
	Alias *a = stays ? NULL : find(as, NULL, number);

	if (!a)
		return stays ? number : 0; /* without memory */
	if (!a->alias)
		a->alias = ++as->n_numbers;
	return (number & EUI_MIDDLE_MASK) == EUI_MIDDLE ? LOCAL | EUI_MIDDLE | a->alias
							: LOCAL | a->alias;
}

static void alias_64(Aliases *as, uint8_t *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	number = htobe64(alias_number(as, be64toh(number)));
	memcpy(bytes, &number, sizeof(number));
}

/* The last byte stays. 0.0.0.0, and 127 and 169.254, which are no network of somebody's, too. */
static void alias_ipv4(Aliases *as, uint8_t *bytes)
{
	uint64_t network = (uint64_t)bytes[0] << 16 | bytes[1] << 8 | bytes[2];

	if (network == 0 || bytes[0] == 127 || (bytes[0] == 169 && bytes[1] == 254))
		return;
	network = alias_number(as, network);
	bytes[0] = 10;
	bytes[1] = (uint8_t)(network >> 8);
	bytes[2] = (uint8_t)network;
}

static void alias_gid(Aliases *as, struct in6_addr *gid)
{
	if (IN6_IS_ADDR_V4MAPPED(gid)) {
		alias_ipv4(as, gid->s6_addr + 12);
		return;
	}
	alias_64(as, gid->s6_addr);
	alias_64(as, gid->s6_addr + 8);
}

/* Prints the alias of a hardware address of N bytes, 6 or 20. */
static void put_bytes(Aliases *as, uint8_t *bytes, int n)
{
	uint8_t eui[8];

	if (n == 6) {
		mac_interface_id(bytes, eui);
		alias_64(as, eui);
		bytes[0] = eui[0] ^ 2;
		memcpy(bytes + 1, eui + 1, 2);
		memcpy(bytes + 3, eui + 5, 3);
	} else { /* of IPoIB: flags, queue pair, GID */
		alias_64(as, bytes + 4);
		alias_64(as, bytes + 12);
	}
	for (int i = 0; i < n; i++)
		fprintf(as->out, "%s%02x", i > 0 ? ":" : "", bytes[i]);
}

/* Values */

/* Prints the alias of VALUE, decoded, whatever it names. */
static void put_alias(Aliases *as, const char *value)
{
	struct in6_addr gid;
	struct in_addr address;
	uint8_t bytes[HW_ADDRESS_MAX];
	char text[INET6_ADDRSTRLEN];
	int n = hw_address_parse(value, bytes);

	if (n > 0) {
		put_bytes(as, bytes, n);
	} else if (inet_pton(AF_INET, value, &address) == 1) {
		alias_ipv4(as, (uint8_t *)&address);
		fputs(inet_ntop(AF_INET, &address, text, sizeof(text)), as->out);
	} else if (inet_pton(AF_INET6, value, &gid) == 1) {
		alias_gid(as, &gid);
		fputs(inet_ntop(AF_INET6, &gid, text, sizeof(text)), as->out);
	} else {
		put_name(as, value);
	}
}

static const Attribute *find_row(const char *key)
{
	char field[64];
	DeviceAttr d;
	PortAttr p;

	text_copy(field, MIN(sizeof(field), strcspn(key, ".") + 1), key);
	if (port_attr_from_field(field, &p) >= 0)
		return &port_attributes[p];
	return device_attr_from_field(field, &d) >= 0 ? &device_attributes[d] : NULL;
}

/* Whether KEY is one of those of a record that are no rows, and its value is a word or a number of
 * rdmad's own. */
static bool is_own_key(const char *key)
{
	static const char *const keys[] = {"ports",    "check",	    "is",
					   "severity", "attribute", "cause"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (streq(keys[i], key))
			return true;
	return startswith(key, "answer.") ||
	       (record_key_of(key) != RECORD_KEY_TEXT && record_key_of(key) != _RECORD_KEY_MAX);
}

/* What a value says of whose the record is. */
typedef enum Kind {
	KIND_FOREIGN, /* nobody knows */
	KIND_PLAIN,   /* nothing */
	KIND_NAME,    /* it is a text that names one thing */
	KIND_GUID,    /* the same, a number */
} Kind;

static Kind kind_of_column(const TableLayout *layout, const char *field, size_t length)
{
	for (const Column *c = layout->columns; c < layout->columns + layout->n_columns; c++) {
		if (strncmp(c->field, field, length) != 0 || c->field[length])
			continue;
		if (c->type == COLUMN_VF_GUID)
			return KIND_GUID;
		return c->unit == UNIT_ID && c->type != COLUMN_U32 && c->type != COLUMN_U64
			       ? KIND_NAME
			       : KIND_PLAIN;
	}
	return KIND_FOREIGN;
}

/* ROW NULL: KEY is that of no row. What rdmad says itself as text is for people, and a path in
 * sysfs has names in it. */
static Kind kind_of_row(const Attribute *row, const char *key)
{
	if (!row)
		return is_own_key(key) ? KIND_PLAIN : KIND_FOREIGN;
	if (row->type == ATTR_GUID)
		return KIND_GUID;
	if (!attr_is_text(row->type))
		return KIND_PLAIN;
	if (row->type == ATTR_PATH || row->source == SOURCE_CORE)
		return KIND_FOREIGN;
	return row->unit == UNIT_ID ? KIND_NAME : KIND_PLAIN;
}

/* Prints WORD, the value of something, or its alias. */
static void put_value(Aliases *as, const char *word, Kind kind)
{
	const char *digits = startswith(word, "raw:") ?: word;
	char value[SCENARIO_LINE_MAX + 1];
	uint64_t number;

	if (!*word || kind == KIND_PLAIN)
		fputs(word, as->out);
	else if (kind == KIND_GUID && text_to_u64(digits, UINT64_MAX, &number) >= 0)
		fprintf(as->out, "%.*s%" PRIu64, (int)(digits - word), word,
			alias_number(as, number));
	else if (kind == KIND_NAME && word_parse(word, value, sizeof(value)) >= 0)
		put_alias(as, value);
	else
		fputc('%', as->out);
}

/* Prints the entry of a table: "MEMBER=WORD MEMBER=WORD". */
static void put_entry(Aliases *as, const TableLayout *layout, char *entry)
{
	char *member;

	for (bool first = true; (member = strsep(&entry, BLANKS)); first = false) {
		size_t length = strcspn(member, "=");

		fprintf(as->out, "%s%.*s", first ? "" : " ", (int)length, member);
		if (!member[length])
			continue;
		fputc('=', as->out);
		put_value(as, member + length + 1, kind_of_column(layout, member, length));
	}
}

static void put_setting(Aliases *as, const char *key, char *value)
{
	const Attribute *row = find_row(key);
	const TableLayout *layout = row ? table_layout(row->type) : NULL;

	if (layout && !streq(strrchr(key, '.') ?: "", ".n"))
		put_entry(as, layout, value);
	else
		put_value(as, value, kind_of_row(row, key));
}

/* Lines */

/* Prints the alias of WORD, which names a device or port, and is changed. */
static void put_object(Aliases *as, char *word)
{
	char *slash = strrchr(word, '/');

	if (slash)
		*slash = '\0';
	put_value(as, word, KIND_NAME);
	if (slash)
		fprintf(as->out, "/%s", slash + 1);
}

/* Prints a word of a command that may be a setting. */
static void put_word(Aliases *as, char *word)
{
	char *value = strchr(word, '=');
	bool quoted = strpbrk(word, BLANKS);

	fputs(quoted ? " \"" : " ", as->out);
	if (value) {
		*value++ = '\0';
		fprintf(as->out, "%s=", word);
		put_setting(as, word, value);
	} else {
		fputs(word, as->out);
	}
	if (quoted)
		fputc('"', as->out);
}

static int put_step(Aliases *as, char *line, char **message)
{
	char time[SCRIPT_TIME_SIZE];
	ScriptLine step;
	int r = script_line_parse(line, &step, message);
	bool renames;

	if (r < 0)
		return r;
	script_time_write(time, step.at_usec);
	fprintf(as->out, "%s%s", time, step.command.words[0]);
	renames = scenario_verb_parse(step.command.words[0]) == VERB_RENAME;
	for (size_t i = 1; i < step.command.n; i++) {
		char *word = step.command.words[i];

		if (i == 1 || (i == 2 && renames)) {
			fputc(' ', as->out);
			put_object(as, word);
		} else {
			put_word(as, word);
		}
	}
	return 0;
}

static int put_heading(Aliases *as, char *line, bool *in_script, char **message)
{
	Heading h;
	int r = heading_parse(line, &h, message);

	if (r < 0)
		return r;
	*in_script = h.kind == SECTION_SCRIPT;
	fputs(*in_script ? "[script" : h.kind == SECTION_PORT ? "[port " : "[device ", as->out);
	if (!*in_script)
		put_value(as, h.name, KIND_NAME);
	if (h.kind == SECTION_PORT)
		fprintf(as->out, "/%u", h.port);
	fputc(']', as->out);
	return 0;
}

/* Whether COMMENT is one of those of the head that say nothing of whose the record is. */
static bool is_head(const char *comment)
{
	return startswith(comment, "# rdmad record ") || startswith(comment, "# realtime ") ||
	       startswith(comment, "# monotonic ") || startswith(comment, "# begins ");
}

/* Prints LINE, which is changed, unless it is a comment. */
static int put_line(Aliases *as, char *line, bool *in_script, char **message)
{
	char *key, *value;
	int r = 0;

	line = text_trim(line);
	if (*line == '#' && !is_head(line))
		return 0;
	if (!*line || *line == '#' || script_speed(line)) {
		fputs(line, as->out);
	} else if (*line == '[') {
		r = put_heading(as, line, in_script, message);
	} else if (*in_script) {
		r = put_step(as, line, message);
	} else {
		r = setting_parse(line, &key, &value, message);
		if (r >= 0) {
			fprintf(as->out, "%s = ", key);
			put_setting(as, key, value);
		}
	}
	fputc('\n', as->out);
	return r;
}

/* Prints TEXT, which is changed. */
static ExitStatus put_text(Aliases *as, char *text)
{
	_cleanup_free_ char *message = NULL;
	bool in_script = false;
	char *line;

	while ((line = strsep(&text, "\n")))
		if ((text || *line) && put_line(as, line, &in_script, &message) < 0)
			return message ? failure("%s", message) : out_of_memory();
	return as->no_memory ? out_of_memory() : STATUS_OK;
}

ExitStatus record_anonymous_print(const char *text, FILE *out)
{
	_cleanup_free_ char *first = strdup(text), *second = strdup(text);
	_cleanup_fclose_ FILE *nowhere = fopen("/dev/null", "we");
	Aliases as = {.out = nowhere};
	ExitStatus status = first && second && nowhere ? STATUS_OK : out_of_memory();

	/* the names are numbered when all are known */
	if (status == STATUS_OK)
		status = put_text(&as, first);
	if (status == STATUS_OK) {
		twalk_r(as.names, number_name, &as);
		as.out = out;
		status = put_text(&as, second);
	}
	tdestroy(as.names, free_alias);
	tdestroy(as.numbers, free_alias);
	return status;
}
