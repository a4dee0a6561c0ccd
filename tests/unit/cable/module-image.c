/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "module-image.h"

#include <assert.h>

void module_image_set(ModulePages *p, ModulePage page, unsigned int offset, unsigned int value)
{
	bool is_upper = page != PAGE_LOWER && page != PAGE_SFP_MONITORS;

	offset -= is_upper ? MODULE_PAGE_SIZE : 0;
	assert(offset < MODULE_PAGE_SIZE && value <= UINT8_MAX);
	p->bytes[page][offset] = (uint8_t)value;
	p->is_read[page] = true;
}

void module_image_set_number(ModulePages *p, ModulePage page, unsigned int offset,
			     unsigned int value)
{
	module_image_set(p, page, offset, value >> 8);
	module_image_set(p, page, offset + 1, value & 0xff);
}

static void set_text(ModulePages *p, ModulePage page, unsigned int offset, const char *text)
{
	for (unsigned int i = 0; i < 16; i++, text += *text != '\0')
		module_image_set(p, page, offset + i, *text ? (uint8_t)*text : ' ');
}

static void set_names(ModulePages *p, unsigned int n, ModulePage page, unsigned int vendor,
		      unsigned int part, unsigned int serial)
{
	static const char *const vendors[] = {"NVIDIA", "Mellanox", "Credo Inc.",
					      "0123456789ABCDEF"};
	char text[32];

	set_text(p, page, vendor, vendors[n % ARRAY_SIZE(vendors)]);
	snprintf(text, sizeof(text), "MFS1S00-H%03uE", n * 7);
	set_text(p, page, part, text);
	snprintf(text, sizeof(text), "MT2%03uFT%05u", n, n * 977 % 100000);
	set_text(p, page, serial, text);
}

/* N numbers from OFFSET on, each greater than the one before it. */
static void set_lanes(ModulePages *p, ModulePage page, unsigned int offset, unsigned int lanes,
		      unsigned int first)
{
	for (unsigned int i = 0; i < lanes; i++)
		module_image_set_number(p, page, offset + 2 * i, first + 137 * i);
}

/* Degrees below 0 too */
static unsigned int temperature(unsigned int n)
{
	return (uint16_t)((int)(n % 5) * 20 * 256 - 10 * 256 + (int)n);
}

static void make_cmis(unsigned int n, ModuleKind kind, ModulePages *p)
{
	bool is_flat = kind == KIND_CMIS_DAC;

	module_image_set(p, PAGE_LOWER, 0, kind == KIND_CMIS_AOC ? 0x19 : 0x18);
	module_image_set(p, PAGE_LOWER, 1, n % 3 ? 0x50 : 0x40);
	module_image_set(p, PAGE_LOWER, 2, is_flat ? 0x80 : 0);
	module_image_set(p, PAGE_LOWER, 3, 3 << 1);
	set_names(p, n, PAGE_UPPER, 129, 148, 166);
	module_image_set(p, PAGE_UPPER, 202,
			 kind == KIND_CMIS_OPTIC ? 0 : (n % 3) << 6 | (3 + n % 40));
	module_image_set(p, PAGE_UPPER, 203, kind == KIND_CMIS_OPTIC ? 0x0c : 0x23);
	module_image_set(p, PAGE_UPPER, 212, is_flat ? 0x0a : 0x00);
	if (is_flat)
		return;
	module_image_set_number(p, PAGE_LOWER, 14, temperature(n));
	module_image_set_number(p, PAGE_LOWER, 16, 32000 + n * 31);
	module_image_set(p, PAGE_CMIS_SAYS, 151, 0x10); /* an average */
	module_image_set(p, PAGE_CMIS_SAYS, 157, 0x07);
	module_image_set(p, PAGE_CMIS_SAYS, 158, 0x06);
	module_image_set(p, PAGE_CMIS_SAYS, 159, 0x03);
	module_image_set(p, PAGE_CMIS_SAYS, 160, 0x07);
	module_image_set_number(p, PAGE_CMIS_LIMITS, 128, (70 + n % 7) << 8);
	module_image_set_number(p, PAGE_CMIS_LIMITS, 178, 1000 + n);
	module_image_set_number(p, PAGE_CMIS_LIMITS, 194, 500 + n);
	set_lanes(p, PAGE_CMIS_LANES, 154, 8, 9000 + n);
	set_lanes(p, PAGE_CMIS_LANES, 170, 8, 3000 + n);
	set_lanes(p, PAGE_CMIS_LANES, 186, 8, 7000 + n);
}

static void make_qsfp(unsigned int n, ModuleKind kind, ModulePages *p)
{
	bool is_flat = kind == KIND_QSFP_DAC;

	module_image_set(p, PAGE_LOWER, 0, n % 3 ? 0x11 : 0x0d);
	module_image_set(p, PAGE_LOWER, 2, is_flat ? 0x04 : 0);
	module_image_set(p, PAGE_UPPER, 128, n % 3 ? 0x11 : 0x0d);
	module_image_set(p, PAGE_UPPER, 130, kind == KIND_QSFP_OPTIC ? 0x07 : 0x23);
	module_image_set(p, PAGE_UPPER, 146, kind == KIND_QSFP_OPTIC ? 0 : 1 + n % 100);
	module_image_set(p, PAGE_UPPER, 147, is_flat ? 0xa0 : 0x40);
	set_names(p, n, PAGE_UPPER, 148, 168, 196);
	if (is_flat)
		return;
	module_image_set(p, PAGE_UPPER, 194, 0x30);
	module_image_set(p, PAGE_UPPER, 195, 0x0a);
	module_image_set(p, PAGE_UPPER, 220, 0x0c);
	module_image_set_number(p, PAGE_LOWER, 22, temperature(n));
	module_image_set_number(p, PAGE_LOWER, 26, 32000 + n * 31);
	set_lanes(p, PAGE_LOWER, 34, 4, 6000 + n);
	set_lanes(p, PAGE_LOWER, 42, 4, 3500 + n);
	set_lanes(p, PAGE_LOWER, 50, 4, 8000 + n);
	module_image_set_number(p, PAGE_QSFP_LIMITS, 128, (70 + n % 7) << 8);
	module_image_set_number(p, PAGE_QSFP_LIMITS, 178, 400 + n);
	module_image_set_number(p, PAGE_QSFP_LIMITS, 194, 1100 + n);
}

static void make_sfp(unsigned int n, ModuleKind kind, ModulePages *p)
{
	module_image_set(p, PAGE_LOWER, 0, 0x03);
	module_image_set(p, PAGE_LOWER, 1, 0x04);
	module_image_set(p, PAGE_LOWER, 2, kind == KIND_SFP_DAC ? 0x21 : 0x07);
	module_image_set(p, PAGE_LOWER, 8, kind == KIND_SFP_DAC ? 0x04 : 0);
	module_image_set(p, PAGE_LOWER, 18, kind == KIND_SFP_DAC ? 1 + n % 5 : 0);
	set_names(p, n, PAGE_LOWER, 20, 40, 68);
	p->is_read[PAGE_UPPER] = true;
	if (kind == KIND_SFP_DAC)
		return;
	module_image_set(p, PAGE_LOWER, 65, 0x0a);
	module_image_set(p, PAGE_LOWER, 92, 0x68); /* calibrated; an average */
	module_image_set(p, PAGE_LOWER, 93, 0x80);
	module_image_set(p, PAGE_LOWER, 94, 0x05);
	module_image_set_number(p, PAGE_SFP_MONITORS, 0, (70 + n % 7) << 8);
	module_image_set_number(p, PAGE_SFP_MONITORS, 26, 1200 + n);
	module_image_set_number(p, PAGE_SFP_MONITORS, 34, 300 + n);
	module_image_set_number(p, PAGE_SFP_MONITORS, 96, temperature(n));
	module_image_set_number(p, PAGE_SFP_MONITORS, 98, 32000 + n * 31);
	module_image_set_number(p, PAGE_SFP_MONITORS, 100, 3000 + n);
	module_image_set_number(p, PAGE_SFP_MONITORS, 102, 5000 + n);
	module_image_set_number(p, PAGE_SFP_MONITORS, 104, 4000 + n);
}

void module_image(unsigned int n, ModulePages *ret)
{
	ModuleKind kind = n % MODULE_KINDS;

	*ret = (ModulePages){};
	if (kind <= KIND_CMIS_DAC)
		make_cmis(n, kind, ret);
	else if (kind <= KIND_QSFP_AOC)
		make_qsfp(n, kind, ret);
	else
		make_sfp(n, kind, ret);
}
