/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of a Varlink client: what it sends, in pieces. The first byte of the input says how long a
 * piece is, the others are sent. Each reply is a whole object in JSON with a zero behind it. */

#include <sys/socket.h>

#include "input.h"
#include "varlink-link.h"

/* The source answers when the event loop has turned once: these are the questions. */
struct SourceRequest {
	SourceDone done;
	void *userdata;
	SourceRequest *next;
};

static SourceRequest *requests;

int __wrap_source_ask(Source *s, SourceDone done, void *userdata, SourceRequest **ret);
int __wrap_source_ask(_unused_ Source *s, SourceDone done, void *userdata, SourceRequest **ret)
{
	SourceRequest *q = calloc(1, sizeof(*q));

	FUZZ_CHECK(q != NULL);
	*q = (SourceRequest){.done = done, .userdata = userdata, .next = requests};
	requests = *ret = q;
	return 0;
}

SourceRequest *__wrap_source_request_free(SourceRequest *q);
SourceRequest *__wrap_source_request_free(SourceRequest *q)
{
	SourceRequest **at = &requests;

	while (*at && *at != q)
		at = &(*at)->next;
	FUZZ_CHECK(!q || *at == q);
	if (q)
		*at = q->next;
	free(q);
	return NULL;
}

void __wrap_idle_begin(Idle *i);
void __wrap_idle_begin(_unused_ Idle *i)
{
}

void __wrap_idle_end(Idle *i);
void __wrap_idle_end(_unused_ Idle *i)
{
}

static void answer_questions(void)
{
	static const SourceState state = {.up = true, .serial = 1};

	while (requests) {
		SourceRequest *q = requests;

		requests = q->next;
		q->done(q->userdata, &state);
		free(q);
	}
}

static void check_reply(const char *text, size_t n)
{
	json_tokener *tokener = json_tokener_new();
	json_object *object;

	FUZZ_CHECK(tokener != NULL);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)n);
	FUZZ_CHECK(json_object_is_type(object, json_type_object));
	FUZZ_CHECK(json_tokener_get_parse_end(tokener) == n);
	FUZZ_CHECK(json_object_object_get_ex(object, "parameters", NULL));
	json_object_put(object);
	json_tokener_free(tokener);
}

/* What the client has received of a reply that is not whole. */
typedef struct Client {
	int fd;
	char text[65536];
	size_t n;
} Client;

/* Reads all that is there, and checks each whole reply. */
static void read_replies(Client *c)
{
	ssize_t got;
	char *end;

	while ((got = recv(c->fd, c->text + c->n, sizeof(c->text) - c->n, MSG_DONTWAIT)) > 0) {
		c->n += (size_t)got;
		while ((end = memchr(c->text, 0, c->n))) {
			size_t n = (size_t)(end - c->text);

			check_reply(c->text, n);
			c->n -= n + 1;
			memmove(c->text, end + 1, c->n);
		}
		FUZZ_CHECK(c->n < sizeof(c->text));
	}
}

/* Lets the server do what it can. */
static void run(sd_event *event, Client *c)
{
	int r;

	do {
		r = sd_event_run(event, 0);
		FUZZ_CHECK(r >= 0);
		answer_questions();
		read_replies(c);
	} while (r > 0 || requests);
}

static void send_all(sd_event *event, Client *c, FuzzInput *in)
{
	size_t piece = 1 + (size_t)input_u8(in) * 16;

	while (in->left > 0) {
		size_t n = MIN(piece, in->left);

		if (send(c->fd, in->next, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n)
			return; /* the server has closed the connection */
		in->next += n;
		in->left -= n;
		run(event, c);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	VarlinkLinks links = {};
	sd_event *event = NULL;
	static Client client;
	int fds[2];

	FUZZ_CHECK(sd_event_new(&event) >= 0);
	FUZZ_CHECK(varlink_metrics_new(NULL, &links.metrics) == 0);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	FUZZ_CHECK(varlink_link_new(event, fds[0], 0, &links) == 0);
	client.fd = fds[1];
	client.n = 0;
	send_all(event, &client, &in);
	shutdown(client.fd, SHUT_WR);
	run(event, &client);
	FUZZ_CHECK(client.n == 0);
	FUZZ_CHECK(links.first == NULL);
	FUZZ_CHECK(requests == NULL);
	close(client.fd);
	varlink_metrics_free(links.metrics);
	sd_event_unref(event);
	return 0;
}
