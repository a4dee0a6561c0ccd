#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""watch-ports.py: prints the RDMA ports, waits until what it has printed of one changes, and prints that one again.

It needs no library of rdmad, only dasbus (Debian: python3-dasbus). Each value that is not known has the code of why.
"""

import sys

from dasbus.connection import SystemMessageBus
from dasbus.error import DBusError
from dasbus.loop import EventLoop
from dasbus.typing import get_native

PORT = "org.rdma.Port"
INFINIBAND = "org.rdma.Port.InfiniBand"


def text(port, interface, name):
    """The value; or why there is none. What the property itself reads as then is no value."""
    if name not in port.get(interface, {}):
        return "-"  # ports of this kind do not have it
    code = port[PORT]["Unavailable"].get(name)
    return f"- ({code})" if code else str(port[interface][name])


def describe(port):
    name = f"{port[PORT]['DeviceName']}/{port[PORT]['PortNumber']}"
    return (f"{name}: {text(port, PORT, 'State')}, LID {text(port, INFINIBAND, 'Lid')}, "
            f"LMC {text(port, INFINIBAND, 'Lmc')}")


def sort_key(path):
    return [int(part) if part.isdigit() else part for part in path.split("/")]


def main():
    bus = SystemMessageBus()
    loop = EventLoop()
    objects = {}

    def on_changed(_connection, _sender, path, _interface, _member, parameters):
        interface, changed, _invalidated = get_native(parameters)
        if PORT not in objects.get(path, {}) or interface not in objects[path]:
            return
        before = describe(objects[path])
        objects[path][interface].update(changed)
        if describe(objects[path]) != before:
            print(f"changed: {describe(objects[path])}", flush=True)
            loop.quit()

    # One rule for all ports, and before they are read: then no change is missed.
    bus.connection.signal_subscribe("org.rdma", "org.freedesktop.DBus.Properties", "PropertiesChanged", None, None, 0, on_changed)
    manager = bus.get_proxy("org.rdma", "/org/rdma", interface_name="org.freedesktop.DBus.ObjectManager")
    objects.update(get_native(manager.GetManagedObjects()))
    for path in sorted(objects, key=sort_key):
        if PORT in objects[path]:
            print(describe(objects[path]), flush=True)
    loop.run()


try:
    main()
except DBusError as error:
    sys.exit(f"{sys.argv[0]}: {error}")
