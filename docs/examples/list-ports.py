#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the attributes of RDMA ports, or the reason why there is no value."""

import argparse
import sys

import gi

gi.require_version("Rdmad", "1.0")
from gi.repository import Gio, GLib, Rdmad


def text(port, attribute, convert=str):
    """The value as text, or the reason why there is none. (The property would be 0 then.)"""
    value = port.get_attribute(attribute)
    return convert(value.unpack()) if value is not None else f"- ({port.why_unavailable(attribute)})"


def show(port):
    print(f"{port.get_name()}: {text(port, 'state')}, {text(port, 'protocol')}")
    print(f"    rate    {text(port, 'rate', lambda bits: f'{bits / 1e9:g} Gbit/s')}")
    print(f"    MTU     {text(port, 'active-mtu')}")
    print(f"    LID     {text(port, 'lid')}")
    print(f"    LMC     {text(port, 'lmc')}")
    print(f"    netdev  {text(port, 'netdev')}")


def connect(bus):
    """A client on the bus "system" or "session", or on the one with this D-Bus address."""
    kinds = {"system": Gio.BusType.SYSTEM, "session": Gio.BusType.SESSION}
    client = Rdmad.Client(bus_address=Gio.dbus_address_get_for_bus_sync(kinds[bus], None) if bus in kinds else bus)
    client.init(None)
    return client


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bus", default="system", metavar="session|system|ADDRESS", help="the bus that rdmad is on")
    parser.add_argument("port", nargs="*", help="any name of it: mlx5_0/1, a network interface, an address, a GUID")
    arguments = parser.parse_args()
    client = connect(arguments.bus)
    if not client.get_connected():
        sys.exit("rdmad is not running")
    ports = client.list_ports()
    if arguments.port:
        ports = [client.find_port_sync(Rdmad.Lookup.ANY, name, None)[0] for name in arguments.port]
    for port in ports:
        show(port)


try:
    main()
except GLib.Error as error:
    sys.exit(f"{sys.argv[0]}: {error.message}")
