/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "top-screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "top-view.h"

struct Screen {
	struct termios before;
	bool taken;
	struct winsize size;
	char *shown; /* the text that is on the screen; NULL: not known */
};

/* The alternate screen, no cursor, and longer lines are cut; and back. */
static const char sequence_enter[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char sequence_leave[] = "\033[?7h\033[?25h\033[?1049l";

static int write_all(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t k = write(STDOUT_FILENO, text, n);

		if (k < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (k < 0) {
			/* another program may have made the terminal non-blocking */
			(void)poll(&(struct pollfd){STDOUT_FILENO, POLLOUT, 0}, 1, -1);
			continue;
		}
		text += k;
		n -= (size_t)k;
	}
	return 0;
}

static void forget(Screen *s)
{
	free(s->shown);
	s->shown = NULL;
}

int screen_enter(Screen *s)
{
	struct termios raw = s->before;

	s->taken = true;
	forget(s);
	/* Ctrl-C and Ctrl-Z still make signals; read() returns what is there, perhaps nothing */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return -errno;
	return write_all(sequence_enter, strlen(sequence_enter));
}

void screen_leave(Screen *s)
{
	if (!s->taken)
		return;
	s->taken = false;
	(void)write_all(sequence_leave, strlen(sequence_leave));
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
}

int screen_check(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	return !term || !*term || streq(term, "dumb") ? -EOPNOTSUPP : 0;
}

int screen_open(Screen **ret)
{
	_cleanup_free_ Screen *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	if (tcgetattr(STDIN_FILENO, &s->before) < 0)
		return -errno;
	r = screen_enter(s);
	if (r < 0) {
		screen_leave(s);
		return r;
	}
	*ret = steal_pointer(&s);
	return 0;
}

Screen *screen_close(Screen *s)
{
	if (!s)
		return NULL;
	screen_leave(s);
	free(s->shown);
	free(s);
	return NULL;
}

void screen_size(Screen *s, size_t *ret_width, size_t *ret_rows)
{
	struct winsize size = {};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	if (size.ws_col != s->size.ws_col || size.ws_row != s->size.ws_row)
		forget(s);
	s->size = size;
	*ret_width = size.ws_col;
	*ret_rows = size.ws_row;
}

int screen_draw(Screen *s, const char *text)
{
	_cleanup_free_ char *sequence = NULL;
	unsigned int row = 1;
	size_t size;
	FILE *f;
	int r;

	if (s->shown && streq(s->shown, text))
		return 0;
	f = open_memstream(&sequence, &size);
	if (!f)
		return -ENOMEM;
	/* Clear each line first: with the cursor behind a line that fills the terminal, its last
	 * character would be cleared. */
	for (const char *line = text; line; row++) {
		size_t n = strcspn(line, "\n");

		fprintf(f, "\033[%u;1H\033[K%.*s", row, (int)n, line);
		line = line[n] ? line + n + 1 : NULL;
	}
	fprintf(f, "\033[%u;1H", row);
	if (fclose(f) < 0)
		return -ENOMEM;
	r = write_all(sequence, size);
	free(s->shown);
	s->shown = r < 0 ? NULL : strdup(text);
	return r;
}

/* The key at TEXT, and how many bytes it has: one that is not known is TOP_KEY_NONE. */
static int next_key(const char *text, size_t *ret_n)
{
	static const struct {
		const char *sequence;
		TopKey key;
	} keys[] = {
		{"[A", TOP_KEY_UP},	    {"OA", TOP_KEY_UP},	   {"[B", TOP_KEY_DOWN},
		{"OB", TOP_KEY_DOWN},	    {"[C", TOP_KEY_RIGHT}, {"OC", TOP_KEY_RIGHT},
		{"[D", TOP_KEY_LEFT},	    {"OD", TOP_KEY_LEFT},  {"[5~", TOP_KEY_PAGE_UP},
		{"[6~", TOP_KEY_PAGE_DOWN}, {"[H", TOP_KEY_HOME},  {"OH", TOP_KEY_HOME},
		{"[1~", TOP_KEY_HOME},	    {"[7~", TOP_KEY_HOME}, {"[F", TOP_KEY_END},
		{"OF", TOP_KEY_END},	    {"[4~", TOP_KEY_END},  {"[8~", TOP_KEY_END},
	};
	size_t n;

	*ret_n = 1;
	if (*text == '\r')
		return TOP_KEY_ENTER;
	if (*text != '\033')
		return (unsigned char)*text;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (startswith(text + 1, keys[i].sequence)) {
			*ret_n = 1 + strlen(keys[i].sequence);
			return keys[i].key;
		}
	if (text[1] != '[')
		return TOP_KEY_ESCAPE;
	/* another function key: parameters, and a letter or '~' */
	n = 2 +
	    strcspn(text + 2, "@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~");
	*ret_n = text[n] ? n + 1 : n;
	return TOP_KEY_NONE;
}

int screen_read(_unused_ Screen *s, bool (*on_key)(void *userdata, int key), void *userdata)
{
	char text[256];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text) - 1);
	size_t length;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	text[n] = '\0';
	for (const char *p = text; *p; p += length) {
		int key = next_key(p, &length);

		if (key != TOP_KEY_NONE && !on_key(userdata, key))
			break;
	}
	return 0;
}
