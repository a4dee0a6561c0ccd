/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The name of the GObject property for the row NAME: "max-mtu" for "MaxMtu". To be freed with
 * g_free(). */
char *property_name(const char *name);
