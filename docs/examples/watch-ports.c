/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints the RDMA ports, waits until what it has printed of one changes, and prints that one again.
 *
 * It needs no library of rdmad, only GLib and what gdbus-codegen makes of the XML of the
 * interfaces. Each value that is not known has the code of why.
 *
 *   gdbus-codegen --generate-c-code rdma-dbus --c-namespace Rdma --interface-prefix org.rdma. \
 *           --c-generate-object-manager --c-generate-autocleanup all \
 *           /usr/share/dbus-1/interfaces/org.rdma.*.xml
 *   cc watch-ports.c rdma-dbus.c $(pkg-config --cflags --libs gio-unix-2.0) -o watch-ports
 */

#include <stdio.h>

#include "rdma-dbus.h"

/* The value NUMBER of the property NAME; or why there is none. What the property itself reads as
 * then is no value. */
static char *text(RdmaPort *port, const char *name, guint number)
{
	const char *code;

	if (g_variant_lookup(rdma_port_get_unavailable(port), name, "&s", &code))
		return g_strdup_printf("- (%s)", code);
	return g_strdup_printf("%u", number);
}

/* To be freed. */
static char *describe(RdmaObject *object)
{
	RdmaPort *port = rdma_object_peek_port(object);
	RdmaPortInfiniBand *ib = rdma_object_peek_port_infini_band(object);
	/* without the interface: ports of this kind do not have it */
	g_autofree char *lid = ib ? text(port, "Lid", rdma_port_infini_band_get_lid(ib)) : NULL;
	g_autofree char *lmc = ib ? text(port, "Lmc", rdma_port_infini_band_get_lmc(ib)) : NULL;

	return g_strdup_printf("%s/%u: %s, LID %s, LMC %s", rdma_port_get_device_name(port),
			       rdma_port_get_port_number(port), rdma_port_get_state(port),
			       lid ? lid : "-", lmc ? lmc : "-");
}

/* Prints a port, and keeps what it has printed. */
static void print_port(const char *prefix, RdmaObject *object)
{
	char *line = describe(object);

	g_print("%s%s\n", prefix, line);
	g_object_set_data_full(G_OBJECT(object), "line", line, g_free);
}

static void on_changed(GDBusObjectManagerClient *manager, GDBusObjectProxy *proxy,
		       GDBusProxy *interface, GVariant *changed, const char *const *invalidated,
		       GMainLoop *loop)
{
	RdmaObject *object = RDMA_OBJECT(proxy);
	g_autofree char *line = NULL;

	(void)manager;
	(void)interface;
	(void)changed;
	(void)invalidated;
	if (!g_main_loop_is_running(loop) || !rdma_object_peek_port(object))
		return;
	line = describe(object);
	if (g_strcmp0(line, g_object_get_data(G_OBJECT(object), "line")) == 0)
		return;
	print_port("changed: ", object);
	g_main_loop_quit(loop);
}

/* By device index and port number. */
static int compare(const void *a, const void *b)
{
	unsigned int x[2] = {0, 0}, y[2] = {0, 0};
	const char *format = "/org/rdma/device/%u/port/%u";

	sscanf(g_dbus_object_get_object_path(G_DBUS_OBJECT((gpointer)a)), format, &x[0], &x[1]);
	sscanf(g_dbus_object_get_object_path(G_DBUS_OBJECT((gpointer)b)), format, &y[0], &y[1]);
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

int main(void)
{
	g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
	g_autoptr(GDBusObjectManager) manager = NULL;
	g_autofree char *owner = NULL;
	g_autoptr(GError) error = NULL;
	GList *objects;

	/* It asks for the signals first and reads the objects then: no change is missed. */
	manager = rdma_object_manager_client_new_for_bus_sync(
		G_BUS_TYPE_SYSTEM, G_DBUS_OBJECT_MANAGER_CLIENT_FLAGS_NONE, "org.rdma", "/org/rdma",
		NULL, &error);
	if (!manager) {
		g_printerr("watch-ports: %s\n", error->message);
		return 1;
	}
	owner = g_dbus_object_manager_client_get_name_owner(G_DBUS_OBJECT_MANAGER_CLIENT(manager));
	if (!owner) {
		g_printerr("watch-ports: rdmad is not running\n");
		return 1;
	}
	objects = g_list_sort(g_dbus_object_manager_get_objects(manager), compare);
	for (GList *l = objects; l; l = l->next)
		if (rdma_object_peek_port(l->data))
			print_port("", l->data);
	g_list_free_full(objects, g_object_unref);
	g_signal_connect(manager, "interface-proxy-properties-changed", G_CALLBACK(on_changed),
			 loop);
	g_main_loop_run(loop);
	return 0;
}
