/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters-file.h"

#include <inttypes.h>

#include "file.h"

#define MAGIC  "rdmactl-counters "
#define FORMAT 1U
/* 8192 ports with 100 counters of 64 bytes each are 50 MiB; no machine has so many. */
#define SIZE_MOST (64U << 20)

static uint64_t hash(const char *text, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

static void print_samples(FILE *f, const SampleList *list)
{
	fprintf(f, MAGIC "%u\n", FORMAT);
	for (size_t i = 0; i < list->n; i++) {
		const PortSample *p = &list->items[i];

		fprintf(f, "port\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n", p->name, p->path,
			p->sample.realtime_usec, p->sample.monotonic_usec);
		for (size_t k = 0; k < p->sample.counters.n; k++) {
			const Value *v = &p->sample.counters.items[k];

			fprintf(f, "counter\t%s\t%s\t%" PRIu64 "\t%s\t%s\t%s\n",
				counter_member(v, MEMBER_GROUP), counter_member(v, MEMBER_NAME),
				counter_value(v), counter_member(v, MEMBER_UNIT),
				counter_member(v, MEMBER_CONDITION),
				counter_member(v, MEMBER_REASON));
		}
	}
}

ExitStatus samples_save(const char *path, const SampleList *list)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return out_of_memory();
	print_samples(f, list);
	if (fflush(f) != 0) {
		fclose(f);
		return out_of_memory();
	}
	fprintf(f, "end\t%016" PRIx64 "\n", hash(text, size));
	if (fclose(f) != 0)
		return out_of_memory();
	return file_replace(path, text, size);
}

/* Splits LINE at tabs into exactly N words. */
static bool split(char *line, char **words, size_t n)
{
	size_t i = 0;
	char *word;

	while ((word = strsep(&line, "\t"))) {
		if (i == n)
			return false;
		words[i++] = word;
	}
	return i == n;
}

/* -EBADMSG if LINE is none that print_samples() writes. */
static int read_line(char *line, SampleList *list)
{
	char *words[7];
	uint64_t value;
	PortSample *p;

	if (startswith(line, "port\t")) {
		uint64_t monotonic;

		if (!split(line, words, 5) || text_to_u64(words[3], UINT64_MAX, &value) < 0 ||
		    text_to_u64(words[4], UINT64_MAX, &monotonic) < 0)
			return -EBADMSG;
		p = sample_list_add(list, words[1], words[2]);
		if (!p)
			return -ENOMEM;
		p->sample.realtime_usec = value;
		p->sample.monotonic_usec = monotonic;
		return 0;
	}
	if (!startswith(line, "counter\t") || list->n == 0 || !split(line, words, 7) ||
	    text_to_u64(words[3], UINT64_MAX, &value) < 0)
		return -EBADMSG;
	return sample_append(&list->items[list->n - 1].sample,
			     (const char *[]){words[1], words[2], "", words[4], words[5], words[6]},
			     value);
}

/* Where the last line of TEXT begins, if it is one and has the hash of what is before it; else
 * NULL. */
static char *find_end(char *text, size_t size)
{
	char *line, expected[32];
	size_t before;

	if (size == 0 || text[size - 1] != '\n' || strlen(text) != size)
		return NULL;
	text[size - 1] = '\0';
	line = strrchr(text, '\n');
	if (!line)
		return NULL;
	before = (size_t)(++line - text);
	snprintf(expected, sizeof(expected), "end\t%016" PRIx64, hash(text, before));
	return streq(line, expected) ? line : NULL;
}

static int read_samples(char *text, const char *end, SampleList *list)
{
	char *rest = text, *line;
	int r = 0;

	(void)strsep(&rest, "\n"); /* the format */
	while (r == 0 && rest && rest < end) {
		line = strsep(&rest, "\n");
		r = read_line(line, list);
	}
	return r;
}

ExitStatus samples_load(const char *path, SampleList *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_samples_ SampleList list = {};
	const char *format, *end;
	size_t size;
	int r = text_read_file(path, SIZE_MOST, &text, &size);

	if (r < 0)
		return failure("cannot read %s: %s", path, strerror(-r));
	format = startswith(text, MAGIC);
	if (!format)
		return failure("%s: not a file that \"rdmactl counters --save\" wrote", path);
	if (strtoul(format, NULL, 10) > FORMAT)
		return failure("%s: it has format %lu, of a later rdmactl; expected format %u",
			       path, strtoul(format, NULL, 10), FORMAT);
	end = find_end(text, size);
	r = end ? read_samples(text, end, &list) : -EBADMSG;
	if (r == -ENOMEM)
		return out_of_memory();
	if (r < 0)
		return failure("%s: the file is damaged: it is not as it was saved", path);
	*ret = list;
	list = (SampleList){};
	return STATUS_OK;
}
