/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmactl record: a file of any contents. What is wrong with it is said once; each line that is
 * taken can be printed, and so can each text of a change; the changes are in what is printed, once
 * as a table and once as JSON. What the script does in its first second can be folded.
 */

#include "cli-parts.h"
#include "input.h"
#include "record-anonymous.h"
#include "record-fold.h"
#include "record-print.h"
#include "record-verify.h"

static void check_change(const RecordChange *c)
{
	FUZZ_CHECK(c->kind < _CHANGE_MAX && c->name && *c->name);
	FUZZ_CHECK(!c->new_name == (c->kind != CHANGE_RENAMED));
	FUZZ_CHECK(c->kind != CHANGE_NO_ANSWER || c->error);
	check_text(c->name);
	if (c->new_name)
		check_text(c->new_name);
	if (c->error)
		check_text(c->error);
	if (c->message)
		check_text(c->message);
	for (size_t i = 0; i < c->n_reasons; i++)
		check_text(c->reasons[i]);
	for (size_t i = 0; i < c->n_values; i++) {
		check_text(c->values[i].field);
		if (c->values[i].value)
			check_text(c->values[i].value);
	}
}

static void see(_unused_ void *userdata, const char *name)
{
	check_text(name);
}

/* The changes of F, printed. Returns how many there are. */
static uint64_t print_changes(Context *c, RecordFile *f)
{
	RecordReader r = {.heading = see};
	RecordPrinter p = {.context = c};
	bool found = true;

	record_print_begin(&p);
	record_print_gap(&p, f);
	record_reader_begin(&r, f);
	while (found) {
		RecordChange change = {};
		ExitStatus status = record_reader_next(&r, &change, &found);

		FUZZ_CHECK(n_complaints == (status != STATUS_OK) &&
			   (status == STATUS_OK || !found));
		if (found) {
			check_change(&change);
			record_print_change(&p, f, &change);
		}
		record_change_done(&change);
	}
	record_reader_done(&r);
	record_print_end(&p, true);
	return p.n;
}

static uint64_t count_lines(const char *text)
{
	uint64_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* Reads the file at PATH and prints its changes. *RET is to be freed; returns how many there are.
 */
static uint64_t print_file(const char *path, bool json, char **ret)
{
	RecordFile *f = NULL;
	Context c = {.json = json, .no_legend = true, .width = 80};
	ExitStatus status;
	uint64_t n = 0;
	size_t size;

	n_complaints = 0;
	status = record_file_open(path, &f);
	FUZZ_CHECK(n_complaints == (status != STATUS_OK) && (status == STATUS_OK) == (f != NULL));
	*ret = NULL;
	if (!f)
		return 0;
	c.out = open_memstream(ret, &size);
	FUZZ_CHECK(c.out != NULL);
	n = print_changes(&c, f);
	fclose(c.out);
	record_file_free(f);
	return n;
}

/* TEXT is an export. */
static void print_anonymous(const char *text)
{
	_cleanup_free_ char *anonymous = NULL;
	size_t size;
	FILE *out = open_memstream(&anonymous, &size);
	ExitStatus status;

	FUZZ_CHECK(out != NULL);
	n_complaints = 0;
	status = record_anonymous_print(text, out);
	FUZZ_CHECK(n_complaints == (status != STATUS_OK));
	fclose(out);
	check_lines(anonymous);
}

static void fold_file(const char *path)
{
	_cleanup_(record_fold_done) RecordFold fold = {};
	_cleanup_free_ char *text = NULL;
	RecordFile *f = NULL;
	RecordReader r = {};
	size_t size;
	char *line;
	FILE *out;

	if (record_file_open(path, &f) != STATUS_OK)
		return;
	n_complaints = 0;
	fold.since_usec = f->head.realtime_usec + USEC_PER_SEC;
	if (record_fold_read(&fold, f, &r, &line) == STATUS_OK) {
		FUZZ_CHECK(n_complaints == 0);
		out = open_memstream(&text, &size);
		FUZZ_CHECK(out != NULL);
		record_fold_print(&fold, &r, 0, out);
		fclose(out);
		check_lines(text);
		print_anonymous(text);
	} else {
		FUZZ_CHECK(n_complaints == 1);
	}
	record_file_free(f);
}

static void verify_file(const char *path)
{
	_cleanup_free_ char *text = NULL;
	RecordFile *f = NULL;
	Context c = {.width = 80};
	RecordVerifier v = {.context = &c};
	ExitStatus status;
	size_t size;

	if (record_file_open(path, &f) != STATUS_OK)
		return;
	n_complaints = 0;
	c.out = open_memstream(&text, &size);
	FUZZ_CHECK(c.out != NULL);
	status = record_verify_segment(f, &v);
	FUZZ_CHECK(n_complaints == (status != STATUS_OK));
	FUZZ_CHECK((record_verify_end(&v, status) == STATUS_OK) ==
		   (status == STATUS_OK && v.n_broken == 0));
	fclose(c.out);
	check_lines(text);
	record_file_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	char path[INPUT_PATH_MAX], *text, *json;
	uint64_t n;

	input_file(&in, path);
	n = print_file(path, false, &text);
	FUZZ_CHECK(print_file(path, true, &json) == n);
	if (json)
		check_json(json);
	if (text) {
		uint64_t lines = count_lines(text);

		check_lines(text);
		/* the first may say why the segment begins */
		FUZZ_CHECK(lines == MAX(n, 1) || lines == MAX(n, 1) + 1);
	}
	free(text);
	free(json);
	fold_file(path);
	verify_file(path);
	return 0;
}
