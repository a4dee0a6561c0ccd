/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls a harness without libFuzzer: with the files of a corpus, then with mutations of them, which
 * are the same every time.
 *
 * Usage: PROGRAM DIRECTORY [MUTATIONS]
 */

#include <dirent.h>

#include "fuzz.h"
#include "util.h"

#define INPUT_MAX 4096U
#define SEEDS_MAX 1024U
#define EDITS_MAX 8U
#define MUTATIONS 4000U

typedef struct Input {
	size_t n;
	uint8_t bytes[INPUT_MAX];
} Input;

static uint64_t random_state = 88172645463325252U;

/* xorshift64 */
static size_t random_below(size_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return n ? (size_t)(random_state % n) : 0;
}

static void edit(Input *in)
{
	static const uint8_t edges[] = {0, 1, 4, 7, 8, 0x7f, 0x80, 0xfe, 0xff};
	size_t at = random_below(in->n), n;

	switch (random_below(6)) {
	case 0:
		if (in->n)
			in->bytes[at] ^= (uint8_t)(1U << random_below(8));
		break;
	case 1:
		if (in->n)
			in->bytes[at] = (uint8_t)random_below(256);
		break;
	case 2:
		if (in->n)
			in->bytes[at] = edges[random_below(ARRAY_SIZE(edges))];
		break;
	case 3: /* cut off the end */
		in->n = random_below(in->n + 1);
		break;
	case 4: /* take out a part */
		n = random_below(in->n - at + 1);
		memmove(in->bytes + at, in->bytes + at + n, in->n - at - n);
		in->n -= n;
		break;
	case 5: /* repeat a part */
		n = random_below(MIN(in->n - at, INPUT_MAX - in->n) + 1);
		memmove(in->bytes + at + n, in->bytes + at, in->n - at);
		in->n += n;
		break;
	}
}

static void run(const Input *in)
{
	/* Allocate exactly this size, so that AddressSanitizer finds a read after the end. */
	_cleanup_free_ uint8_t *exact = malloc(in->n ? in->n : 1);

	if (!exact)
		abort();
	memcpy(exact, in->bytes, in->n);
	LLVMFuzzerTestOneInput(exact, in->n);
}

static size_t read_corpus(const char *path, Input *seeds)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	size_t n_seeds = 0;

	for (int i = 0; i < n; i++) {
		char name[4096];
		FILE *file = NULL;

		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && n_seeds < SEEDS_MAX)
			file = fopen(name, "re");
		if (file) {
			seeds[n_seeds].n = fread(seeds[n_seeds].bytes, 1, INPUT_MAX, file);
			n_seeds++;
			fclose(file);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n_seeds;
}

int main(int argc, char **argv)
{
	static Input seeds[SEEDS_MAX], in;
	uint64_t mutations = MUTATIONS;
	size_t n_seeds;

	if (argc < 2 || argc > 3 ||
	    (argc == 3 && text_to_u64(argv[2], UINT32_MAX, &mutations) < 0)) {
		fprintf(stderr, "Usage: %s DIRECTORY [MUTATIONS]\n", argv[0]);
		return 2;
	}
	n_seeds = read_corpus(argv[1], seeds);
	if (n_seeds == 0) {
		fprintf(stderr, "%s: no corpus\n", argv[1]);
		return 1;
	}
	run(&in); /* the empty input */
	for (size_t i = 0; i < n_seeds; i++)
		run(&seeds[i]);
	for (uint64_t i = 0; i < mutations; i++) {
		in = seeds[random_below(n_seeds)];
		for (size_t edits = 1 + random_below(EDITS_MAX); edits > 0; edits--)
			edit(&in);
		run(&in);
	}
	printf("%zu seeds, %ju mutations\n", n_seeds, (uintmax_t)mutations);
	return 0;
}
