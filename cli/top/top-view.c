/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "top-view.h"

#include <inttypes.h>
#include <time.h>

#include "fit.h"
#include "show.h"
#include "terminal.h"

void top_view_done(TopView *v)
{
	free(v->selected);
	v->selected = NULL;
}

/* Keys */

static size_t find_selected(const TopView *v, const TopPort *const *ports, size_t n)
{
	size_t i = 0;

	while (i < n && !(v->selected && streq(ports[i]->path, v->selected)))
		i++;
	return i;
}

/* STEP lines down, or up if it is negative; at the ends no further. */
static size_t moved(size_t from, long step, size_t n)
{
	if (step < 0)
		return from > (size_t)-step ? from - (size_t)-step : 0;
	return n > 0 ? MIN(from + (size_t)step, n - 1) : 0;
}

static int choose_port(const TopModel *m, TopView *v, long step)
{
	_cleanup_free_ const TopPort **ports = NULL;
	size_t n, i;
	char *path;
	int r = top_table_sort(m, &v->style, &ports, &n);

	if (r < 0 || n == 0)
		return r;
	i = find_selected(v, ports, n);
	/* the first key chooses the first port on the screen */
	if (i == n && (step == 1 || step == -1))
		i = MIN(v->first, n - 1);
	else
		i = moved(i < n ? i : v->first, step, n);
	path = strdup(ports[i]->path);
	if (!path)
		return -ENOMEM;
	free(v->selected);
	v->selected = path;
	return 0;
}

static int move(const TopModel *m, TopView *v, long step)
{
	if (v->page == TOP_PAGE_PORTS)
		return choose_port(m, v, step);
	/* the end is known when it is printed */
	v->first_line = moved(v->first_line, step, SIZE_MAX);
	return 0;
}

static void sort_by_next(TopView *v, int step)
{
	int n = TOP_COLUMN_NOTE;

	v->style.sort = (TopColumn)(((int)v->style.sort + step + n) % n);
	v->style.reverse = false;
	v->first = 0;
}

/* Back to the ports, or if they are there to no port. */
static void go_back(TopView *v)
{
	if (v->page == TOP_PAGE_PORTS)
		top_view_done(v);
	v->page = TOP_PAGE_PORTS;
}

static void enter(TopView *v)
{
	v->first_line = 0;
	v->page = v->page == TOP_PAGE_PORTS && v->selected ? TOP_PAGE_DETAILS : TOP_PAGE_PORTS;
}

int top_view_key(const TopModel *m, TopView *v, int key)
{
	const long most = 1 << 20, page = MAX((long)v->n_ports, 1);
	int r = 0;

	if (key == TOP_KEY_UP || key == 'k')
		r = move(m, v, -1);
	else if (key == TOP_KEY_DOWN || key == 'j')
		r = move(m, v, 1);
	else if (key == TOP_KEY_PAGE_UP)
		r = move(m, v, -page);
	else if (key == TOP_KEY_PAGE_DOWN)
		r = move(m, v, page);
	else if (key == TOP_KEY_HOME || key == 'g')
		r = move(m, v, -most);
	else if (key == TOP_KEY_END || key == 'G')
		r = move(m, v, most);
	else if (key == 's' || key == '>' || key == TOP_KEY_RIGHT)
		sort_by_next(v, 1);
	else if (key == '<' || key == TOP_KEY_LEFT)
		sort_by_next(v, -1);
	else if (key == 'r')
		v->style.reverse = !v->style.reverse;
	else if (key == 'e')
		v->style.only_bad = !v->style.only_bad;
	else if (key == 'b')
		v->style.bytes = !v->style.bytes;
	else if (key == ' ')
		v->paused = !v->paused;
	else if (key == '?' || key == 'h')
		v->page = v->page == TOP_PAGE_HELP ? TOP_PAGE_PORTS : TOP_PAGE_HELP;
	else if (key == TOP_KEY_ENTER)
		enter(v);
	else if (key == TOP_KEY_ESCAPE || (key == 'q' && v->page != TOP_PAGE_PORTS))
		go_back(v);
	else if (key == 'q')
		return 0;
	return r < 0 ? r : 1;
}

/* The output, collected line by line: no line is longer than the terminal. */
typedef struct Lines {
	const Context *c;
	const TopView *v;
	FILE *f;
	size_t n;
} Lines;

/* Adds the N bytes at TEXT, which fit, as a line. Behind the last line of the terminal there is
 * none. */
static void add_line(Lines *l, const char *text, size_t n)
{
	if (l->v->rows > 0 && l->n >= l->v->rows)
		return;
	fprintf(l->f, "%s%.*s", l->n++ > 0 ? "\n" : "", (int)n, text);
}

/* Adds TEXT, which has no colours, in this colour (NULL: none). The text is cut. */
static int add_text(Lines *l, const char *color, const char *text)
{
	size_t width = l->v->style.width > 0 ? l->v->style.width : SIZE_MAX;
	_cleanup_free_ char *fitting = fit_text(text, width), *line = NULL;
	bool colored = color && l->c->colors;

	if (!fitting || asprintf(&line, "%s%s%s", terminal_color(l->c, color), fitting,
				 colored ? terminal_plain(l->c) : "") < 0)
		return -ENOMEM;
	add_line(l, line, strlen(line));
	return 0;
}

static int add_format(Lines *l, const char *color, const char *format, ...) _printf_(3, 4);
static int add_format(Lines *l, const char *color, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	return r < 0 ? -ENOMEM : add_text(l, color, text);
}

/* Adds the lines of TEXT, which fit, from line FIRST on, at most MOST. */
static void add_lines(Lines *l, const char *text, size_t first, size_t most)
{
	for (size_t i = 0; *text; i++) {
		size_t n = strcspn(text, "\n");

		if (i >= first && i - first < most)
			add_line(l, text, n);
		text += n + (text[n] == '\n');
	}
}

static void fill_up_to(Lines *l, size_t n)
{
	while (l->n < n)
		add_line(l, "", 0);
}

static void clock_text(uint64_t usec, char ret[16])
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;

	ret[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(ret, 16, "%H:%M:%S", &tm);
}

/* The first line: what is wrong with the values, or how the ports are. */
static int add_status(Lines *l, const TopModel *m)
{
	const TopView *v = l->v;
	uint64_t now = v->style.realtime_usec, late = v->interval_usec + 2 * USEC_PER_SEC;
	size_t n_active = 0, n_stale = 0;
	char clock[16], since[16];

	clock_text(now, clock);
	clock_text(m->stopped_usec, since);
	if (m->stopped_usec)
		return add_format(l, "red", "%s %s: rdmad is not running since %s", v->host, clock,
				  since);
	if (m->failure)
		return add_format(l, "red", "%s %s: no counters: %s", v->host, clock, m->failure);
	if (m->waiting_usec && now > m->waiting_usec + late)
		return add_format(l, "yellow", "%s %s: waiting for the counters for %" PRIu64 " s",
				  v->host, clock, (now - m->waiting_usec) / USEC_PER_SEC);
	for (size_t i = 0; i < m->n; i++) {
		n_active += object_is_active(m->ports[i].object);
		n_stale += object_is_stale(m->ports[i].object);
	}
	return add_format(l, "bold", "%s %s: %zu %s, %zu active, %zu not active, %zu stale",
			  v->host, clock, m->n, m->n == 1 ? "port" : "ports", n_active,
			  m->n - n_active, n_stale);
}

/* The second line: the sums, and how the table is sorted. */
static int add_sums(Lines *l, const TopModel *m)
{
	const TopStyle *style = &l->v->style;
	char receive[TOP_RATE_TEXT_MAX], transmit[TOP_RATE_TEXT_MAX];
	double sums[] = {[TOP_RECEIVE] = -1, [TOP_TRANSMIT] = -1};
	uint64_t n_errors = 0;

	for (size_t i = 0; i < m->n; i++) {
		n_errors += top_port_errors(&m->ports[i]);
		for (size_t k = 0; k < ARRAY_SIZE(sums); k++)
			if (m->ports[i].rates[k] >= 0)
				sums[k] = MAX(sums[k], 0) + m->ports[i].rates[k];
	}
	top_format_rate(sums[TOP_RECEIVE], style->bytes, receive);
	top_format_rate(sums[TOP_TRANSMIT], style->bytes, transmit);
	return add_format(l, NULL, "%sby %s%s%s; in %s, out %s, %" PRIu64 " new errors",
			  l->v->paused ? "PAUSED; " : "", top_column_heading(style->sort),
			  style->reverse ? " reversed" : "",
			  style->only_bad ? "; errors or not active only" : "", receive, transmit,
			  n_errors);
}

static int add_footer(Lines *l, const char *what, size_t first, size_t shown, size_t n)
{
	if (n == 0 || shown >= n)
		return add_text(l, "dim",
				"q end  ? help  arrows, Enter: one port  < > sort  r e b");
	return add_format(l, "dim", "%s %zu-%zu of %zu  q end  ? help", what, first + 1,
			  first + shown, n);
}

/* Scrolls so that the chosen port is on the screen, and no line is empty while there are ports. */
static void scroll(TopView *v, const TopPort *const *ports, size_t n)
{
	size_t i = find_selected(v, ports, n);

	if (i < n && i < v->first)
		v->first = i;
	if (i < n && i >= v->first + v->n_ports)
		v->first = i - v->n_ports + 1;
	v->first = MIN(v->first, n > v->n_ports ? n - v->n_ports : 0);
}

static int add_ports(Lines *l, const TopModel *m, TopView *v, size_t room)
{
	_cleanup_free_ const TopPort **ports = NULL;
	_cleanup_free_ char *text = NULL, *left_out = NULL;
	size_t n, shown, end = l->n + room;
	int r = top_table_sort(m, &v->style, &ports, &n);

	if (r < 0)
		return r;
	v->n_ports = room > 1 ? room - 1 : 1; /* without the headings */
	scroll(v, ports, n);
	shown = MIN(n - v->first, v->n_ports);
	r = top_table_print(l->c, m, &v->style, ports + v->first, shown, v->selected, &text,
			    &left_out);
	if (r < 0)
		return r;
	if (n > 0)
		add_lines(l, text, 0, SIZE_MAX);
	else
		r = add_text(l, NULL,
			     m->n == 0 ? "No RDMA ports."
				       : "All ports are active and have no errors.");
	if (r < 0 || v->rows <= end)
		return r;
	fill_up_to(l, end);
	return add_footer(l, "ports", v->first, shown, n);
}

static int add_details(Lines *l, const TopModel *m, TopView *v, size_t room)
{
	_cleanup_free_ char *text = NULL;
	const Object *o = NULL;
	Context c = *l->c;
	size_t size, n = 0, end = l->n + room;
	ExitStatus status;

	for (size_t i = 0; i < m->n; i++)
		if (v->selected && streq(m->ports[i].path, v->selected))
			o = m->ports[i].object;
	if (!o)
		return add_text(l, NULL, "The port has gone.");
	c.out = open_memstream(&text, &size);
	if (!c.out)
		return -ENOMEM;
	c.width = (unsigned int)v->style.width;
	c.is_terminal = true;
	status = show_object(&c, o, false);
	if (fclose(c.out) < 0 || status != STATUS_OK)
		return -ENOMEM;
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n++;
	v->first_line = MIN(v->first_line, n > room ? n - room : 0);
	add_lines(l, text, v->first_line, room);
	fill_up_to(l, end);
	return v->rows > end ? add_footer(l, "lines", v->first_line, MIN(n, room), n) : 0;
}

static int add_help(Lines *l)
{
	static const char *const lines[] = {
		"up, down, Page Up, Page Down, Home, End  choose a port",
		"Enter   all attributes of this port; again: back",
		"Escape  back",
		"> or s  sort by the next column",
		"<       sort by the column before",
		"r       reverse the order",
		"e       only ports with errors, or not active",
		"b       bytes or bits in a second",
		"space   pause; again: go on",
		"?       this text; again: back",
		"q       end",
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lines) && r == 0; i++)
		r = add_text(l, NULL, lines[i]);
	return r;
}

static int add_all(Lines *l, const TopModel *m, TopView *v)
{
	size_t rows = v->rows;
	/* a low terminal has the table only */
	size_t above = rows == 0 || rows >= 6 ? 2 : rows >= 3 ? 1 : 0;
	size_t below = rows >= 6 ? 1 : 0;
	size_t room = rows == 0 ? m->n + 2 : rows - above - below;
	int r = above > 0 ? add_status(l, m) : 0;

	if (r == 0 && above > 1)
		r = add_sums(l, m);
	if (r < 0)
		return r;
	switch (v->page) {
	case TOP_PAGE_PORTS:
		return add_ports(l, m, v, room);
	case TOP_PAGE_DETAILS:
		return add_details(l, m, v, room);
	case TOP_PAGE_HELP:
		break;
	}
	return add_help(l);
}

int top_view_print(const Context *c, const TopModel *m, TopView *v, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Lines l = {.c = c, .v = v, .f = open_memstream(&text, &size)};
	int r = l.f ? add_all(&l, m, v) : -ENOMEM;

	if (r == 0)
		fill_up_to(&l, v->rows);
	if (l.f && fclose(l.f) < 0)
		return -ENOMEM;
	if (r < 0)
		return r;
	*ret = steal_pointer(&text);
	return 0;
}
