/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librdmad-glib, and a service that sends what it likes: signals and answers with wrong types,
 * objects that no rdmad has, errors, late answers, owners of the name that come and go. The
 * program that uses the library reads attributes, loads tables and makes calls, in handlers of
 * signals, too. The input is a list of such steps.
 *
 * Whatever comes: no critical warning; an attribute has a value of its type, or none and then a
 * reason; each call of the program ends with a result or with an error.
 */

#include "glib-peer.h"
#include "glib-values.h"
#include "message.h"
#include "names.h"
#include "object-private.h"
#include "rdmad-glib.h"

#define STEPS_MAX 64U
/* A handler of a signal makes a call, whose answer brings a signal, whose handler makes a call. */
#define DEPTH_MAX 3U
#define BUS	  "org.freedesktop.DBus"
#define ERROR	  "org.freedesktop.DBus.Error."

typedef struct Fuzz {
	FuzzInput in;
	RdmadClient *client; /* NULL: none */
	bool started;	     /* its init() has ended well */
	const char *owner;
	guint32 serial;	 /* of the last message of the service */
	GPtrArray *kept; /* objects that the program has a reference to */
	unsigned int depth;
	guint n_waiting; /* calls of the program that have not ended */
} Fuzz;

static GLogWriterOutput on_log(GLogLevelFlags level, const GLogField *fields, gsize n,
			       _unused_ gpointer user_data)
{
	if (!(level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL)))
		return G_LOG_WRITER_HANDLED;
	for (gsize i = 0; i < n; i++)
		if (streq(fields[i].key, "MESSAGE"))
			fprintf(stderr, "%s\n", (const char *)fields[i].value);
	abort();
}

static void settle(void)
{
	while (g_main_context_iteration(NULL, FALSE))
		;
}

/* Messages of the service */

static void set_sender(Fuzz *f, GDBusMessage *m, GVariant *body)
{
	uint8_t choice = input_u8(&f->in);

	if (body)
		g_dbus_message_set_body(m, body);
	g_dbus_message_set_sender(m, choice < 240 ? f->owner : ":1.9");
	f->serial += choice % 16 == 15 ? UINT32_C(0x70000000) : 1U;
	f->serial += f->serial == 0; /* 0 is none */
	g_dbus_message_set_serial(m, f->serial);
}

static GDBusMessage *error_reply(Fuzz *f, GDBusMessage *call)
{
	static const char *const names[] = {
		ERROR "ServiceUnknown",
		ERROR "NameHasNoOwner",
		ERROR "AccessDenied",
		ERROR "Spawn.ChildExited",
		"org.freedesktop.systemd1.NoSuchUnit",
		RDMAD_ERROR_NOT_FOUND,
		RDMAD_ERROR_WAIT_TIMEOUT,
		"org.rdma.Error.Else",
	};
	char text[MESSAGE_TEXT_MAX];
	const char *name = names[input_u8(&f->in) % ARRAY_SIZE(names)];

	return g_dbus_message_new_method_error_literal(call, name, message_text(&f->in, text));
}

/* An answer to CALL: the right one, or another. NULL and an error: none. */
static GDBusMessage *answer(void *userdata, GDBusMessage *call, GError **error)
{
	Fuzz *f = userdata;
	uint8_t choice = input_u8(&f->in) % 16;
	GDBusMessage *reply;

	if (choice == 0) {
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "no answer");
		return NULL;
	}
	if (choice < 3) {
		reply = error_reply(f, call);
		set_sender(f, reply, NULL);
		return reply;
	}
	reply = g_dbus_message_new_method_reply(call);
	if (choice < 5) {
		GVariant *boxed = value_any(&f->in);

		set_sender(f, reply, g_variant_new_tuple(&boxed, 1));
	} else {
		set_sender(f, reply, value_of_answer(&f->in, call));
	}
	return reply;
}

static void answer_call(Fuzz *f, guint i)
{
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;

	if (i >= peer_n_calls())
		return;
	reply = answer(f, peer_call(i), &error);
	peer_answer(i, reply, error);
}

static void send_signal(Fuzz *f, const char *path, const char *interface, const char *member,
			GVariant *body)
{
	g_autoptr(GDBusMessage) m = g_dbus_message_new_signal(path, interface, member);

	set_sender(f, m, body);
	peer_signal(m);
}

static void send_objects_signal(Fuzz *f, uint8_t choice)
{
	static const char manager[] = BUS ".ObjectManager";
	const char *path;

	switch (choice % 3) {
	case 0:
		path = value_path(&f->in);
		send_signal(f, path, BUS ".Properties", "PropertiesChanged", value_changed(&f->in));
		break;
	case 1:
		path = value_path(&f->in);
		send_signal(f, RDMAD_ROOT_PATH, manager, "InterfacesAdded",
			    g_variant_new("(o@a{sa{sv}})", path, value_interfaces(&f->in)));
		break;
	case 2:
		send_signal(f, RDMAD_ROOT_PATH, manager, "InterfacesRemoved",
			    value_removed(&f->in));
		break;
	}
}

/* A signal of a port, and one of those above, with a body of any type or none. */
static void send_odd_signal(Fuzz *f)
{
	static const char *const signals[][2] = {
		{RDMAD_INTERFACE_PORT, "StateChanged"},
		{RDMAD_INTERFACE_PORT, "SubnetReconfigured"},
		{BUS ".Properties", "PropertiesChanged"},
		{BUS ".ObjectManager", "InterfacesAdded"},
		{BUS ".ObjectManager", "InterfacesRemoved"},
		{RDMAD_INTERFACE_PORT, "Sang"},
	};
	static const char *const types[] = {"(sss)",	    "(s)",   "()",   "(sa{sv}as)",
					    "(oa{sa{sv}})", "(oas)", "(ss)", "(v)"};
	const char *path = value_path(&f->in);
	uint8_t signal = input_u8(&f->in) % ARRAY_SIZE(signals);
	const char *type = types[input_u8(&f->in) % ARRAY_SIZE(types)];

	send_signal(f, path, signals[signal][0], signals[signal][1],
		    streq(type, "()") ? NULL : value_of_type(&f->in, G_VARIANT_TYPE(type)));
}

/* Another owner of the name, or none. */
static void change_owner(Fuzz *f)
{
	static const char *const owners[] = {"", ":1.2", ":1.3"};
	const char *owner = owners[input_u8(&f->in) % ARRAY_SIZE(owners)];
	g_autoptr(GDBusMessage) m =
		g_dbus_message_new_signal("/org/freedesktop/DBus", BUS, "NameOwnerChanged");

	g_dbus_message_set_body(m, g_variant_new("(sss)", RDMAD_BUS_NAME, f->owner, owner));
	g_dbus_message_set_sender(m, BUS);
	g_dbus_message_set_serial(m, 1);
	peer_signal(m);
	if (*owner)
		f->owner = owner;
	f->serial = 0;
}

/* The program: what it sees */

static bool has_type_of(RdmadObject *o, const char *attribute, GVariant *v)
{
	gssize row = rdmad_object_find_row(o, attribute);

	return g_variant_is_of_type(
		v, G_VARIANT_TYPE(attr_signature(rdmad_object_get_row(o, (size_t)row)->type)));
}

static void check_attribute(RdmadObject *o, GParamSpec *property)
{
	g_autoptr(GVariant) v = rdmad_object_get_attribute(o, property->name);
	const char *why = rdmad_object_why_unavailable(o, property->name);
	guint64 number = 1;
	gboolean boolean;

	FUZZ_CHECK(rdmad_object_is_available(o, property->name) == (v != NULL));
	FUZZ_CHECK((v == NULL) == (why != NULL));
	FUZZ_CHECK(!v || has_type_of(o, property->name, v));
	if (G_IS_PARAM_SPEC_UINT(property) || G_IS_PARAM_SPEC_UINT64(property))
		FUZZ_CHECK(rdmad_object_get_number(o, property->name, &number) == (v != NULL) &&
			   (v || number == 0));
	else if (G_IS_PARAM_SPEC_BOOLEAN(property))
		FUZZ_CHECK(rdmad_object_get_boolean(o, property->name, &boolean) == (v != NULL));
	else if (G_IS_PARAM_SPEC_STRING(property))
		FUZZ_CHECK((rdmad_object_get_string(o, property->name) != NULL) == (v != NULL));
}

static void check_object(RdmadObject *o)
{
	guint n;
	g_autofree GParamSpec **properties =
		g_object_class_list_properties(G_OBJECT_GET_CLASS(o), &n);

	FUZZ_CHECK(rdmad_object_get_name(o) && *rdmad_object_get_object_path(o) == '/');
	for (guint i = 0; i < n; i++) {
		g_auto(GValue) value = G_VALUE_INIT;

		g_object_get_property(G_OBJECT(o), properties[i]->name, &value);
		if (properties[i]->owner_type != RDMAD_TYPE_OBJECT)
			check_attribute(o, properties[i]);
	}
}

static void check_all(const Fuzz *f)
{
	g_autoptr(GPtrArray) devices = rdmad_client_list_devices(f->client);
	g_autoptr(GPtrArray) ports = rdmad_client_list_ports(f->client);

	for (guint i = 0; i < devices->len; i++) {
		check_object(devices->pdata[i]);
		FUZZ_CHECK(rdmad_object_is_present(devices->pdata[i]));
	}
	for (guint i = 0; i < ports->len; i++) {
		check_object(ports->pdata[i]);
		FUZZ_CHECK(rdmad_object_is_present(ports->pdata[i]));
		(void)rdmad_port_find_device(ports->pdata[i]);
	}
	for (guint i = 0; i < f->kept->len; i++)
		check_object(f->kept->pdata[i]);
}

/* The program: what it does */

/* One of the objects that the client has, or NULL. */
static RdmadObject *choose_object(Fuzz *f)
{
	g_autoptr(GPtrArray) ports = rdmad_client_list_ports(f->client);
	g_autoptr(GPtrArray) devices = rdmad_client_list_devices(f->client);
	guint n = ports->len + devices->len;
	guint i = input_u8(&f->in);

	if (i >= 200 && f->kept->len > 0)
		return g_object_ref(f->kept->pdata[i % f->kept->len]);
	if (n == 0)
		return NULL;
	i %= n;
	return g_object_ref(i < ports->len ? ports->pdata[i] : devices->pdata[i - ports->len]);
}

/* The name of an attribute of O, mostly one whose value has to be loaded, if there is any. */
static const char *choose_attribute(Fuzz *f, RdmadObject *o)
{
	guint n, choice = input_u8(&f->in);
	g_autofree GParamSpec **properties =
		g_object_class_list_properties(G_OBJECT_GET_CLASS(o), &n);
	GParamSpec *p = properties[choice % n];

	for (guint i = 0; i < n && choice >= 64; i++) {
		GParamSpec *q = properties[(choice + i) % n];

		if (q->owner_type != RDMAD_TYPE_OBJECT &&
		    rdmad_object_is_outdated(o, (size_t)rdmad_object_find_row(o, q->name)))
			return q->name;
	}
	return p->owner_type == RDMAD_TYPE_OBJECT ? "unavailable" : p->name;
}

/* A call has ended, with a RESULT or with ERROR, which is freed. */
static void end_call(Fuzz *f, bool result, GError *error)
{
	FUZZ_CHECK(result == (error == NULL));
	g_clear_error(&error);
	f->n_waiting--;
}

/* A load that has not ended. */
typedef struct Load {
	Fuzz *fuzz;
	const char *attribute;
} Load;

static void on_loaded(GObject *object, GAsyncResult *result, gpointer user_data)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	g_autofree Load *load = user_data;
	GError *error = NULL;
	g_autoptr(GVariant) v = rdmad_object_load_finish(o, result, &error);

	FUZZ_CHECK(!v || has_type_of(o, load->attribute, v));
	end_call(load->fuzz, v, error);
}

static void load_later(Fuzz *f, RdmadObject *o)
{
	Load *load = g_new(Load, 1);

	*load = (Load){f, choose_attribute(f, o)};
	rdmad_object_load_async(o, load->attribute, NULL, on_loaded, load);
}

static GVariant *load_now(Fuzz *f, RdmadObject *o, GError **error)
{
	const char *attribute = choose_attribute(f, o);
	GVariant *v = rdmad_object_load_sync(o, attribute, NULL, error);

	FUZZ_CHECK(!v || has_type_of(o, attribute, v));
	return v;
}

static void on_queried(GObject *o, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	g_autoptr(GVariant) v = rdmad_port_query_finish(RDMAD_PORT(o), result, &error);

	end_call(user_data, v, error);
}

static void on_found(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	g_autoptr(RdmadPort) port =
		rdmad_client_find_port_finish(RDMAD_CLIENT(c), result, NULL, &error);

	end_call(user_data, port, error);
}

static void on_refreshed(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	bool done = rdmad_client_refresh_finish(RDMAD_CLIENT(c), result, &error);

	end_call(user_data, done, error);
}

static void on_histories(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	g_autoptr(GPtrArray) histories =
		rdmad_client_list_histories_finish(RDMAD_CLIENT(c), result, &error);

	end_call(user_data, histories, error);
}

static void on_waited(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	g_autoptr(GHashTable) ports = rdmad_client_wait_for_finish(RDMAD_CLIENT(c), result, &error);

	end_call(user_data, ports, error);
}

static void on_gid(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	g_autoptr(RdmadGid) gid = rdmad_client_find_gid_finish(RDMAD_CLIENT(c), result, &error);

	end_call(user_data, gid, error);
}

static void on_all_loaded(GObject *c, GAsyncResult *result, gpointer user_data)
{
	GError *error = NULL;
	bool done = rdmad_client_load_all_finish(RDMAD_CLIENT(c), result, &error);

	end_call(user_data, done, error);
}

static void call_manager_later(Fuzz *f, uint8_t choice)
{
	switch (choice % 6) {
	case 0:
		rdmad_client_refresh_async(f->client, NULL, on_refreshed, f);
		break;
	case 1:
		rdmad_client_load_all_async(f->client, NULL, on_all_loaded, f);
		break;
	case 4:
		rdmad_client_find_gid_async(f->client, NULL, "192.168.1.17", NULL,
					    RDMAD_GID_TYPE_ANY, NULL, on_gid, f);
		break;
	case 5:
		rdmad_client_find_gid_async(f->client, NULL, NULL, "ens1", RDMAD_GID_TYPE_ROCE_V2,
					    NULL, on_gid, f);
		break;
	case 2:
		rdmad_client_list_histories_async(f->client, NULL, NULL, on_histories, f);
		break;
	case 3:
		rdmad_client_wait_for_async(f->client,
					    g_variant_new_parsed("{'ports': <['mlx5_0']>}"), -1,
					    NULL, on_waited, f);
		break;
	}
}

static void call_later(Fuzz *f, RdmadObject *o, uint8_t choice)
{
	f->n_waiting++;
	switch (choice % 4) {
	case 0:
		call_manager_later(f, choice / 4);
		break;
	case 1:
		rdmad_client_find_port_async(f->client,
					     (RdmadLookup)(choice / 4 % (RDMAD_LOOKUP_GID + 1)),
					     "mlx5_0/1", NULL, on_found, f);
		break;
	case 2:
		if (o && RDMAD_IS_PORT(o))
			rdmad_port_query_async(RDMAD_PORT(o), 0, NULL, on_queried, f);
		else
			f->n_waiting--;
		break;
	case 3:
		if (o)
			load_later(f, o);
		else
			f->n_waiting--;
		break;
	}
}

static bool query_now(RdmadPort *port, uint8_t choice, GError **error)
{
	g_autoptr(GPtrArray) entries = NULL;
	g_autoptr(GVariant) v = NULL;

	switch (choice % 3) {
	case 0:
		entries = rdmad_port_get_history_sync(port, NULL, error);
		return entries;
	case 1:
		v = rdmad_object_load_all_sync(RDMAD_OBJECT(port), NULL, error);
		return v;
	default:
		v = rdmad_port_query_sync(port, 0, NULL, error);
		return v;
	}
}

static bool call_manager_now(Fuzz *f, uint8_t choice, GError **error)
{
	g_autoptr(GPtrArray) counters = NULL;
	g_autoptr(RdmadGid) gid = NULL;

	switch (choice % 4) {
	case 0:
		return rdmad_client_refresh_sync(f->client, NULL, error);
	case 1:
		return rdmad_client_load_all_sync(f->client, NULL, error);
	case 2:
		counters = rdmad_client_get_counters_sync(f->client, NULL, NULL, error);
		return counters;
	default:
		gid = rdmad_client_find_gid_sync(f->client, NULL, "fe80::1", NULL,
						 RDMAD_GID_TYPE_ANY, NULL, error);
		return gid;
	}
}

static void call_now(Fuzz *f, RdmadObject *o, uint8_t choice)
{
	g_autoptr(RdmadPort) port = NULL;
	g_autoptr(GVariant) v = NULL;
	GError *error = NULL;
	bool result = false;

	f->n_waiting++;
	switch (choice % 4) {
	case 0:
		result = call_manager_now(f, choice / 4, &error);
		break;
	case 1:
		port = rdmad_client_find_port_sync(
			f->client, (RdmadLookup)(choice / 4 % (RDMAD_LOOKUP_GID + 1)), "mlx5_0/1",
			NULL, NULL, &error);
		result = port;
		break;
	case 2:
		if (!o || !RDMAD_IS_PORT(o)) {
			f->n_waiting--;
			return;
		}
		result = query_now(RDMAD_PORT(o), choice / 4, &error);
		break;
	case 3:
		if (!o) {
			f->n_waiting--;
			return;
		}
		v = load_now(f, o, &error);
		result = v;
		break;
	}
	end_call(f, result, error);
}

static void use(Fuzz *f)
{
	uint8_t choice = input_u8(&f->in);
	g_autoptr(RdmadObject) o = NULL;
	/* a handler may run the program's next step, which frees it */
	g_autoptr(RdmadClient) keep = g_object_ref(f->client);

	o = choose_object(f);
	if (choice < 100)
		call_later(f, o, choice);
	else if (choice < 200)
		call_now(f, o, choice);
	else if (o)
		g_ptr_array_add(f->kept, g_object_ref(o));
	(void)rdmad_client_get_port(keep, "mlx5_0");
}

static void on_notify(_unused_ GObject *o, _unused_ GParamSpec *p, gpointer user_data)
{
	Fuzz *f = user_data;

	if (f->depth >= DEPTH_MAX || !f->client || input_u8(&f->in) % 4 != 1)
		return;
	f->depth++;
	use(f);
	f->depth--;
}

static void on_changed(_unused_ RdmadClient *c, GPtrArray *changes, gpointer user_data)
{
	Fuzz *f = user_data;

	for (guint i = 0; i < changes->len; i++) {
		const RdmadChange *change = changes->pdata[i];

		FUZZ_CHECK(RDMAD_IS_OBJECT(change->object) && change->properties);
		FUZZ_CHECK(rdmad_object_is_present(change->object) ||
			   change->kind != RDMAD_CHANGE_CHANGED);
		check_object(change->object);
	}
	on_notify(NULL, NULL, f);
}

static void listen_to(Fuzz *f)
{
	g_autoptr(RdmadObject) o = choose_object(f);

	if (!o)
		return;
	g_signal_handlers_disconnect_by_data(o, f);
	if (input_u8(&f->in) % 4 > 0) {
		g_signal_connect(o, "notify", G_CALLBACK(on_notify), f);
		g_ptr_array_add(f->kept, g_object_ref(o));
	}
}

/* The client */

static void on_started(GObject *c, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GError) error = NULL;
	Fuzz *f = user_data;

	f->started = g_async_initable_init_finish(G_ASYNC_INITABLE(c), result, &error);
	FUZZ_CHECK(f->started == (error == NULL));
	f->n_waiting--;
}

static void start(Fuzz *f)
{
	f->client = g_object_new(RDMAD_TYPE_CLIENT, "connection", peer_connection(), NULL);
	g_signal_connect(f->client, "changed", G_CALLBACK(on_changed), f);
	f->n_waiting++;
	g_async_initable_init_async(G_ASYNC_INITABLE(f->client), 0, NULL, on_started, f);
}

/* Two rules for signals, and all objects. */
static void answer_start(Fuzz *f)
{
	for (unsigned int i = 0; i < 3; i++) {
		settle();
		answer_call(f, 0);
	}
	settle();
}

static void stop(Fuzz *f)
{
	g_clear_object(&f->client);
	f->started = false;
	while (peer_n_calls() > 0) {
		peer_answer(0, NULL, g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CLOSED, "end"));
		settle();
	}
	settle();
	for (guint i = 0; i < f->kept->len; i++) {
		g_signal_handlers_disconnect_by_data(f->kept->pdata[i], f);
		check_object(f->kept->pdata[i]);
	}
	g_ptr_array_set_size(f->kept, 0);
	FUZZ_CHECK(f->n_waiting == 0);
	peer_reset();
}

static void step(Fuzz *f)
{
	uint8_t choice = input_u8(&f->in) % 16;

	switch (choice) {
	case 0:
	case 1:
		settle();
		break;
	case 2:
	case 3:
		answer_call(f, 0);
		break;
	case 4:
		answer_call(f, input_u8(&f->in));
		break;
	case 5:
		change_owner(f);
		break;
	case 6:
		send_odd_signal(f);
		break;
	case 7:
	case 8:
		use(f);
		break;
	case 9:
		listen_to(f);
		break;
	case 10:
		if (input_u8(&f->in) == UINT8_MAX)
			peer_close();
		break;
	case 11:
		check_all(f);
		break;
	default:
		send_objects_signal(f, choice);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_set_up;
	Fuzz f = {.in = {data, size}, .owner = ":1.2"};

	if (!is_set_up)
		g_log_set_writer_func(on_log, NULL, NULL);
	is_set_up = true;
	peer_set_answer(answer, &f);
	f.kept = g_ptr_array_new_with_free_func(g_object_unref);
	start(&f);
	answer_start(&f);
	for (unsigned int n = 0; n < STEPS_MAX && f.in.left > 0; n++)
		step(&f);
	settle();
	check_all(&f);
	stop(&f);
	g_ptr_array_unref(f.kept);
	return 0;
}
