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
  <method name="ListHistories"><arg type="a{sv}" direction="in"/><arg type="a(sa{sv})" direction="out"/></method>
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
    finding = (TEXT, TEXT, TEXT, {"Since": GLib.Variant("t", 1), "Acknowledged": GLib.Variant("t", 1), "AcknowledgedText": text(TEXT)})
    properties["Findings"] = GLib.Variant("a(sssa{sv})", [finding])
    device = {name: text(TEXT) for name in ("Name", "HcaType", "Driver", "PciAddress", "FirmwareVersion")}
    neighbor = {name: text(TEXT) for name in ("Neighbor", "NeighborPort")}
    return {PATH: {"org.rdma.Port": properties, "org.rdma.Port.Neighbor": neighbor, "org.rdma.Port.Ethernet": {"Netdev": text(TEXT)}},
            "/org/rdma/device/0": {"org.rdma.Device": device}}


def call(_connection, _sender, _path, _interface, method, _arguments, invocation):
    if method == "GetManagedObjects":
        invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (port(),)))
    else:
        history = {"Transitions": GLib.Variant("a(ttsssa{sv})", [(1, 1, TEXT, TEXT, TEXT, {})]),
                   "Findings": GLib.Variant("a(sstta{sv})", [(TEXT, TEXT, 1, 0, {"AcknowledgedText": text(TEXT), "Cause": text(TEXT)})]),
                   "Cables": GLib.Variant("a(stta{sv})", [(TEXT, 1, 0, {"PartNumber": text(TEXT)})])}
        invocation.return_value(GLib.Variant("(a(sa{sv}))", ([(TEXT, history)],)))


connection = Gio.bus_get_sync(Gio.BusType.SYSTEM, None)
for interface in Gio.DBusNodeInfo.new_for_xml(XML).interfaces:
    connection.register_object("/org/rdma", interface, call, lambda *_: text(TEXT), None)
Gio.bus_own_name_on_connection(connection, "org.rdma", Gio.BusNameOwnerFlags.NONE, None, None)
GLib.MainLoop().run()
