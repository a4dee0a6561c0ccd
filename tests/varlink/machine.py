# SPDX-License-Identifier: LGPL-2.1-or-later
"""A bus, rdmad with a scenario, rdmad-exporter with a Varlink socket, and a Varlink client."""

import json
import os
import signal
import socket
import subprocess
import tempfile

GUARD_SEC = 60

# Starts a program as systemd would. The listening sockets are its standard input and output.
LISTEN = 'exec 3<&0 4>&1 </dev/null >&2; export LISTEN_FDS=2 LISTEN_FDNAMES=varlink:http LISTEN_PID=$$; exec "$@"'


class Client:
    """A connection. Each message is an object in JSON with a zero behind it."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(GUARD_SEC)
        self.socket.connect(path)
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, method, parameters=None, **members):
        message = {"method": method, "parameters": parameters or {}, **members}
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        """The next message; None: the service has closed the connection."""
        while b"\0" not in self.text:
            try:
                got = self.socket.recv(65536)
            except ConnectionResetError:
                got = b""
            if not got:
                assert self.text == b"", "the connection has ended within a message"
                return None
            self.text += got
        message, self.text = self.text.split(b"\0", 1)
        return json.loads(message)

    def replies(self):
        """The parameters of all replies to one call."""
        found = []
        while True:
            message = self.receive()
            assert message is not None, "the connection has ended"
            assert "error" not in message, message
            found.append(message["parameters"])
            if not message.get("continues"):
                return found

    def call(self, method, parameters=None):
        """The parameters of the one reply."""
        self.send(method, parameters)
        (reply,) = self.replies()
        return reply

    def collect(self, method):
        self.send(method, more=True)
        return self.replies()

    def error(self, method, parameters=None, **members):
        """The error that the one reply is, and its parameters."""
        self.send(method, parameters, **members)
        message = self.receive()
        assert not message.get("continues"), message
        return message["error"], message["parameters"]


class Machine:
    """rdmad can be killed and started while the rest goes on."""

    def __init__(self, build, scenario):
        self.build = build
        self.directory = tempfile.TemporaryDirectory(prefix="rdmad-test.")
        self.path = f"{self.directory.name}/org.rdma"
        self.scenario = f"{self.directory.name}/scenario.conf"
        with open(self.scenario, "w", encoding="utf-8") as f:
            f.write(scenario)
        self.bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address",
             f"--address=unix:path={self.directory.name}/bus"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.bus.stdout.readline().strip(), "LC_ALL": "C.UTF-8"}
        self.rdmad = None
        self.start_rdmad()
        self.start_exporter()

    def start_rdmad(self):
        self.rdmad = subprocess.Popen(
            [f"{self.build}/daemon/rdmad", f"--simulate={self.scenario}", "--log-level=err"], env=self.environment)
        self.run("gdbus", "wait", "--address", self.environment["DBUS_SYSTEM_BUS_ADDRESS"], "--timeout", str(GUARD_SEC),
                 "org.rdma")

    def stop_rdmad(self):
        self.rdmad.send_signal(signal.SIGTERM)
        self.rdmad.wait(GUARD_SEC)

    def listen(self, path):
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        os.chmod(path, 0o666)
        listening.listen(128)
        return listening

    def start_exporter(self):
        os.chmod(self.directory.name, 0o755)
        with self.listen(self.path) as varlink, self.listen(f"{self.directory.name}/http") as http:
            self.exporter = subprocess.Popen(
                ["bash", "-c", LISTEN, "bash", f"{self.build}/exporter/rdmad-exporter"], stdin=varlink, stdout=http,
                env=self.environment)

    def prometheus(self):
        """What the exporter says over HTTP."""
        with socket.socket(socket.AF_UNIX) as http:
            http.settimeout(GUARD_SEC)
            http.connect(f"{self.directory.name}/http")
            http.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with http.makefile("rb") as reply:
                head, text = reply.read().split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 200 "), head
        return text.decode()

    def client(self):
        return Client(self.path)

    def run(self, *command):
        return subprocess.run(command, env=self.environment, check=True, timeout=GUARD_SEC, stdout=subprocess.PIPE,
                              text=True).stdout

    def set(self, port, reason, **fields):
        """Changes raw fields of a port of the scenario."""
        pairs = [word for pair in fields.items() for word in pair]
        self.run("busctl", f"--address={self.environment['DBUS_SYSTEM_BUS_ADDRESS']}", "call", "org.rdma", "/org/rdma",
                 "org.rdma.Simulator", "Set", "sa{ss}asa{sv}", port, str(len(fields)), *pairs, "1", reason, "0")

    def close(self):
        """Returns the status of the exporter."""
        self.exporter.send_signal(signal.SIGTERM)
        status = self.exporter.wait(GUARD_SEC)
        for process in self.rdmad, self.bus:
            process.kill()
            process.wait()
        self.bus.stdout.close()
        self.directory.cleanup()
        return status
