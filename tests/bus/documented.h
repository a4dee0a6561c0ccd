/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Adds the documentation to what the daemon says of an interface: an annotation
 * org.gtk.GDBus.DocString for the interface, and for each property, method, signal and argument.
 * The daemon itself answers Introspect() without it, which is shorter.
 *
 * XML is the element <interface>, as sd-bus writes it: each element begins in a line of its own.
 * The test fails if something has no row in members.def or in the attribute tables. To be freed.
 */
char *documented(const char *xml);
