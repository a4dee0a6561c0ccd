/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The terminal of rdmactl top: a pseudoterminal for the keys, and another one for what is shown. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "top-screen.h"
#include "top-view.h"

typedef struct Test {
	int keys, shown;	   /* the ends of the terminals that a person has */
	int input, output;	   /* the other ends: standard input and output */
	int our_input, our_output; /* those of this program */
} Test;

static void open_terminal(int *ret_master, int *ret_slave)
{
	*ret_master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*ret_master >= 0);
	assert_int_equal(grantpt(*ret_master), 0);
	assert_int_equal(unlockpt(*ret_master), 0);
	*ret_slave = open(ptsname(*ret_master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*ret_slave >= 0);
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	open_terminal(&t->keys, &t->input);
	open_terminal(&t->shown, &t->output);
	fflush(stdout);
	t->our_input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	t->our_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(dup2(t->input, STDIN_FILENO) >= 0);
	assert_true(dup2(t->output, STDOUT_FILENO) >= 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	dup2(t->our_output, STDOUT_FILENO);
	dup2(t->our_input, STDIN_FILENO);
	close(t->our_input);
	close(t->our_output);
	close(t->keys);
	close(t->shown);
	close(t->input);
	close(t->output);
	free(t);
	return 0;
}

/* What is shown next is EXPECTED, and no more. */
static void expect(const Test *t, const char *expected)
{
	char is[512];
	size_t n = 0;

	while (n < strlen(expected)) {
		ssize_t k = read(t->shown, is + n, sizeof(is) - 1 - n);

		assert_true(k > 0);
		n += (size_t)k;
	}
	is[n] = '\0';
	assert_string_equal(is, expected);
	assert_int_equal(poll(&(struct pollfd){t->shown, POLLIN, 0}, 1, 0), 0);
}

#define ENTERED "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEFT	"\033[?7h\033[?25h\033[?1049l"

/* Whether keys of the terminal FD come at once and are not shown. */
static bool is_raw(int fd)
{
	struct termios t;

	assert_int_equal(tcgetattr(fd, &t), 0);
	assert_true(t.c_lflag & ISIG);
	return !(t.c_lflag & (ICANON | ECHO)) && t.c_cc[VMIN] == 0 && t.c_cc[VTIME] == 0;
}

/* The terminal of the keys is another one while the screen is taken, and then as it was. */
static void test_taken(void **state)
{
	Test *t = *state;
	struct termios before, after;
	Screen *s = NULL;

	assert_int_equal(tcgetattr(t->input, &before), 0);
	assert_int_equal(screen_open(&s), 0);
	expect(t, ENTERED);
	assert_true(is_raw(t->input));
	assert_false(is_raw(t->output));
	screen_leave(s);
	expect(t, LEFT);
	assert_false(is_raw(t->input));
	screen_leave(s);
	expect(t, "");
	assert_int_equal(screen_enter(s), 0);
	expect(t, ENTERED);
	assert_true(is_raw(t->input));
	assert_null(screen_close(s));
	expect(t, LEFT);
	assert_int_equal(tcgetattr(t->input, &after), 0);
	assert_int_equal(after.c_lflag, before.c_lflag);
	assert_memory_equal(after.c_cc, before.c_cc, sizeof(after.c_cc));
	assert_null(screen_close(NULL));
}

static void test_check(void **state)
{
	Test *t = *state;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setenv("TERM", "xterm", 1);
	assert_int_equal(screen_check(), 0);
	setenv("TERM", "dumb", 1);
	assert_int_equal(screen_check(), -EOPNOTSUPP);
	setenv("TERM", "", 1);
	assert_int_equal(screen_check(), -EOPNOTSUPP);
	unsetenv("TERM");
	assert_int_equal(screen_check(), -EOPNOTSUPP);
	setenv("TERM", "xterm", 1);
	assert_true(dup2(null, STDIN_FILENO) >= 0);
	assert_int_equal(screen_check(), -ENOTTY);
	assert_true(dup2(t->input, STDIN_FILENO) >= 0);
	assert_true(dup2(null, STDOUT_FILENO) >= 0);
	assert_int_equal(screen_check(), -ENOTTY);
	assert_true(dup2(t->output, STDOUT_FILENO) >= 0);
	close(null);
}

static void resize(const Test *t, unsigned short width, unsigned short rows)
{
	const struct winsize size = {.ws_col = width, .ws_row = rows};

	assert_int_equal(ioctl(t->shown, TIOCSWINSZ, &size), 0);
}

/* The same text is not shown again, but after the terminal has got another size. */
static void test_draw(void **state)
{
	Test *t = *state;
	Screen *s = NULL;
	size_t width, rows;

	assert_int_equal(screen_open(&s), 0);
	expect(t, ENTERED);
	screen_size(s, &width, &rows);
	assert_true(width == 80 && rows == 24);
	resize(t, 100, 0);
	screen_size(s, &width, &rows);
	assert_true(width == 80 && rows == 24);
	assert_int_equal(screen_draw(s, "one\ntwo\n"), 0);
	expect(t, "\033[1;1H\033[Kone\033[2;1H\033[Ktwo\033[3;1H\033[K\033[4;1H");
	assert_int_equal(screen_draw(s, "one\ntwo\n"), 0);
	expect(t, "");
	assert_int_equal(screen_draw(s, "one"), 0);
	expect(t, "\033[1;1H\033[Kone\033[2;1H");
	resize(t, 100, 30);
	screen_size(s, &width, &rows);
	assert_true(width == 100 && rows == 30);
	assert_int_equal(screen_draw(s, "one"), 0);
	expect(t, "\033[1;1H\033[Kone\033[2;1H");
	screen_size(s, &width, &rows);
	assert_int_equal(screen_draw(s, "one"), 0);
	expect(t, "");
	screen_close(s);
	expect(t, LEFT);
}

typedef struct Keys {
	int keys[16];
	size_t n, most;
} Keys;

static bool on_key(void *userdata, int key)
{
	Keys *k = userdata;

	assert_true(k->n < ARRAY_SIZE(k->keys));
	k->keys[k->n++] = key;
	return k->n < k->most;
}

static void test_keys(void **state)
{
	static const struct {
		const char *typed;
		size_t n;
		int keys[4];
	} cases[] = {
		{"q", 1, {'q'}},
		{"abc", 3, {'a', 'b', 'c'}},
		{"a\rb", 3, {'a', TOP_KEY_ENTER, 'b'}},
		{"\033[A\033OBk", 3, {TOP_KEY_UP, TOP_KEY_DOWN, 'k'}},
		{"\033[5~\033[6~x", 3, {TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, 'x'}},
		{"\033[H\033[4~", 2, {TOP_KEY_HOME, TOP_KEY_END}},
		{"\033[C\033OD", 2, {TOP_KEY_RIGHT, TOP_KEY_LEFT}},
		{"\033", 1, {TOP_KEY_ESCAPE}},
		{"\033\033q", 3, {TOP_KEY_ESCAPE, TOP_KEY_ESCAPE, 'q'}},
		/* keys that are not known say nothing, and hide none */
		{"\033[1;5Pq", 1, {'q'}},
		{"\033[15~q\033[200", 1, {'q'}},
		{"\033[Zj", 1, {'j'}},
	};
	Test *t = *state;
	Screen *s = NULL;
	Keys k = {.most = SIZE_MAX};

	assert_int_equal(screen_open(&s), 0);
	assert_int_equal(screen_read(s, on_key, &k), 0);
	assert_int_equal(k.n, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int size = (int)strlen(cases[i].typed), n = 0;

		assert_int_equal(write(t->keys, cases[i].typed, (size_t)size), size);
		/* the kernel hands it on in its own time */
		while (n < size) {
			assert_int_equal(poll(&(struct pollfd){t->input, POLLIN, 0}, 1, 60000), 1);
			assert_int_equal(ioctl(t->input, FIONREAD, &n), 0);
		}
		k.n = 0;
		assert_int_equal(screen_read(s, on_key, &k), 0);
		assert_int_equal(k.n, cases[i].n);
		assert_memory_equal(k.keys, cases[i].keys, k.n * sizeof(int));
	}
	screen_close(s);
}

/* The rest of what was typed is left out after the key that ends it. */
static void test_last_key(void **state)
{
	Test *t = *state;
	Screen *s = NULL;
	Keys k = {.most = 2};
	int n = 0;

	assert_int_equal(screen_open(&s), 0);
	assert_int_equal(write(t->keys, "abc", 3), 3);
	while (n < 3)
		assert_int_equal(ioctl(t->input, FIONREAD, &n), 0);
	assert_int_equal(screen_read(s, on_key, &k), 0);
	assert_int_equal(k.n, 2);
	screen_close(s);
}

int main(void)
{
#define ON_TERMINALS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ON_TERMINALS(test_taken), ON_TERMINALS(test_check),    ON_TERMINALS(test_draw),
		ON_TERMINALS(test_keys),  ON_TERMINALS(test_last_key),
	};

	return cmocka_run_group_tests_name("top-screen", tests, NULL, NULL);
}
