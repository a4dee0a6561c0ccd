#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints one line for each change of an RDMA port, until it is interrupted.

It continues when rdmad or the bus ends and is started again. It then prints what is different from before. Between the
lines "rdmad is gone" and "rdmad is there" it sees nothing: what has changed and changed back there, it cannot tell.
"""

import argparse
import signal
import sys

import gi

gi.require_version("Rdmad", "1.0")
from gi.repository import Gio, GLib, Rdmad


def on_changed(client, changes):
    """All changes that the daemon has found at one time. The objects already have the new values."""
    for change in changes:
        if change.kind == Rdmad.ChangeKind.CHANGED:
            what = ", ".join(describe(change.object, name) for name in change.properties)
        else:
            what = "added" if change.kind == Rdmad.ChangeKind.ADDED else "removed"
        print(f"{change.object.get_name()}: {what}", flush=True)


def describe(port, name):
    value = port.get_attribute(name)
    return f"{name} {value.unpack()}" if value is not None else f"{name} - ({port.why_unavailable(name)})"


def on_connected(client, _property):
    print("rdmad is there" if client.get_connected() else "rdmad is gone: changes are not seen", flush=True)


def on_state_changed(port, state, old_state, reason):
    """One change of the state. These signals also tell of states that the properties never showed."""
    print(f"{port.get_name()}: {old_state} -> {state} ({reason})", flush=True)


def on_port_added(client, port):
    port.connect("state-changed", on_state_changed)


def connect(bus):
    """A client on the bus "system" or "session", or on the one with this D-Bus address."""
    kinds = {"system": Gio.BusType.SYSTEM, "session": Gio.BusType.SESSION}
    client = Rdmad.Client(bus_address=Gio.dbus_address_get_for_bus_sync(kinds[bus], None) if bus in kinds else bus)
    client.init(None)
    return client


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bus", default="system", metavar="session|system|ADDRESS", help="the bus that rdmad is on")
    client = connect(parser.parse_args().bus)
    loop = GLib.MainLoop()
    client.connect("changed", on_changed)
    client.connect("notify::connected", on_connected)
    client.connect("port-added", on_port_added)
    for port in client.list_ports():
        on_port_added(client, port)
    on_connected(client, None)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, loop.quit)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, loop.quit)
    loop.run()


try:
    main()
except GLib.Error as error:
    sys.exit(f"{sys.argv[0]}: {error.message}")
