#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""launch-job.py COMMAND [ARGUMENT]...: runs COMMAND, and gives it the shared memory of rdmad.

COMMAND can be one that starts a container: what runs in it needs no bus, no socket and no device to see the ports. The environment
variable RDMAD_SNAPSHOT names the two descriptors, which job-ports.c hands to rdmad_open_fd(). bubblewrap leaves them open; systemd-nspawn
closes them. The memory is read-only, and nobody can write it through this descriptor.
"""

import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
    _, files = bus.call_with_unix_fd_list_sync("org.rdma", "/org/rdma", "org.rdma.Manager", "OpenSnapshot",
                                               GLib.Variant("(a{sv})", ({},)), None, Gio.DBusCallFlags.NONE, -1, None, None)
    descriptors = [os.dup(descriptor) for descriptor in files.peek_fds()]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.environ["RDMAD_SNAPSHOT"] = ",".join(map(str, descriptors))
    os.execvp(sys.argv[1], sys.argv[1:])


try:
    main()
except GLib.Error as error:
    sys.exit(f"{sys.argv[0]}: {error.message}")
except OSError as error:
    sys.exit(f"{sys.argv[0]}: {sys.argv[1]}: {error.strerror}")
