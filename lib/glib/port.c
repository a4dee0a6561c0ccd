/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "client-objects.h"
#include "compat-glib.h"
#include "object-private.h"

struct _RdmadPort {
	RdmadObject parent_instance;
};

G_DEFINE_FINAL_TYPE(RdmadPort, rdmad_port, RDMAD_TYPE_OBJECT)

static void rdmad_port_class_init(RdmadPortClass *class)
{
	rdmad_object_class_install(RDMAD_OBJECT_CLASS(class), INTERFACE_PORT, port_attributes,
				   _PORT_ATTR_MAX);

	/**
	 * RdmadPort::state-changed:
	 * @self: the port
	 * @state: the new state
	 * @old_state: the state before
	 * @reason: why the daemon has looked at the port, such as `port-active`
	 *
	 * The daemon has seen that the state has changed. There is one signal for each change, even
	 * if the next change comes before the properties could show this one.
	 */
	g_signal_new("state-changed", RDMAD_TYPE_PORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 3, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING);
	/**
	 * RdmadPort::subnet-reconfigured:
	 * @self: the port
	 * @reason: why the daemon has looked at the port, such as `sm-change`
	 *
	 * The subnet manager has changed the port's configuration.
	 */
	g_signal_new("subnet-reconfigured", RDMAD_TYPE_PORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void rdmad_port_init(_unused_ RdmadPort *self)
{
}

RdmadDevice *rdmad_port_find_device(RdmadPort *self)
{
	RdmadClient *client;
	Place place;

	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	client = rdmad_object_get_client(RDMAD_OBJECT(self));
	place = rdmad_object_get_place(RDMAD_OBJECT(self));
	place.port = 0;
	return client ? (RdmadDevice *)client_get_object(client, place) : NULL;
}
