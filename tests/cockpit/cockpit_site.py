# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated machine with Cockpit: a bus, rdmad on a scenario, and cockpit-ws with the page of this tree."""

import glob
import json
import os
import socket
import subprocess
import tempfile
import time

from gi.repository import Gio, GLib

WAIT = 60  # seconds, for anything that has to happen
COCKPIT_WS = ("/usr/lib/cockpit/cockpit-ws", "/usr/libexec/cockpit-ws")


def find_cockpit_ws():
    return next((path for path in COCKPIT_WS if os.access(path, os.X_OK)), None)


def wait_until(condition, what):
    """Returns the first result of CONDITION() that is true. It asks again and again: nothing tells when a page changes."""
    end = time.monotonic() + WAIT
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimeoutError(f"waited {WAIT} s for {what}")
        time.sleep(0.02)


class Site:
    """SOURCE is the tree of the project; DESCRIPTION: whether the page is installed with what the build has written. cockpit-ws with a local session
    serves one login, so each page has a site of its own."""

    def __init__(self, source, description=True):
        self.processes = []
        self.rdmad = None
        self.work = tempfile.TemporaryDirectory(prefix="rdmad-cockpit-")
        page = os.path.join(self.work.name, "share", "cockpit", "rdma")
        os.makedirs(page)
        files = glob.glob(os.path.join(source, "cockpit", "*.*")) + ([os.environ["DESCRIPTION"]] if description else [])
        for file in files:
            os.symlink(file, os.path.join(page, os.path.basename(file)))
        self.address = self._start_bus()
        # With a bus and an agent for SSH, which need not exist, the bridge starts none that might outlive the test.
        self.environment = os.environ | {
            "DBUS_SESSION_BUS_ADDRESS": self.address, "SSH_AUTH_SOCK": os.path.join(self.work.name, "no-agent"),
            "LC_ALL": "C.UTF-8", "TZ": "UTC", "DBUS_SYSTEM_BUS_ADDRESS": self.address, "HOME": self.work.name,
            "XDG_DATA_HOME": os.path.join(self.work.name, "share")}
        self.bus = Gio.DBusConnection.new_for_address_sync(
            self.address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
        self.start_cockpit()

    def _start(self, *command, **options):
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def _start_bus(self):
        # what it says of services that programs ask for and nobody has is of no interest
        bus = self._start("dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address=1",
                          f"--address=unix:path={self.work.name}/bus", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
        return bus.stdout.readline().strip()

    def add_page(self, name):
        """Installs an empty page of Cockpit for the next cockpit-ws."""
        page = os.path.join(self.work.name, "share", "cockpit", name)
        os.makedirs(page)
        with open(os.path.join(page, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump({"menu": {"index": {"label": name}}}, file)
        with open(os.path.join(page, "index.html"), "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><title>Empty</title><script src='../base1/cockpit.js'></script>")

    def start_cockpit(self):
        """Starts a cockpit-ws, and another one if there is one. It ends if somebody takes the port before it."""
        if not any(self._start_cockpit_at_some_port() for _ in range(5)):
            with open(os.path.join(self.work.name, "log"), encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"cockpit-ws does not start: {log.read()}")

    def _start_cockpit_at_some_port(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open(os.path.join(self.work.name, "log"), "wb") as log:
            ws = self._start(find_cockpit_ws(), "--no-tls", "--address", "127.0.0.1", "--port", str(port),
                             "--local-session", "/usr/bin/cockpit-bridge", env=self.environment, stdout=log, stderr=log)

        def answers():
            with socket.socket() as client:
                return ws.poll() is not None or client.connect_ex(("127.0.0.1", port)) == 0

        wait_until(answers, "cockpit-ws")
        if ws.poll() is not None:
            self.processes.remove(ws)
            return False
        self.shell = f"http://127.0.0.1:{port}/"
        self.url = f"{self.shell}cockpit/@localhost/rdma/index.html"
        return True

    def start_rdmad(self, scenario):
        """SCENARIO is a text in the form of rdmad-scenario(5)."""
        file = os.path.join(self.work.name, "scenario.conf")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(scenario)
        self.rdmad = self._start(os.environ["RDMAD"], f"--simulate={file}", "--log-level=err", env=self.environment)
        wait_until(self.has_owner, "rdmad")

    def has_owner(self):
        return self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                                  GLib.Variant("(s)", ("org.rdma",)), None, 0, -1, None).unpack()[0]

    def start_hostile(self, text):
        """A program takes the place of rdmad and has TEXT wherever a text can be."""
        self._start("/usr/bin/python3", os.path.join(os.path.dirname(__file__), "hostile.py"), text, env=self.environment)
        wait_until(self.has_owner, "the hostile program")

    def show(self, port):
        """The names of the attributes that rdmactl show has of PORT."""
        text = subprocess.run([os.environ["RDMACTL"], "--json", "show", port], env=self.environment, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return [name for name in json.loads(text)["Ports"][0] if name not in ("Port", "ObjectPath")]

    def stop_rdmad(self):
        self.rdmad.terminate()
        self.rdmad.wait()
        self.processes.remove(self.rdmad)
        self.rdmad = None

    def simulate(self, method, signature, *arguments):
        """Calls a method of org.rdma.Simulator."""
        self.bus.call_sync("org.rdma", "/org/rdma", "org.rdma.Simulator", method, GLib.Variant(signature, arguments), None,
                           0, -1, None)

    def set_port(self, port, *events, **attributes):
        self.simulate("Set", "(sa{ss}asa{sv})", port, attributes, list(events), {})

    def close(self):
        self.bus.close_sync(None)
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.work.cleanup()
