/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* librdmad with a service that takes the place of rdmad, and answers as the test says: errors,
 * replies that rdmad does not send, and a device that gets another name meanwhile. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "../unit/descriptors.h"
#include "fixture.h"
#include "memory-layout.h"

/* The reader gives up after so many other names. */
#define TRIES 5U

#define PORT_PATH RDMAD_DEVICE_PREFIX "/3/port/1"

typedef struct Gid {
	uint32_t index;
	const char *gid, *type, *netdev;
} Gid;

/* What the service says. The test writes it between its calls. */
typedef struct Script {
	const char *error;	/* of each call; NULL: none */
	const char *path;	/* the port that is found */
	const char *other;	/* FindPorts() finds this one first; NULL: none */
	const char *entry;	/* the type of an entry of a GID table */
	const Gid *gid;		/* of PATH; NULL: none */
	unsigned int n_renames; /* so many answers say nothing, as the device has another name */
	bool finds;		/* or they do, and it has got that after them */
	bool port_goes;		/* with the first of them */
	unsigned int n_asked;
	char asked[128]; /* the last question for a port */
	bool ended;
} Script;

typedef struct Env {
	Fixture *f;
	Script script;
	pthread_t thread;
	int memory, changed[2];
	struct memory_header *header;
	struct rdmad_port *record; /* of the only port; there is room for one more */
} Env;

/* The service */

static void change_record(Env *e)
{
	struct rdmad_port p = *e->record;

	p.device_name[0]++;
	if (e->script.port_goes)
		p.hot.flags = 0;
	memory_write(e->record, &p);
}

static int append_gid(sd_bus_message *m, const char *entry, const Gid *g)
{
	char contents[32];
	int r;

	snprintf(contents, sizeof(contents), "%.*s", (int)strlen(entry) - 2, entry + 1);
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "Gid");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', entry);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'r', contents);
	if (r >= 0)
		r = sd_bus_message_append(m, "ussss", g->index, g->gid, g->type, g->netdev, "");
	if (r >= 0 && streq(contents, "ussssa{sv}"))
		r = sd_bus_message_append(m, "a{sv}", 1, "Later", "s", "member");
	for (int i = 0; i < 3 && r >= 0; i++)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_append(m, "{sv}", "GidGeneration", "t", UINT64_C(10));
}

/* Keeps which port CALL asks for: "METHOD WHAT OPTION=VALUE ...". */
static int keep_question(Script *s, sd_bus_message *call)
{
	const char *what, *key, *value;
	int r = sd_bus_message_read(call, "s", &what);

	if (r < 0)
		return r;
	snprintf(s->asked, sizeof(s->asked), "%s %s", sd_bus_message_get_member(call), what);
	r = sd_bus_message_enter_container(call, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_read(call, "{sv}", &key, "s", &value)) > 0) {
		size_t n = strlen(s->asked);

		snprintf(s->asked + n, sizeof(s->asked) - n, " %s=%s", key, value);
	}
	return r;
}

static int append_found(sd_bus_message *m, const char *path, const char *entry, const Gid *g)
{
	int r = sd_bus_message_open_container(m, 'r', "oa{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "o", path);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "By", "s", "name");
	if (r >= 0 && g && g->gid)
		r = append_gid(m, entry, g);
	if (r >= 0 && g && !g->gid)
		r = sd_bus_message_append(m, "{sv}", "Gid", "s", "no entry");
	for (int i = 0; i < 2 && r >= 0; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int reply_found(Env *e, sd_bus_message *call)
{
	static const Gid other = {77, "fe80::77", "RoCE v2", "eth1"};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	Script *s = &e->script;
	bool renames = s->n_asked++ < s->n_renames;
	int r = sd_bus_message_new_method_return(call, &m);

	if (renames)
		change_record(e);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(oa{sv})");
	if (r >= 0 && s->other)
		r = append_found(m, s->other, s->entry, &other);
	if (r >= 0 && s->path && (!renames || s->finds))
		r = append_found(m, s->path, s->entry, s->gid);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

static int on_call(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Env *e = userdata;
	const char *member = sd_bus_message_get_member(m);

	if (!sd_bus_message_is_method_call(m, NULL, NULL))
		return 0;
	if (streq(member, "End") || streq(member, "Wait")) {
		e->script.ended = streq(member, "End");
		return sd_bus_reply_method_return(m, NULL);
	}
	if (e->script.error)
		return sd_bus_reply_method_errorf(m, e->script.error, "as the test says");
	if (streq(member, "OpenSnapshot"))
		return sd_bus_reply_method_return(m, "hh", e->memory, e->changed[0]);
	if (keep_question(&e->script, m) < 0)
		return sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS, "%s", member);
	return streq(member, "FindPorts") ? reply_found(e, m)
					  : sd_bus_reply_method_return(m, "o", e->script.path);
}

static void *serve(void *userdata)
{
	Env *e = userdata;
	sd_bus *bus = fixture_client(e->f);
	int r = sd_bus_add_filter(bus, NULL, on_call, e);

	if (r >= 0)
		r = sd_bus_request_name(bus, RDMAD_BUS_NAME, 0);
	while (r >= 0 && !e->script.ended) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	sd_bus_flush_close_unref(bus);
	return NULL;
}

static void make_memory(Env *e)
{
	const struct memory_header h = memory_new_header(2);
	const struct rdmad_port port = {
		.hot = {.flags = RDMAD_PORT_PRESENT, .device_index = 3, .port_num = 1},
		.gid_generation = 10,
		.device_name = "rocep1",
		.netdev = "eth0"};
	void *p;

	e->memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(e->memory >= 0);
	assert_int_equal(ftruncate(e->memory, 4096), 0);
	assert_int_equal(fcntl(e->memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, e->memory, 0);
	assert_true(p != MAP_FAILED);
	e->header = p;
	*e->header = h;
	e->header->n_slots = 1;
	e->record = (struct rdmad_port *)(e->header + 1);
	memory_write(e->record, &port);
}

static int setup(void **state)
{
	Env *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->f = fixture_new();
	e->script = (Script){.path = PORT_PATH, .entry = "(ussssa{sv})"};
	make_memory(e);
	assert_int_equal(pipe2(e->changed, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pthread_create(&e->thread, NULL, serve, e), 0);
	fixture_wait_name(e->f);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Env *e = *state;

	sd_bus_message_unref(fixture_call(e->f, "/", "a.b", "End", NULL, ""));
	assert_int_equal(pthread_join(e->thread, NULL), 0);
	munmap(e->header, 4096);
	close(e->memory);
	close(e->changed[0]);
	close(e->changed[1]);
	fixture_free(e->f);
	free(e);
	return 0;
}

static struct rdmad *open_snapshot(const Env *e)
{
	struct rdmad *r = NULL;

	assert_int_equal(rdmad_open(e->f->address, &r), 0);
	return r;
}

/* The descriptors of this process. The service, which is in it, has sent those of its last reply
 * and closed its copies once it has answered one more call. */
static unsigned int settled_descriptors(const Env *e)
{
	sd_bus_message_unref(fixture_call(e->f, "/", "a.b", "Wait", NULL, ""));
	return count_descriptors();
}

/* Opening */

static void test_open_errors(void **state)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {
		{RDMAD_ERROR_LIMITS_EXCEEDED, -EUSERS},
		{SD_BUS_ERROR_UNKNOWN_METHOD, -EOPNOTSUPP},
		{SD_BUS_ERROR_SERVICE_UNKNOWN, -EHOSTUNREACH},
		/* what dbus-broker says of a service that does not start */
		{SD_BUS_ERROR_NAME_HAS_NO_OWNER, -EHOSTUNREACH},
		{SD_BUS_ERROR_ACCESS_DENIED, -EACCES},
	};
	Env *e = *state;
	struct rdmad *r = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		e->script.error = errors[i].name;
		if (rdmad_open(e->f->address, &r) != errors[i].error)
			fail_msg("%s has another result", errors[i].name);
		assert_null(r);
	}
}

/* A memory that is refused: nothing of it stays. */
static void test_open_damaged(void **state)
{
	Env *e = *state;
	struct rdmad *r = open_snapshot(e);
	unsigned int before = settled_descriptors(e);
	struct rdmad_port p;
	struct rdmad_handle h;

	assert_int_equal(rdmad_find(r, "eth0", &h), 0);
	e->header->magic[0] = 'X';
	for (unsigned int i = 0; i < 3; i++) {
		struct rdmad *other = NULL;

		assert_int_equal(rdmad_open(e->f->address, &other), -EBADMSG);
		assert_null(other);
		assert_int_equal(rdmad_reopen(r), -EBADMSG);
	}
	assert_int_equal(settled_descriptors(e), before);
	assert_int_equal(rdmad_read(r, h, &p), 0);
	e->header->magic[0] = MEMORY_MAGIC[0];
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(rdmad_reopen(r), 0);
	assert_int_equal(settled_descriptors(e), before);
	assert_int_equal(rdmad_read(r, h, &p), 0);
	rdmad_close(r);
	assert_true(settled_descriptors(e) < before);
}

/* Finding a port */

static void test_find_any_errors(void **state)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {
		{RDMAD_ERROR_NOT_FOUND, -ENOENT},
		{SD_BUS_ERROR_UNKNOWN_OBJECT, -ENOENT},
		{RDMAD_ERROR_AMBIGUOUS, -EEXIST},
		{RDMAD_ERROR_INVALID_ARGUMENT, -EINVAL},
		{SD_BUS_ERROR_SERVICE_UNKNOWN, -EHOSTUNREACH},
		{SD_BUS_ERROR_NAME_HAS_NO_OWNER, -EHOSTUNREACH},
		{SD_BUS_ERROR_ACCESS_DENIED, -EACCES},
	};
	Env *e = *state;
	struct rdmad *r = open_snapshot(e);
	struct rdmad_handle h = {.slot = 77};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		e->script.error = errors[i].name;
		if (rdmad_find_any(r, "x", &h) != errors[i].error)
			fail_msg("%s has another result", errors[i].name);
	}
	assert_int_equal(h.slot, 77);
	rdmad_close(r);
}

/* The path that the daemon answers with, and the record that it stands for */
static void test_find_any_paths(void **state)
{
	static const struct {
		const char *path;
		int error;
	} paths[] = {
		{PORT_PATH, 0},
		{RDMAD_DEVICE_PREFIX "/3/port/2", -ENOENT},
		{RDMAD_DEVICE_PREFIX "/2/port/1", -ENOENT},
		{RDMAD_DEVICE_PREFIX "/3/port/1/x", -EBADMSG},
		{RDMAD_DEVICE_PREFIX "/3", -EBADMSG},
		{"/org/other/3/port/1", -EBADMSG},
	};
	Env *e = *state;
	struct rdmad *r = open_snapshot(e);
	struct rdmad_handle expected, h;
	struct rdmad_port other = *e->record;

	assert_int_equal(rdmad_find(r, "rocep1/1", &expected), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		h = (struct rdmad_handle){};
		e->script.path = paths[i].path;
		if (rdmad_find_any(r, "x", &h) != paths[i].error)
			fail_msg("%s has another result", paths[i].path);
		if (paths[i].error == 0)
			assert_true(h.port == expected.port && h.slot == expected.slot);
		else
			assert_int_equal(h.port, 0);
	}
	/* a record that is being written hides no other one */
	other.hot.device_index = 4;
	memory_write(e->record + 1, &other);
	e->header->n_slots = 2;
	e->record->hot.sequence++;
	e->script.path = RDMAD_DEVICE_PREFIX "/4/port/1";
	assert_int_equal(rdmad_find_any(r, "x", &h), 0);
	assert_int_equal(h.slot, 1);
	/* the daemon has ended since it answered */
	e->record->hot.sequence++;
	other.hot.flags |= RDMAD_PORT_CLOSED;
	memory_write(e->record, &other);
	assert_int_equal(rdmad_find_any(r, "x", &h), -ENOTCONN);
	rdmad_close(r);
}

/* GIDs */

#define IPV4(last)  "0000:0000:0000:0000:0000:ffff:c000:02" #last
#define LOCAL(last) "fe80:0000:0000:0000:0000:0000:0000:000" #last

/* The index of the GID that is found, or the error. */
static int find_gid(Env *e, const struct rdmad_handle *port, const char *address,
		    const char *netdev, int type, struct rdmad_gid *ret)
{
	struct rdmad *r = open_snapshot(e);
	struct rdmad_gid g = {};
	int result;

	e->script.n_asked = 0;
	result = rdmad_find_gid(r, port, address, netdev, type, &g);
	rdmad_close(r);
	if (result != 0) {
		assert_int_equal(g.port.port, 0);
		assert_true(result < 0);
		return result;
	}
	if (ret)
		*ret = g;
	return (int)g.index;
}

static int find_any_gid(Env *e, struct rdmad_gid *ret)
{
	struct rdmad_handle h = {.slot = 0};

	memcpy(&h.port, &e->record->hot.device_index, sizeof(h.port));
	return find_gid(e, &h, NULL, NULL, RDMAD_GID_ANY, ret);
}

/* The device gets another name between the record and the answer, which finds nothing then. */
static void test_renames(void **state)
{
	static const Gid gid = {1, IPV4(01), "RoCE v2", "eth0"};
	Env *e = *state;
	struct rdmad_gid g;

	e->script.gid = &gid;
	assert_int_equal(find_any_gid(e, &g), 1);
	assert_int_equal(g.generation, 10);
	assert_int_equal(e->script.n_asked, 1);

	e->script.n_renames = 1;
	assert_int_equal(find_any_gid(e, &g), 1);
	assert_int_equal(e->script.n_asked, 2);
	assert_string_equal(e->script.asked, "FindPorts socep1/1");

	/* an answer that has the port is good, whatever its device is called by now */
	e->script.finds = true;
	assert_int_equal(find_any_gid(e, &g), 1);
	assert_int_equal(e->script.n_asked, 1);
	e->script.finds = false;

	/* the last attempt is as good as the first, and there is no other */
	e->script.n_renames = TRIES - 1;
	assert_int_equal(find_any_gid(e, &g), 1);
	e->script.n_renames = TRIES;
	assert_int_equal(find_any_gid(e, NULL), -ENOENT);
	assert_int_equal(e->script.n_asked, TRIES);

	/* with the name goes the port */
	e->script.n_renames = 1;
	e->script.port_goes = true;
	assert_int_equal(find_any_gid(e, NULL), -ENODEV);
	assert_int_equal(e->script.n_asked, 1);
	assert_int_equal(find_any_gid(e, NULL), -ENODEV);
	assert_int_equal(e->script.n_asked, 0);
}

/* Which of the ports that the daemon finds is meant, and what its GID is. */
static void test_answers(void **state)
{
	static const Gid good = {1, IPV4(03), "RoCE v2", "eth0.5"};
	static const Gid later = {3, IPV4(04), "RoCE v3", "eth0"}; /* of a later rdmad */
	Env *e = *state;
	struct rdmad_gid g;

	e->script.gid = &good;
	assert_int_equal(find_gid(e, NULL, "192.0.2.3", NULL, RDMAD_GID_ANY, &g), 1);
	assert_int_equal(g.type, RDMAD_GID_ROCE_V2);
	assert_string_equal(g.netdev, "eth0.5");
	assert_int_equal(g.gid[15], 3);
	assert_int_equal(g.port.port, 3 | UINT64_C(1) << 32);
	assert_int_equal(g.generation, 10);
	assert_int_equal(e->script.n_asked, 1);
	assert_int_equal(find_any_gid(e, NULL), 1);
	e->script.gid = &later;
	assert_int_equal(find_any_gid(e, NULL), -ENOENT);
	e->script.gid = NULL;
	assert_int_equal(find_any_gid(e, NULL), -ENOENT);
	e->script.gid = &good;
	e->script.other = RDMAD_DEVICE_PREFIX "/2/port/1";
	assert_int_equal(find_any_gid(e, NULL), 1);
	assert_int_equal(find_gid(e, NULL, "192.0.2.3", NULL, RDMAD_GID_ANY, NULL), -EEXIST);
	e->script.path = NULL;
	assert_int_equal(find_any_gid(e, NULL), -ENOENT);
	e->script.other = NULL;
	assert_int_equal(find_gid(e, NULL, "192.0.2.3", NULL, RDMAD_GID_ANY, NULL), -ENOENT);
}

/* What the daemon is asked: all that the caller wants. */
static void test_question(void **state)
{
	Env *e = *state;

	find_any_gid(e, NULL);
	assert_string_equal(e->script.asked, "FindPorts rocep1/1");
	find_gid(e, NULL, "192.0.2.1", NULL, RDMAD_GID_ANY, NULL);
	assert_string_equal(e->script.asked, "FindPorts 192.0.2.1");
	find_gid(e, NULL, "192.0.2.1", NULL, RDMAD_GID_IB, NULL);
	assert_string_equal(e->script.asked, "FindPorts 192.0.2.1 type=IB");
	find_gid(e, NULL, "fe80::1", "eth0", RDMAD_GID_ROCE_V2, NULL);
	assert_string_equal(e->script.asked, "FindPorts fe80::1 netdev=eth0 type=RoCE v2");
	find_gid(e, NULL, NULL, "eth0", RDMAD_GID_ROCE_V1, NULL);
	assert_string_equal(e->script.asked, "FindPorts eth0 by=netdev type=RoCE v1");
}

/* Without a connection nobody is asked. */
static void test_no_bus(void **state)
{
	Env *e = *state;
	struct rdmad_handle h = {};
	struct rdmad_gid g = {};
	struct rdmad *r = NULL;

	assert_int_equal(rdmad_open_fd(e->memory, e->changed[0], &r), 0);
	assert_int_equal(rdmad_find_gid(r, NULL, "192.0.2.3", NULL, RDMAD_GID_ANY, &g),
			 -EOPNOTSUPP);
	assert_int_equal(rdmad_find_any(r, "x", &h), -EOPNOTSUPP);
	rdmad_close(r);
}

/* Entries with fewer and with more members than this library knows, and what is no entry. */
static void test_entry_types(void **state)
{
	static const Gid good = {2, IPV4(01), "RoCE v2", "eth0"};
	static const Gid bad = {2, "c000:0201", "RoCE v2", "eth0"};
	static const Gid none = {};
	Env *e = *state;

	e->script.gid = &good;
	assert_int_equal(find_any_gid(e, NULL), 2);
	e->script.entry = "(ussss)";
	assert_int_equal(find_any_gid(e, NULL), 2);
	e->script.gid = &bad;
	assert_int_equal(find_any_gid(e, NULL), -EBADMSG);
	e->script.gid = &none;
	assert_int_equal(find_any_gid(e, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_any_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_any_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_renames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_question, setup, teardown),
		cmocka_unit_test_setup_teardown(test_entry_types, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_bus, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
