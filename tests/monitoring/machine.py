# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated machine: a bus, rdmad on a scenario, and rdmad-exporter on a port of its own."""

import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request

WAIT = 60  # seconds, for anything that has to happen


def wait_until(condition, what):
    """Returns the first result of CONDITION() that is true. It asks again and again: nothing tells when a text changes."""
    end = time.monotonic() + WAIT
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimeoutError(f"waited {WAIT} s for {what}")
        time.sleep(0.01)


class Machine:
    """With SCENARIO, a text in the form of rdmad-scenario(5), and EXPECTED, what is expected of its ports. The programs are those of the
    environment: RDMAD, EXPORTER."""

    def __init__(self, scenario, expected=""):
        self.processes = {}
        self.work = tempfile.TemporaryDirectory(prefix="rdmad-test-")
        self.environment = os.environ | {"LC_ALL": "C.UTF-8"}
        self.scenario = os.path.join(self.work.name, "machine.conf")
        os.mkdir(os.path.join(self.work.name, "rdmad"))
        # no port is compared with others of its machine before it has been as it is for an hour
        for name, text in (("machine.conf", scenario), ("rdmad.conf", "[Daemon]\nSettleSec=3600\nCounterIntervalSec=1\n"), ("rdmad/expect.conf", expected)):
            with open(os.path.join(self.work.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        # The socket is made here, as systemd does, and stays when the exporter ends.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        try:
            self._start_bus()
            self.start_rdmad()
            self.start_exporter()
        except BaseException:
            self.close()
            raise

    def close(self):
        for name in reversed(list(self.processes)):
            self.stop(name)
        self.listener.close()
        self.work.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self, name, *command, **options):
        log = open(os.path.join(self.work.name, name + ".log"), "ab")
        with log:
            self.processes[name] = subprocess.Popen(command, env=self.environment, stderr=log, stdin=subprocess.DEVNULL, **options)
        return self.processes[name]

    def stop(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def log(self, name):
        with open(os.path.join(self.work.name, name + ".log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def _start_bus(self):
        bus = self._start("bus", "dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address=1",
                          f"--address=unix:path={self.work.name}/bus", stdout=subprocess.PIPE)
        address = bus.stdout.readline().decode().strip()
        if not address:
            raise RuntimeError("the bus does not start: " + self.log("bus"))
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = address

    def start_rdmad(self):
        before = self.log("rdmad").count("Serving") if os.path.exists(f"{self.work.name}/rdmad.log") else 0
        rdmad = self._start("rdmad", os.environ["RDMAD"], "--simulate=" + self.scenario,
                            f"--config={self.work.name}/rdmad.conf")
        wait_until(lambda: self.log("rdmad").count("Serving") > before or rdmad.poll() is not None, "rdmad")
        if rdmad.poll() is not None:
            raise RuntimeError("rdmad does not start: " + self.log("rdmad"))

    def start_exporter(self):
        fd = self.listener.fileno()
        self._start("exporter", "sh", "-c", f'exec 3<&{fd}; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=http exec "$@"',
                    "sh", os.environ["EXPORTER"], pass_fds=[fd])

    def _call(self, path, *call):
        """What busctl prints of the answer"""
        return subprocess.run(["busctl", "--address=" + self.environment["DBUS_SYSTEM_BUS_ADDRESS"], "call", "org.rdma", path, *call],
                              env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def run(self, command):
        """COMMAND is one of the simulator's: set mlx5_0/1 state=down event=port-error"""
        self._call("/org/rdma", "org.rdma.Simulator", "Run", "sa{sv}", command, "0")

    def query(self, port):
        """rdmad asks what the hardware of PORT says now."""
        path = self._call("/org/rdma", "org.rdma.Manager", "GetPort", "sa{sv}", port, "0").split('"')[1]
        self._call(path, "org.rdma.Port", "Query", "a{sv}", "0")

    def scrape(self):
        """What Prometheus would get: a text, or None if there is no answer."""
        if "exporter" not in self.processes:
            return None
        try:
            with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=120) as reply:
                return reply.read().decode()
        except OSError:
            return None

    def scrape_until(self, *patterns):
        """Scrapes until each of the regular expressions matches a line; one that begins with "!" matches none then."""
        def find():
            text = self.scrape() or ""
            return text if all(bool(re.search(p.removeprefix("!"), text, re.MULTILINE)) != p.startswith("!") for p in patterns) else None
        return wait_until(find, "a line that matches " + " and ".join(patterns))
