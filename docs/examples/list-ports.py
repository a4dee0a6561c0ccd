#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""list-ports.py [PORT...]: prints the attributes of RDMA ports, or the reason why there is no value."""

import sys

import gi

gi.require_version("Rdmad", "1.0")
from gi.repository import GLib, Rdmad


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


def main():
    client = Rdmad.Client.new_sync(None)
    if not client.get_connected():
        sys.exit("rdmad is not running")
    ports = client.list_ports()
    if len(sys.argv) > 1:
        # any name: mlx5_0/1, a network interface, a GUID
        ports = [client.find_port_sync(Rdmad.Lookup.ANY, name, None)[0] for name in sys.argv[1:]]
    for port in ports:
        show(port)


try:
    main()
except GLib.Error as error:
    sys.exit(f"{sys.argv[0]}: {error.message}")
