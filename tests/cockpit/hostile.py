#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hostile.py TEXT: takes the place of rdmad, with one port that has TEXT wherever a port can have a text."""

import sys

from gi.repository import Gio, GLib

TEXT = sys.argv[1]
PATH = "/org/rdma/device/0/port/1"
XML = """
<node>
 <interface name="org.freedesktop.DBus.ObjectManager">
  <method name="GetManagedObjects"><arg type="a{oa{sa{sv}}}" direction="out"/></method>
 </interface>
 <interface name="org.rdma.Manager">
  <property name="Version" type="s" access="read"/>
  <method name="GetHistory"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="a(ttsssa{sv})" direction="out"/></method>
 </interface>
</node>"""


def text(value):
    return GLib.Variant("s", value)


def port():
    properties = {name: text(TEXT) for name in ("DeviceName", "State", "PhysicalState", "LinkSpeed", "LastError", "Protocol")}
    properties |= {"PortNumber": GLib.Variant("u", 1), "Stale": GLib.Variant("b", True), "Rate": GLib.Variant("t", 0),
                   "Device": GLib.Variant("o", "/org/rdma/device/0"),
                   "Capabilities": GLib.Variant("as", [TEXT, TEXT]),
                   "Gids": GLib.Variant("a(ussssa{sv})", [(0, TEXT, TEXT, TEXT, TEXT, {"Namespace": text(TEXT)})]),
                   "Unavailable": GLib.Variant("a{ss}", {"Rate": TEXT, TEXT: TEXT})}
    return {PATH: {"org.rdma.Port": properties}}


def call(_connection, _sender, _path, _interface, method, _arguments, invocation):
    if method == "GetManagedObjects":
        invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (port(),)))
    else:
        invocation.return_value(GLib.Variant("(a(ttsssa{sv}))", ([(1, 1, TEXT, TEXT, TEXT, {})],)))


connection = Gio.bus_get_sync(Gio.BusType.SYSTEM, None)
for interface in Gio.DBusNodeInfo.new_for_xml(XML).interfaces:
    connection.register_object("/org/rdma", interface, call, lambda *_: text(TEXT), None)
Gio.bus_own_name_on_connection(connection, "org.rdma", Gio.BusNameOwnerFlags.NONE, None, None)
GLib.MainLoop().run()
