/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "client-objects.h"
#include "compat-glib.h"
#include "object-private.h"

struct _RdmadDevice {
	RdmadObject parent_instance;
};

G_DEFINE_FINAL_TYPE(RdmadDevice, rdmad_device, RDMAD_TYPE_OBJECT)

static void rdmad_device_class_init(RdmadDeviceClass *class)
{
	rdmad_object_class_install(RDMAD_OBJECT_CLASS(class), INTERFACE_DEVICE, device_attributes,
				   _DEVICE_ATTR_MAX);
}

static void rdmad_device_init(_unused_ RdmadDevice *self)
{
}

GPtrArray *rdmad_device_list_ports(RdmadDevice *self)
{
	RdmadClient *client;

	g_return_val_if_fail(RDMAD_IS_DEVICE(self), NULL);
	client = rdmad_object_get_client(RDMAD_OBJECT(self));
	if (!client)
		return g_ptr_array_new_with_free_func(g_object_unref);
	return client_list_ports_of(client, rdmad_object_get_place(RDMAD_OBJECT(self)).index);
}
