/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl top without a terminal and without rdmad: what it learns from counters, and what is on
 * the screen. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <wchar.h>

#include "counters-answer.h"
#include "top-view.h"

#define WIDE_NAME "\xe7\xbd\x91\xe5\x8d\xa1\xe7\xbd\x91\xe5\x8d\xa1\xe7\xbd\x91\xe5\x8d\xa1_0"

/* Ports, and the model that follows them */

typedef struct Machine {
	ObjectList objects;
	TopModel model;
	uint64_t usec; /* of the samples */
} Machine;

static void set_text(Object *o, PortAttr a, const char *text)
{
	value_done(&o->values[a]);
	o->values[a] = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

static void set_number(Object *o, PortAttr a, uint64_t n)
{
	o->values[a] = (Value){.type = VALUE_UNSIGNED, .number = n};
}

static Object *add_port(Machine *m, const char *device)
{
	char path[64];
	Object *o;

	snprintf(path, sizeof(path), "/org/rdma/device/%zu/port/1", m->objects.n);
	assert_int_equal(object_new(path, &o), 0);
	o->interfaces = 1;
	set_text(o, PORT_ATTR_device_name, device);
	set_number(o, PORT_ATTR_port_num, 1);
	set_text(o, PORT_ATTR_state, "active");
	set_text(o, PORT_ATTR_phys_state, "link-up");
	set_number(o, PORT_ATTR_rate, UINT64_C(400000000000));
	set_number(o, PORT_ATTR_state_change, NOW_USEC - 3 * USEC_PER_SEC);
	set_number(o, PORT_ATTR_link_downs, 7);
	assert_int_equal(object_list_put(&m->objects, o), 0);
	return o;
}

static bool every_port(_unused_ void *userdata, const Object *port)
{
	return port->interfaces != 0;
}

static void follow(Machine *m)
{
	assert_int_equal(top_model_follow(&m->model, &m->objects, every_port, NULL), 0);
}

static void add_ports(Machine *m, size_t n)
{
	char name[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "mlx5_%zu", i);
		add_port(m, name);
	}
	follow(m);
}

static void machine_done(Machine *m)
{
	top_model_done(&m->model);
	object_list_done(&m->objects);
}
#define _cleanup_machine_ _cleanup_(machine_done)

/* After SECONDS the first port has these counters. */
static void sample(Machine *m, uint64_t seconds, uint64_t bytes, uint64_t errors,
		   const char *condition)
{
	_cleanup_(samples_done) Samples all = {};

	m->usec += seconds * USEC_PER_SEC;
	answer_add_port(&all, m->objects.items[0]->path, m->usec, NULL);
	answer_add_counter(&all, "port_rcv_bytes", bytes, condition);
	answer_add_counter(&all, "port_xmit_bytes", 2 * bytes, condition);
	answer_add_counter(&all, "symbol_error", errors, condition);
	answer_add_counter(&all, "port_rcv_packets", bytes / 1000, condition);
	assert_int_equal(top_model_sample(&m->model, &all, false, NOW_USEC), 0);
}

static void assert_rate(const Machine *m, TopRate which, double rate)
{
	double is = m->model.ports[0].rates[which];

	assert_true(rate < 0 ? is < 0 : is > rate - 0.01 && is < rate + 0.01);
}

/* The model */

static void test_rates(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};

	add_ports(&m, 1);
	sample(&m, 1, 5000, 3, "valid");
	assert_false(m.model.has_rates);
	assert_rate(&m, TOP_RECEIVE, -1);
	sample(&m, 2, 9000, 3, "valid");
	assert_true(m.model.has_rates);
	assert_rate(&m, TOP_RECEIVE, 2000);
	assert_rate(&m, TOP_TRANSMIT, 4000);
	assert_rate(&m, TOP_RECEIVE_PACKETS, 2);
	assert_rate(&m, TOP_TRANSMIT_PACKETS, -1);
	/* the same sample again: nothing new is known */
	sample(&m, 0, 9000, 3, "valid");
	assert_rate(&m, TOP_RECEIVE, 2000);
	assert_int_equal(top_port_errors(&m.model.ports[0]), 0);
	/* a counter went back: it was reset */
	sample(&m, 1, 100, 3, "valid");
	assert_rate(&m, TOP_RECEIVE, -1);
	sample(&m, 1, 100, 3, "valid");
	assert_rate(&m, TOP_RECEIVE, 0);
	/* one that stands at its largest value says nothing */
	sample(&m, 1, 100, 3, "saturated");
	assert_rate(&m, TOP_RECEIVE, -1);
	sample(&m, 1, 0, 0, "missing");
	assert_rate(&m, TOP_RECEIVE, -1);
	sample(&m, 1, 500, 3, "valid");
	assert_rate(&m, TOP_RECEIVE, -1);
	/* largest numbers */
	sample(&m, 1, UINT64_MAX / 2, 3, "valid");
	assert_true(m.model.ports[0].rates[TOP_RECEIVE] > 9e18);
}

/* The first counter of a kind that a port has is its rate, whatever others count. */
static void test_other_names(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};

	add_ports(&m, 1);
	for (uint64_t i = 0; i < 2; i++) {
		_cleanup_(samples_done) Samples all = {};

		m.usec += USEC_PER_SEC;
		answer_add_port(&all, m.objects.items[0]->path, m.usec, NULL);
		answer_add_counter(&all, "port_rcv_bytes", 1000 * i, "valid");
		answer_add_counter(&all, "rx_bytes", 5000 * i, "valid");
		answer_add_counter(&all, "tx_bytes", 7000 * i, "valid");
		answer_add_counter(&all, "rcvd_pkts", 3 * i, "valid");
		assert_int_equal(top_model_sample(&m.model, &all, false, NOW_USEC), 0);
	}
	assert_rate(&m, TOP_RECEIVE, 1000);
	assert_rate(&m, TOP_TRANSMIT, 7000);
	assert_rate(&m, TOP_RECEIVE_PACKETS, 3);
	assert_rate(&m, TOP_TRANSMIT_PACKETS, -1);
}

/* Each port is read: behind one that was added meanwhile, one that could not be read, and one of
 * which there was no sample. */
static void test_several(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};

	add_ports(&m, 4);
	for (uint64_t i = 0; i < 2; i++) {
		_cleanup_(samples_done) Samples all = {};

		m.usec += USEC_PER_SEC;
		for (size_t k = 1; k < 4; k++) {
			answer_add_port(&all, m.objects.items[k]->path, m.usec,
					k == 1 ? "no answer" : NULL);
			answer_add_counter(&all, "port_rcv_bytes", 1000 * i, "valid");
		}
		assert_int_equal(top_model_sample(&m.model, &all, false, NOW_USEC), 0);
	}
	for (size_t k = 0; k < 4; k++)
		assert_int_equal(m.model.ports[k].rates[TOP_RECEIVE] > 0, k > 1);
}

static void test_reboot(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = 900 * USEC_PER_SEC};

	add_ports(&m, 1);
	sample(&m, 1, 5000, 3, "valid");
	sample(&m, 1, 6000, 3, "valid");
	m.usec = 10 * USEC_PER_SEC;
	sample(&m, 0, 7000, 2, "valid");
	assert_rate(&m, TOP_RECEIVE, -1);
	assert_int_equal(top_port_errors(&m.model.ports[0]), 0);
	sample(&m, 1, 8000, 2, "valid");
	assert_rate(&m, TOP_RECEIVE, 1000);
}

static void test_errors(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};

	add_ports(&m, 1);
	sample(&m, 1, 0, 100, "valid");
	sample(&m, 1, 0, 103, "valid");
	sample(&m, 1, 0, 103, "valid");
	assert_int_equal(top_port_errors(&m.model.ports[0]), 3);
	assert_string_equal(m.model.ports[0].errors[0].name, "symbol_error");
	/* since it was reset there were two */
	sample(&m, 1, 0, 2, "valid");
	assert_int_equal(top_port_errors(&m.model.ports[0]), 5);
	assert_int_equal(m.model.ports[0].n_errors, 1);
	/* the port stays when another one is added, with what is known of it */
	add_port(&m, "mlx5_9");
	follow(&m);
	assert_int_equal(m.model.n, 2);
	assert_int_equal(top_port_errors(&m.model.ports[0]), 5);
	assert_int_equal(top_port_errors(&m.model.ports[1]), 0);
	m.objects.items[0]->interfaces = 0;
	follow(&m);
	assert_int_equal(m.model.n, 1);
	assert_int_equal(top_port_errors(&m.model.ports[0]), 0);

	assert_true(top_is_error_counter("VL15_dropped"));
	assert_true(top_is_error_counter("link_downed"));
	assert_true(top_is_error_counter("out_of_buffer"));
	assert_true(top_is_error_counter("ip4InDiscards"));
	assert_false(top_is_error_counter("req_cqe_flush_error"));
	assert_false(top_is_error_counter("port_xmit_wait"));
	assert_false(top_is_error_counter("rx_read_requests"));
}

static void test_failures(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};
	_cleanup_(samples_done) Samples hung = {}, remote = {}, other = {}, unfit = {};

	add_ports(&m, 2);
	sample(&m, 1, 0, 0, "valid");
	sample(&m, 1, 1000, 0, "valid");
	assert_rate(&m, TOP_RECEIVE, 1000);
	answer_add_port(&hung, m.objects.items[0]->path, 0, "no answer");
	answer_add_port(&hung, m.objects.items[1]->path, m.usec, NULL);
	answer_add_counter(&hung, "port_rcv_bytes", 1, "valid");
	assert_int_equal(top_model_sample(&m.model, &hung, false, NOW_USEC), 0);
	assert_rate(&m, TOP_RECEIVE, -1);
	assert_string_equal(m.model.ports[0].failure, "no answer");
	assert_null(m.model.ports[1].failure);
	sample(&m, 2, 5000, 0, "valid");
	assert_null(m.model.ports[0].failure);
	assert_rate(&m, TOP_RECEIVE, 2000);
	/* the clock of another machine; one that is not remote is this one's */
	assert_int_equal(m.model.clock_ahead, 0);
	answer_add_port(&remote, m.objects.items[0]->path, m.usec + 1, NULL);
	assert_int_equal(top_model_sample(&m.model, &remote, true, NOW_USEC), 0);
	assert_int_equal(m.model.clock_ahead, m.usec + 1);
	/* an answer with another form is refused, and one whose set has too few names */
	other.ports.type = VALUE_ARRAY;
	answer_add_number(&other.ports, 1);
	answer_add_port(&unfit, m.objects.items[0]->path, m.usec, NULL);
	answer_add_number(&unfit.ports.items[0].items[2], 1);
	assert_int_equal(top_model_sample(&m.model, &unfit, false, NOW_USEC), -EBADMSG);
	assert_int_equal(top_model_sample(&m.model, &other, false, NOW_USEC), -EBADMSG);
	/* text of the bus is shown without control characters */
	top_model_fail(&m.model, "too\033many\ncalls");
	assert_rate(&m, TOP_RECEIVE, -1);
	assert_string_equal(m.model.failure, "too?many?calls");
	top_model_restart(&m.model);
	assert_null(m.model.failure);
}

/* The columns of a line without its escape sequences. */
static size_t line_width(const char *line, size_t n)
{
	wchar_t wide[4096];
	char plain[4096];
	size_t k = 0;
	int width;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\033')
			i += strcspn(line + i, "m");
		else
			plain[k++] = line[i];
	}
	plain[k] = '\0';
	k = mbstowcs(wide, plain, ARRAY_SIZE(wide));
	assert_true(k < ARRAY_SIZE(wide));
	width = wcswidth(wide, k);
	assert_true(width >= 0);
	return (size_t)width;
}

/* Prints the view, which must have ROWS lines of at most WIDTH columns. */
static char *print(const Machine *m, TopView *v, bool colors)
{
	const Context c = {.colors = colors, .is_terminal = true};
	size_t n = 1;
	char *text;

	assert_int_equal(top_view_print(&c, &m->model, v, &text), 0);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		if (v->style.width > 0 && line_width(line, length) > v->style.width)
			fail_msg("%zu columns: \"%.*s\"", v->style.width, (int)length, line);
		n += line[length] == '\n';
		line += length + (line[length] == '\n');
	}
	if (v->rows > 0)
		assert_int_equal(n, v->rows);
	if (!colors)
		assert_null(strchr(text, '\033'));
	return text;
}

static TopView new_view(size_t width, size_t rows)
{
	return (TopView){.style = {.width = width, .realtime_usec = NOW_USEC, .has_cursor = true},
			 .rows = rows,
			 .host = "node17",
			 .interval_usec = USEC_PER_SEC};
}

static void make_rates(Machine *m)
{
	static const double rates[] = {-1,	    0,	  1,	999.4, 999.6, 1e6,
				       12345678901, 5e10, 1e18, 2e19,  1e30};

	for (size_t i = 0; i < m->model.n; i++) {
		TopPort *p = &m->model.ports[i];

		for (TopRate k = 0; k < _TOP_RATE_MAX; k++)
			p->rates[k] = rates[(i + k) % ARRAY_SIZE(rates)];
		if (i % 3 > 0)
			continue;
		p->errors = calloc(2, sizeof(*p->errors));
		p->errors[0] =
			(TopError){strdup("excessive_buffer_overrun_errors"), UINT64_MAX / 2};
		p->errors[1] = (TopError){strdup("symbol_error"), 1};
		p->n_errors = 2;
	}
}

static void check_widths(const Machine *m, bool colors)
{
	for (size_t width = 20; width <= 300;
	     width += width < 130 && !getenv("RDMAD_TEST_VALGRIND") ? 1 : 17)
		for (TopPage page = TOP_PAGE_PORTS; page <= TOP_PAGE_HELP; page++) {
			TopView v = new_view(width, 24);

			v.page = page;
			/* "show" has lines that cannot be shorter; there the terminal cuts them */
			if (page != TOP_PAGE_DETAILS)
				free(print(m, &v, colors));
		}
}

static void test_widths(_unused_ void **state)
{
	static const size_t numbers[] = {0, 1, 30};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		_cleanup_machine_ Machine m = {};

		add_ports(&m, numbers[i]);
		if (numbers[i] > 2) {
			set_text(m.objects.items[1], PORT_ATTR_device_name, WIDE_NAME);
			set_text(m.objects.items[1], PORT_ATTR_phys_state, "disabled");
			set_text(m.objects.items[2], PORT_ATTR_netdev, WIDE_NAME WIDE_NAME);
		}
		make_rates(&m);
		check_widths(&m, false);
		check_widths(&m, true);
		m.model.failure = strdup("a reason that is longer than a narrow terminal is wide");
		check_widths(&m, false);
	}
}

static void test_many_ports(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	add_ports(&m, 256);
	make_rates(&m);
	for (size_t rows = 1; rows <= 300; rows += rows < 30 ? 1 : 30) {
		TopView v = new_view(80, rows);

		free(print(&m, &v, true));
	}
}

static int press(const Machine *m, TopView *v, int key)
{
	int r = top_view_key(&m->model, v, key);

	free(print(m, v, false));
	return r;
}

static void assert_shows(const Machine *m, TopView *v, const char *text)
{
	_cleanup_free_ char *screen = print(m, v, false);

	if (!strstr(screen, text))
		fail_msg("\"%s\" is not in:\n%s", text, screen);
}

static void test_scrolling(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	_cleanup_(top_view_done) TopView v = new_view(80, 24);

	add_ports(&m, 256);
	free(print(&m, &v, false));
	assert_int_equal(v.n_ports, 20);
	assert_shows(&m, &v, "ports 1-20 of 256");
	assert_int_equal(press(&m, &v, TOP_KEY_DOWN), 1);
	assert_shows(&m, &v, "\n>mlx5_0/1");
	press(&m, &v, TOP_KEY_DOWN);
	assert_shows(&m, &v, "\n>mlx5_1/1");
	press(&m, &v, TOP_KEY_PAGE_DOWN);
	assert_shows(&m, &v, "\n>mlx5_21/1");
	assert_shows(&m, &v, "ports 3-22 of 256");
	press(&m, &v, TOP_KEY_END);
	assert_shows(&m, &v, "ports 237-256 of 256");
	assert_shows(&m, &v, "\n>mlx5_255/1");
	press(&m, &v, TOP_KEY_DOWN);
	assert_shows(&m, &v, "\n>mlx5_255/1");
	press(&m, &v, TOP_KEY_HOME);
	press(&m, &v, TOP_KEY_UP);
	assert_shows(&m, &v, "\n>mlx5_0/1");
	/* a terminal that became lower */
	press(&m, &v, TOP_KEY_PAGE_DOWN);
	v.rows = 10;
	assert_shows(&m, &v, "\n>mlx5_20/1");
	press(&m, &v, TOP_KEY_ESCAPE);
	assert_null(v.selected);
}

static void test_pages(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	_cleanup_(top_view_done) TopView v = new_view(80, 24);

	add_ports(&m, 2);
	press(&m, &v, '?');
	assert_shows(&m, &v, "reverse the order");
	assert_int_equal(press(&m, &v, 'q'), 1);
	/* nothing is chosen */
	press(&m, &v, TOP_KEY_ENTER);
	assert_int_equal(v.page, TOP_PAGE_PORTS);
	press(&m, &v, TOP_KEY_DOWN);
	press(&m, &v, TOP_KEY_ENTER);
	assert_shows(&m, &v, "LinkDownCount");
	for (size_t i = 0; i < 200; i++)
		press(&m, &v, TOP_KEY_DOWN);
	assert_true(v.first_line < 200);
	m.objects.items[0]->interfaces = 0;
	follow(&m);
	assert_shows(&m, &v, "The port has gone.");
	press(&m, &v, TOP_KEY_ESCAPE);
	assert_shows(&m, &v, "mlx5_1/1");
	press(&m, &v, ' ');
	assert_shows(&m, &v, "PAUSED");
	press(&m, &v, 'x');
	assert_int_equal(press(&m, &v, 'q'), 0);
}

/* ORDER has the names of the devices, of one letter each, as they are shown. */
static void assert_order(const Machine *m, const TopStyle *style, const char *order)
{
	_cleanup_free_ const TopPort **ports = NULL;
	char is[16] = "", name[96];
	size_t n;

	assert_int_equal(top_table_sort(&m->model, style, &ports, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(i + 1 < sizeof(is));
		is[i] = *object_name(ports[i]->object, name);
	}
	assert_string_equal(is, order);
}

static void test_sorting(_unused_ void **state)
{
	static const double rates[] = {5, -1, 7, 5, 0, -1};
	_cleanup_machine_ Machine m = {};
	TopStyle style = {};

	for (char name[] = "a"; *name < 'a' + 6; ++*name)
		add_port(&m, name);
	follow(&m);
	for (size_t i = 0; i < m.model.n; i++)
		m.model.ports[i].rates[TOP_RECEIVE] = rates[i];
	assert_order(&m, &style, "abcdef");
	style.reverse = true;
	assert_order(&m, &style, "fedcba");
	/* equal ones stay in their order, and those without a value come last */
	style = (TopStyle){.sort = TOP_COLUMN_RECEIVE};
	assert_order(&m, &style, "cadebf");
	style.reverse = true;
	assert_order(&m, &style, "eadcbf");
	set_text(m.objects.items[3], PORT_ATTR_state, "down");
	style = (TopStyle){.sort = TOP_COLUMN_STATE};
	assert_order(&m, &style, "dabcef");
	set_text(m.objects.items[4], PORT_ATTR_netdev, "eth10");
	set_text(m.objects.items[5], PORT_ATTR_netdev, "eth9");
	style = (TopStyle){.sort = TOP_COLUMN_NETDEV};
	assert_order(&m, &style, "feabcd");
	set_number(m.objects.items[2], PORT_ATTR_state_change, NOW_USEC - 1);
	style = (TopStyle){.sort = TOP_COLUMN_CHANGED};
	assert_order(&m, &style, "cabdef");
	/* only what is not right */
	m.model.ports[1].failure = strdup("no answer");
	style = (TopStyle){.only_bad = true};
	assert_order(&m, &style, "bd");
	m.objects.items[5]->values[PORT_ATTR_stale] = (Value){.type = VALUE_BOOL, .boolean = true};
	assert_order(&m, &style, "bdf");
}

static void test_contents(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {.usec = USEC_PER_SEC};
	_cleanup_(top_view_done) TopView v = new_view(200, 24);

	assert_shows(&m, &v, "No RDMA ports.");
	add_ports(&m, 1);
	sample(&m, 1, 0, 0, "valid");
	sample(&m, 1, UINT64_C(12500000000), 4, "valid");
	assert_shows(&m, &v, "active    100 Gb/s  25%  200 Gb/s  50%      4     3 s ago 400 Gb/s");
	assert_shows(&m, &v, "12.5 M        - symbol_error +4");
	assert_shows(&m, &v, "in 100 Gb/s, out 200 Gb/s, 4 new errors");
	press(&m, &v, 'b');
	assert_shows(&m, &v, "12.5 GB/s  25%");
	press(&m, &v, 'e');
	assert_shows(&m, &v, "mlx5_0/1");
	m.model.clock_ahead = INT64_C(3600) * 1000000; /* of another machine */
	assert_shows(&m, &v, " 60 min ago");
	top_model_stop(&m.model, NOW_USEC);
	assert_shows(&m, &v, "rdmad is not running since");
	assert_shows(&m, &v, "in -, out -");
	top_model_restart(&m.model);
	m.model.waiting_usec = NOW_USEC - 9 * USEC_PER_SEC;
	assert_shows(&m, &v, "waiting for the counters for 9 s");
	top_model_fail(&m.model, "too many calls");
	assert_shows(&m, &v, ": no counters: too many calls");
}

static void assert_rate_text(double rate, const char *text)
{
	char is[TOP_RATE_TEXT_MAX];

	top_format_rate(rate, true, is);
	assert_string_equal(is, text);
}

/* Where a text becomes another one */
static void test_texts(_unused_ void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} ages[] = {
		{0, " 0 s ago"},	{119, " 119 s ago"}, {120, " 2 min ago"},
		{7199, " 119 min ago"}, {7200, " 2 h ago"},  {172799, " 47 h ago"},
		{172800, " 2 d ago"},
	};
	_cleanup_machine_ Machine m = {};
	_cleanup_(top_view_done) TopView v = new_view(200, 24);

	assert_rate_text(999.4, "999 B/s");
	assert_rate_text(999.5, "1.00 kB/s");
	assert_rate_text(9994, "9.99 kB/s");
	assert_rate_text(9995, "10.0 kB/s");
	assert_rate_text(99949, "99.9 kB/s");
	assert_rate_text(99950, "100 kB/s");
	assert_rate_text(-1, "-");
	add_ports(&m, 1);
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		set_number(m.objects.items[0], PORT_ATTR_state_change,
			   NOW_USEC - ages[i].seconds * USEC_PER_SEC);
		follow(&m);
		assert_shows(&m, &v, ages[i].text);
	}
}

/* A key that shows something else begins at its beginning. */
static void test_begins_anew(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	_cleanup_(top_view_done) TopView v = new_view(80, 10);

	add_ports(&m, 20);
	press(&m, &v, 'r');
	assert_true(v.style.reverse);
	press(&m, &v, 's');
	assert_false(v.style.reverse);
	press(&m, &v, TOP_KEY_END);
	assert_true(v.first > 0);
	press(&m, &v, '<');
	assert_int_equal(v.style.sort, TOP_COLUMN_PORT);
	press(&m, &v, TOP_KEY_ENTER);
	assert_int_equal(v.page, TOP_PAGE_DETAILS);
	press(&m, &v, TOP_KEY_PAGE_DOWN);
	assert_true(v.first_line > 0);
	press(&m, &v, TOP_KEY_ENTER);
	press(&m, &v, TOP_KEY_ENTER);
	assert_int_equal(v.page, TOP_PAGE_DETAILS);
	assert_int_equal(v.first_line, 0);
}

static void test_batch(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	TopView v = new_view(0, 0);
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	add_ports(&m, 100);
	v.style.has_cursor = false;
	text = print(&m, &v, false);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n++;
	assert_int_equal(n, 102);
	assert_non_null(strstr(text, "\nmlx5_99/1 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),	    cmocka_unit_test(test_several),
		cmocka_unit_test(test_reboot),	    cmocka_unit_test(test_errors),
		cmocka_unit_test(test_failures),    cmocka_unit_test(test_widths),
		cmocka_unit_test(test_many_ports),  cmocka_unit_test(test_scrolling),
		cmocka_unit_test(test_pages),	    cmocka_unit_test(test_sorting),
		cmocka_unit_test(test_contents),    cmocka_unit_test(test_batch),
		cmocka_unit_test(test_other_names), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_begins_anew),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
