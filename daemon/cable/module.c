/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "module.h"

#include <math.h>

#include "list.h"

/* How the number of a field is read. All have the most significant byte first. */
typedef enum ModuleScale {
	SCALE_TEXT,	   /* ASCII, with spaces behind */
	SCALE_STATE,	   /* CMIS: bits 1 to 3 */
	SCALE_METRES,	   /* of a cable; 0: not known; 255: more than that */
	SCALE_LENGTH,	   /* the same of CMIS: bits 6 and 7 are an exponent of 10, from 0.1 m */
	SCALE_TEMPERATURE, /* 1/256 degrees, with a sign */
	SCALE_VOLTAGE,	   /* 100 uV */
	SCALE_LIMIT,	   /* 100 nW */
	SCALE_POWER,	   /* the same, of each lane */
	SCALE_BIAS,	   /* 2 uA, of each lane */
} ModuleScale;

enum {
#define PAGE(page, standard, address, number, offset, ...) FIRST_##page = (offset),
#include "module-pages.def"
};

static const struct {
	ModuleStandard standard;
	ModulePlace place;
	uint8_t offset, mask, value; /* in the first page: whether there is one */
} pages[] = {
#define PAGE(page, standard, address, number, offset, if_offset, mask, value)                      \
	{MODULE_##standard, {address, number, offset}, if_offset, mask, value},
#include "module-pages.def"
};

static const struct {
	uint8_t id;
	ModuleStandard standard;
} modules[] = {
#define MODULE(id, standard) {id, MODULE_##standard},
#include "module-fields.def"
};

/* That a bit of a page is set. */
typedef struct ModuleBit {
	ModulePage page;
	uint8_t offset, mask;
} ModuleBit;

typedef struct ModuleField {
	ModuleStandard standard;
	ModulePage page;
	uint8_t offset, size;
	ModuleScale scale;
	PortAttr row;
	ModuleBit is_there;
} ModuleField;

static const ModuleField fields[] = {
#define FIELD(standard, page, offset, size, scale, row, if_page, if_offset, if_mask)               \
	{MODULE_##standard,                                                                        \
	 PAGE_##page,                                                                              \
	 offset,                                                                                   \
	 size,                                                                                     \
	 SCALE_##scale,                                                                            \
	 PORT_ATTR_##row,                                                                          \
	 {PAGE_##if_page, if_offset, if_mask}},
#include "module-fields.def"
};

static const struct {
	ModuleStandard standard;
	ModuleBit bit, is_there;
	const char *word;
} flags[] = {
#define FLAG(standard, page, offset, mask, word, if_page, if_offset, if_mask)                      \
	{MODULE_##standard,                                                                        \
	 {PAGE_##page, offset, mask},                                                              \
	 {PAGE_##if_page, if_offset, if_mask},                                                     \
	 word},
#include "module-fields.def"
};

/* Each row is in its page. */
#define IS_INSIDE(page, offset, size)                                                              \
	((offset) >= FIRST_##page && (offset) + (size) <= FIRST_##page + (int)MODULE_PAGE_SIZE)
#define FIELD(standard, page, offset, size, scale, row, if_page, if_offset, if_mask)               \
	_Static_assert(IS_INSIDE(page, offset, size) &&                                            \
			       ((if_mask) == 0 || IS_INSIDE(if_page, if_offset, 1)),               \
		       "a field is not in its page");
#define FLAG(standard, page, offset, mask, word, if_page, if_offset, if_mask)                      \
	FIELD(standard, page, offset, 1, mask, word, if_page, if_offset, if_mask)
#include "module-fields.def"

static const uint8_t *at(const ModulePages *p, ModulePage page, unsigned int offset)
{
	return &p->bytes[page][offset - pages[page].place.offset];
}

static bool is_set(const ModulePages *p, ModuleBit bit)
{
	return bit.mask == 0 ||
	       (p->is_read[bit.page] && (*at(p, bit.page, bit.offset) & bit.mask) == bit.mask);
}

/* The second byte of CMIS is its version: the major one in the upper half. */
#define CMIS_OLDEST 4U
#define CMIS_NEWEST 5U

static ModuleStandard standard_of(const ModulePages *p)
{
	ModuleStandard standard = MODULE_ANY;
	unsigned int version = p->bytes[PAGE_LOWER][1] >> 4;

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (modules[i].id == p->bytes[PAGE_LOWER][0])
			standard = modules[i].standard;
	return standard == MODULE_CMIS && (version < CMIS_OLDEST || version > CMIS_NEWEST)
		       ? MODULE_ANY
		       : standard;
}

bool module_has_page(const ModulePages *p, ModulePage page, ModulePlace *ret)
{
	ModuleStandard standard = page == PAGE_LOWER ? MODULE_ANY : standard_of(p);
	ModuleStandard wanted = pages[page].standard;

	if (wanted == MODULE_PAGED ? standard < MODULE_PAGED : standard != wanted)
		return false;
	if (page != PAGE_LOWER &&
	    (p->bytes[PAGE_LOWER][pages[page].offset] & pages[page].mask) != pages[page].value)
		return false;
	*ret = pages[page].place;
	return true;
}

/* The kind of a cable */

/* SFF-8024, table 4-3. */
enum {
	CONNECTOR_RJ45 = 0x22,
	CONNECTOR_NONE = 0x23, /* the cable cannot be taken off */
};
static const uint8_t optical_connectors[] = {0x01, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0c,
					     0x0d, 0x24, 0x25, 0x26, 0x27, 0x28};

static const char *optical_type(uint8_t connector)
{
	if (connector == CONNECTOR_NONE)
		return "aoc";
	return memchr(optical_connectors, connector, sizeof(optical_connectors)) ? "optic" : "";
}

/* TECHNOLOGY of a transmitter, which SFF-8636 and CMIS have in common; 8 is another one. */
static const char *type_by_technology(uint8_t technology, uint8_t connector)
{
	if (technology <= 0x07 || technology == 0x09 || technology == 0x10 || technology == 0x11)
		return optical_type(connector);
	if (technology == 0x0a || technology == 0x0b)
		return "dac";
	return technology >= 0x0c && technology <= 0x0f ? "acc" : "";
}

/* SFF-8472: byte 8 says of a cable whether it is passive or active, and byte 36, from SFF-8024
 * table 4-4, what an active one is. */
static const char *sfp_type(const uint8_t *page)
{
	uint8_t connector = page[2], kind = page[36];

	if (page[8] & 0x04)
		return "dac";
	if (page[8] & 0x08)
		return kind == 0x01 || kind == 0x18   ? "aoc"
		       : kind == 0x08 || kind == 0x19 ? "acc"
						      : "";
	return connector == CONNECTOR_RJ45 ? "base-t" : optical_type(connector);
}

static const char *type_of(const ModulePages *p, ModuleStandard standard)
{
	if (standard == MODULE_SFF_8472)
		return sfp_type(p->bytes[PAGE_LOWER]);
	if (!p->is_read[PAGE_UPPER])
		return "";
	return standard == MODULE_CMIS
		       ? type_by_technology(*at(p, PAGE_UPPER, 212), *at(p, PAGE_UPPER, 203))
		       : type_by_technology(*at(p, PAGE_UPPER, 147) >> 4, *at(p, PAGE_UPPER, 130));
}

/* The highest rate */

typedef enum RateList {
	LIST_SFP_SPEC,
	LIST_SFP_ETHERNET,
	LIST_QSFP_SPEC,
	LIST_QSFP_ETHERNET,
	LIST_QSFP_INFINIBAND,
	LIST_HOST,
	LIST_HOST_INFINIBAND,
} RateList;

typedef enum SpeedKind {
	SPEED_CODE,
	SPEED_BITS,
	SPEED_HOSTS,
} SpeedKind;

typedef struct ModuleSpeed {
	ModuleStandard standard;
	ModulePage page;
	uint8_t offset;
	SpeedKind kind;
	RateList list;
} ModuleSpeed;

static const ModuleSpeed speeds[] = {
#define SPEED(standard, page, offset, kind, list)                                                  \
	{MODULE_##standard, PAGE_##page, offset, SPEED_##kind, LIST_##list},
#include "module-rates.def"
};

static const struct {
	RateList list;
	uint8_t first, last;
	uint32_t rate; /* Mb/s */
} rates[] = {
#define RATE(list, first, last, rate) {LIST_##list, first, last, rate},
#include "module-rates.def"
};

/* In Mb/s; UINT32_MAX: CODE is not known. */
static uint32_t rate_of(RateList list, unsigned int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i].list == list && code >= rates[i].first && code <= rates[i].last)
			return rates[i].rate;
	return UINT32_MAX;
}

#define HOST_END   0xffU
#define HOST_SIZE  4U
#define HOSTS_MOST 8U /* More of them are in page 01h. */

/* Of descriptors of applications: the host's interface, that of the medium, and numbers of lanes.
 */
static uint32_t highest_of_hosts(const uint8_t *hosts)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < HOSTS_MOST; i++) {
		const uint8_t *host = hosts + (size_t)i * HOST_SIZE;
		uint32_t rate;

		if (host[0] == HOST_END)
			return most;
		rate = rate_of(LIST_HOST_INFINIBAND, host[0]);
		rate = rate == UINT32_MAX ? rate_of(LIST_HOST, host[0]) : rate / 4 * (host[2] >> 4);
		most = MAX(most, rate);
	}
	return UINT32_MAX;
}

/* 0: nothing is said there. */
static uint32_t highest_of(const ModulePages *p, const ModuleSpeed *speed)
{
	const uint8_t *bytes = at(p, speed->page, speed->offset);
	uint32_t most = 0;

	if (!p->is_read[speed->page])
		return UINT32_MAX;
	if (speed->kind == SPEED_HOSTS)
		return highest_of_hosts(bytes);
	if (speed->kind == SPEED_CODE)
		return *bytes ? rate_of(speed->list, *bytes) : 0;
	for (unsigned int bit = 0; bit < 8; bit++)
		if (*bytes >> bit & 1)
			most = MAX(most, rate_of(speed->list, bit));
	return most;
}

/* SFF-8636: byte 131 says that byte 192 says it, and that does not. */
static bool lacks_code(const ModulePages *p, ModuleStandard standard)
{
	return standard == MODULE_SFF_8636 && p->is_read[PAGE_UPPER] &&
	       (*at(p, PAGE_UPPER, 131) & 0x80) && *at(p, PAGE_UPPER, 192) == 0;
}

/* What is not known may be the highest. */
static void supply_max_rate(const ModulePages *p, ModuleStandard standard, PortSnapshot *s)
{
	uint32_t most = lacks_code(p, standard) ? UINT32_MAX : 0;

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].standard == standard)
			most = MAX(most, highest_of(p, &speeds[i]));
	if (most > 0 && most < UINT32_MAX)
		PORT_SUPPLY(s, cable_max_rate, most * UINT64_C(1000000));
}

/* Fields */

static uint32_t number_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* A text that is not all ASCII says nothing. */
static void supply_text(PortSnapshot *s, PortAttr row, const uint8_t *bytes, size_t size)
{
	AttrText text = "";

	while (size > 0 && (bytes[size - 1] == ' ' || bytes[size - 1] == '\0'))
		size--;
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return;
		text[i] = (char)bytes[i];
	}
	port_supply_text(s, row, text);
}

static void supply_state(PortSnapshot *s, PortAttr row, uint8_t byte)
{
	static const char *const states[8] = {NULL,    "low-power",	"powering-up",
					      "ready", "powering-down", "fault"};
	const char *state = states[byte >> 1 & 7];

	if (state)
		port_supply_text(s, row, state);
}

/* Of a cable in cm; 0: it is not known. */
static uint32_t length_of(const ModuleField *f, uint8_t byte)
{
	static const uint32_t steps[] = {10, 100, 1000, 10000};

	if (byte == 0 || byte == 0xff)
		return 0;
	return f->scale == SCALE_METRES ? byte * 100U : (byte & 0x3fU) * steps[byte >> 6];
}

/* What is colder than 0 degrees is 0, as of other sensors. */
static uint32_t temperature_at(const uint8_t *bytes)
{
	int32_t n = (int16_t)number_at(bytes);

	return n > 0 ? (uint32_t)(n + 128) / 256 : 0;
}

/* Byte 210 of CMIS has a bit for each lane that the module has not. */
static unsigned int n_lanes(const ModulePages *p, const ModuleField *f)
{
	unsigned int n = 0, most = f->size / 2U;

	if (f->standard != MODULE_CMIS)
		return most;
	while (n < most && p->is_read[PAGE_UPPER] && !(*at(p, PAGE_UPPER, 210) >> n & 1))
		n++;
	return n;
}

/* uA of a step of the bias; CMIS may say a factor, 0: which is not known. */
static uint32_t bias_step(const ModulePages *p, const ModuleField *f)
{
	static const uint8_t steps[] = {2, 4, 8, 0};

	return f->standard == MODULE_CMIS ? steps[*at(p, PAGE_CMIS_SAYS, 160) >> 3 & 3] : 2;
}

static void supply_lanes(const ModulePages *p, const ModuleField *f, uint32_t step, PortSnapshot *s)
{
	const uint8_t *bytes = at(p, f->page, f->offset);
	unsigned int n = n_lanes(p, f);
	AttrText list;
	ListWriter w;

	if (n == 0 || step == 0)
		return;
	list_begin(&w, ATTR_NUMBERS, list, sizeof(list));
	for (unsigned int i = 0; i < n; i++)
		list_add_number(&w, number_at(bytes + 2 * i) * step);
	list_end(&w);
	port_supply_text(s, f->row, list);
}

static void supply_nonzero(PortSnapshot *s, PortAttr row, uint32_t number)
{
	if (number > 0)
		port_supply_number(s, row, number);
}

static void supply_field(const ModulePages *p, const ModuleField *f, PortSnapshot *s)
{
	const uint8_t *bytes = at(p, f->page, f->offset);

	switch (f->scale) {
	case SCALE_TEXT:
		supply_text(s, f->row, bytes, f->size);
		break;
	case SCALE_STATE:
		supply_state(s, f->row, *bytes);
		break;
	case SCALE_METRES:
	case SCALE_LENGTH:
		supply_nonzero(s, f->row, length_of(f, *bytes));
		break;
	case SCALE_TEMPERATURE:
		port_supply_number(s, f->row, temperature_at(bytes));
		break;
	case SCALE_VOLTAGE:
	case SCALE_LIMIT:
		supply_nonzero(s, f->row, number_at(bytes) * 100);
		break;
	case SCALE_POWER:
		supply_lanes(p, f, 100, s);
		break;
	case SCALE_BIAS:
		supply_lanes(p, f, bias_step(p, f), s);
		break;
	}
}

/* Margins */

/* Supplies ROW with the distance from the limit to the weakest of POWERS in 0.01 dB; 0: below it. A
 * module that says 0 of each lane and has no limit does not measure. */
static void compare_power(PortSnapshot *s, PortAttr powers, PortAttr limit, PortAttr row)
{
	const Attribute *a = &port_attributes[powers];
	const uint32_t least = mask_has(&s->supplied, limit)
				       ? (uint32_t)attr_get_raw(&port_attributes[limit], &s->values)
				       : 0;
	ListReader r = list_reader(ATTR_NUMBERS, attr_get_text(a, &s->values));
	uint32_t weakest = UINT32_MAX, strongest = 0;
	ListItem lane;

	if (!mask_has(&s->supplied, powers))
		return;
	while (list_next(&r, &lane)) {
		weakest = MIN(weakest, lane.number);
		strongest = MAX(strongest, lane.number);
	}
	mask_set(&s->supplied, powers, strongest > 0 || least > 0);
	if (least == 0)
		return;
	port_supply_number(s, row,
			   weakest > least ? (uint64_t)lround(1000 * log10((double)weakest / least))
					   : 0);
}

static void compare_temperature(PortSnapshot *s)
{
	const PortValues *v = &s->values;

	if (mask_has(&s->supplied, PORT_ATTR_cable_temperature) &&
	    mask_has(&s->supplied, PORT_ATTR_cable_temperature_critical))
		PORT_SUPPLY(s, cable_temperature_margin,
			    v->cable_temperature_critical -
				    MIN(v->cable_temperature, v->cable_temperature_critical));
}

static void supply_flags(const ModulePages *p, ModuleStandard standard, PortSnapshot *s)
{
	const char *last = "";
	bool has_some = false;
	AttrText list;
	ListWriter w;

	list_begin(&w, ATTR_WORDS, list, sizeof(list));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const ModuleBit *bit = &flags[i].bit;

		if (flags[i].standard != standard || !p->is_read[bit->page] ||
		    !is_set(p, flags[i].is_there))
			continue;
		has_some = true;
		if (!(*at(p, bit->page, bit->offset) & bit->mask) || streq(flags[i].word, last))
			continue;
		last = flags[i].word;
		list_add_word(&w, last);
	}
	list_end(&w);
	if (has_some)
		PORT_SUPPLY_TEXT(s, cable_flags, list);
}

/* Whether the module has sensors. SFF-8636 has a bit that says so of TX power only, and a cable of
 * copper has zeros; but one that is measured has a voltage. Bit 0 of byte 2: not measured yet. */
static bool measures(const ModulePages *p, ModuleStandard standard, const PortSnapshot *s)
{
	return !streq(TEXT_OF(&s->values, cable_type), "dac") &&
	       (standard != MODULE_SFF_8636 || (mask_has(&s->supplied, PORT_ATTR_cable_voltage) &&
						!(p->bytes[PAGE_LOWER][2] & 0x01)));
}

static void drop_scales(PortSnapshot *s, ModuleScale least)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].scale >= least)
			mask_set(&s->supplied, fields[i].row, false);
}

void module_decode(const ModulePages *p, PortSnapshot *s)
{
	ModuleStandard standard = standard_of(p);
	const char *type = type_of(p, standard);

	PORT_SUPPLY(s, cable_present, 1);
	if (standard == MODULE_ANY)
		return;
	if (*type)
		PORT_SUPPLY_TEXT(s, cable_type, type);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const ModuleField *f = &fields[i];

		if (f->standard == standard && p->is_read[f->page] && is_set(p, f->is_there))
			supply_field(p, f, s);
	}
	supply_max_rate(p, standard, s);
	/* without a cable the length is that of the longest fibre, or nothing */
	if (!list_has_word("dac,acc,aoc", type))
		mask_set(&s->supplied, PORT_ATTR_cable_length, false);
	if (!measures(p, standard, s)) {
		drop_scales(s, SCALE_TEMPERATURE);
		return;
	}
	if (list_has_word("acc,base-t", type))
		drop_scales(s, SCALE_LIMIT); /* there is no light */
	supply_flags(p, standard, s);
	compare_power(s, PORT_ATTR_cable_rx_power, PORT_ATTR_cable_rx_power_critical,
		      PORT_ATTR_cable_rx_power_margin);
	compare_power(s, PORT_ATTR_cable_tx_power, PORT_ATTR_cable_tx_power_critical,
		      PORT_ATTR_cable_tx_power_margin);
	compare_temperature(s);
}
