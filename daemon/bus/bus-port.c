/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.rdma.Port: its methods. The properties are rows, bus-property.c. */

#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "bus-users.h"
#include "log.h"

static void check_reply(int r, const char *what)
{
	if (r < 0)
		log_debug_errno(r, "Cannot answer %s, ignoring: %m", what);
}

/* The call was not kept: the hardware was not even asked. */
static int reply_refused(sd_bus_message *m, const Port *p, int error)
{
	bus_reply_error(m, error,
			error == -ETIMEDOUT ? TEXT_OF(&p->now.values, last_error)
					    : strerror(-error));
	return 1;
}

/* Query() */

static int append_row(sd_bus_message *reply, const Attribute *row, const PortValues *values)
{
	const char *signature = attr_raw_signature(row->type);
	BusWriter w = {.message = reply};

	if (attr_is_list(row->type)) {
		bus_writer_open_property(&w, row->field, signature);
		bus_put_list(&w, row->type, attr_get_text(row, values));
		bus_writer_close_property(&w);
		return bus_writer_error(&w);
	}
	if (signature[0] == 's')
		return sd_bus_message_append(reply, "{sv}", row->field, "s",
					     attr_get_text(row, values));
	if (signature[0] == 't')
		return sd_bus_message_append(reply, "{sv}", row->field, "t",
					     attr_get_raw(row, values));
	return sd_bus_message_append(reply, "{sv}", row->field, signature,
				     (uint32_t)attr_get_raw(row, values));
}

/* The rows that were supplied, as the C fields that they are. */
static int reply_query(sd_bus_message *call, const Port *p)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{sv}");
	for (PortAttr a = 0; r >= 0 && a < _PORT_ATTR_MAX; a++)
		if (mask_has(&p->now.supplied, a) && port_attributes[a].size > 0)
			r = append_row(reply, &port_attributes[a], &p->now.values);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_query(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Port *p = userdata;
	Bus *b = bus_current(m);
	uint64_t max_age = 0;
	const BusOption options[] = {{"max-age-usec", 't', &max_age}};
	PendingList *list;
	int r = bus_read_options(m, "Query", options, ARRAY_SIZE(options), error);

	if (r < 0)
		return r;
	r = b->handler->query(b->userdata, p, max_age, &list);
	if (r < 0)
		return reply_refused(m, p, r);
	return r == 0 ? reply_query(m, p) : bus_keep_call(b, m, list, p->number, error);
}

void bus_answer_queries(PendingList *list, uint32_t port, const Port *p, int error,
			const char *text)
{
	PendingCall *c;

	while ((c = pending_list_find(list, port))) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(c);

		if (call && error < 0)
			bus_reply_error(call, error, text);
		else if (call)
			check_reply(reply_query(call, p), "a query");
		pending_call_free(c);
	}
}

static int method_get_history(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error)
{
	return long_reply_answer(bus_current(m)->long_replies, m, LONG_REPLY_PORT_HISTORY, error);
}

/* clang-format off */
const sd_bus_vtable bus_port_members[] = {
	SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("a{sv}", fields),
				method_query, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetHistory", "a{sv}", SD_BUS_PARAM(options), transition_table_signature,
				 SD_BUS_PARAM(transitions), method_get_history, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetUsers", "a{sv}", SD_BUS_PARAM(options), bus_users_signature,
				 SD_BUS_PARAM(users) SD_BUS_PARAM(counts), bus_get_users, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Acknowledge", SD_BUS_ARGS("s", check, "a{sv}", options), SD_BUS_NO_RESULT,
				bus_acknowledge, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("StateChanged", SD_BUS_ARGS("s", new, "s", old, "s", reason), 0),
	SD_BUS_SIGNAL_WITH_ARGS("SubnetReconfigured", SD_BUS_ARGS("s", reason), 0),
};
/* clang-format on */
const size_t bus_n_port_members = ARRAY_SIZE(bus_port_members);
