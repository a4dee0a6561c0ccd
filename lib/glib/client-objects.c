/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "client-objects.h"

#include "client-private.h"
#include "object-private.h"

/* Where the object at PLACE is, or where it belongs. */
static guint find_place(const GPtrArray *objects, Place place)
{
	return (guint)array_place(objects->len, i,
				  place_compare(rdmad_object_get_place(objects->pdata[i]), place) <
					  0);
}

RdmadObject *client_get_object(RdmadClient *c, Place place)
{
	guint i = find_place(c->objects, place);

	if (i < c->objects->len &&
	    place_compare(rdmad_object_get_place(c->objects->pdata[i]), place) == 0)
		return c->objects->pdata[i];
	return NULL;
}

typedef enum Kind {
	KIND_DEVICE,
	KIND_PORT,
} Kind;

static gboolean is_of_kind(RdmadObject *o, Kind kind)
{
	return (rdmad_object_get_place(o).port == 0) == (kind == KIND_DEVICE);
}

/* The object of KIND that is called NAME or is at that path. */
static RdmadObject *find(RdmadClient *c, Kind kind, const char *name)
{
	for (guint i = 0; i < c->objects->len; i++) {
		RdmadObject *o = c->objects->pdata[i];

		if (is_of_kind(o, kind) && (streq(rdmad_object_get_name(o), name) ||
					    streq(rdmad_object_get_object_path(o), name)))
			return o;
	}
	return NULL;
}

RdmadObject *client_find_device(RdmadClient *c, const char *name)
{
	return find(c, KIND_DEVICE, name);
}

/* "mlx5_0:1" is "mlx5_0/1". */
static RdmadObject *find_colon(RdmadClient *c, const char *name)
{
	g_autofree char *slash = g_strdup(name);
	char *colon = strrchr(slash, ':');

	if (!colon)
		return NULL;
	*colon = '/';
	return find(c, KIND_PORT, slash);
}

RdmadObject *client_find_port(RdmadClient *c, const char *name)
{
	g_autoptr(GPtrArray) ports = NULL;
	RdmadObject *o = find(c, KIND_PORT, name);

	if (o)
		return o;
	if (name[0] == '/')
		return NULL;
	o = find_colon(c, name);
	if (o)
		return o;
	o = find(c, KIND_DEVICE, name);
	if (!o)
		return NULL;
	ports = client_list_ports_of(c, rdmad_object_get_place(o).index);
	return ports->len == 1 ? ports->pdata[0] : NULL;
}

/* The objects of KIND; of the device INDEX only if that is not NULL. */
static GPtrArray *list(RdmadClient *c, Kind kind, const guint32 *index)
{
	GPtrArray *objects = g_ptr_array_new_with_free_func(g_object_unref);

	for (guint i = 0; i < c->objects->len; i++) {
		RdmadObject *o = c->objects->pdata[i];

		if (is_of_kind(o, kind) && (!index || rdmad_object_get_place(o).index == *index))
			g_ptr_array_add(objects, g_object_ref(o));
	}
	return objects;
}

GPtrArray *client_list_devices(RdmadClient *c)
{
	return list(c, KIND_DEVICE, NULL);
}

GPtrArray *client_list_ports(RdmadClient *c)
{
	return list(c, KIND_PORT, NULL);
}

GPtrArray *client_list_ports_of(RdmadClient *c, guint32 index)
{
	return list(c, KIND_PORT, &index);
}

void client_add_object(RdmadClient *c, RdmadObject *o)
{
	g_ptr_array_insert(c->objects, (int)find_place(c->objects, rdmad_object_get_place(o)),
			   g_object_ref(o));
}

void client_remove_object(RdmadClient *c, RdmadObject *o)
{
	g_ptr_array_remove_index(c->objects, find_place(c->objects, rdmad_object_get_place(o)));
}
