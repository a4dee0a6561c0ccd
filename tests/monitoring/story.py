# SPDX-License-Identifier: LGPL-2.1-or-later
"""What happens to a simulated machine, as a test for promtool."""

import os
import re

from machine import Machine, wait_until
from timeline import Timeline, wanted

here = os.path.dirname(os.path.realpath(__file__))
rules = os.path.realpath(os.path.join(here, "../../monitoring/prometheus/rdma.rules.yml"))
with open(rules, encoding="utf-8") as f:
    rules_text = f.read()
target_labels = ['job="rdma"', 'cluster="c1"', 'rack="r1"']


def sample(name, port, value, **labels):
    """A regular expression for a line of the exposition."""
    device, number = port.split("/")
    more = "".join(f',{key}="{text}"' for key, text in labels.items())
    return f'^{name}{{device="{device}",port="{number}"{more}}} {value}$'


def finding(name, check):
    """The same for a finding of the device or port NAME; "": of the machine."""
    device, _, number = name.partition("/")
    labels = (f'device="{device}",' if device else "") + (f'port="{number}",' if number else "")
    return f'^rdma_finding{{{labels}check="{check}",'


def read(name):
    with open(os.path.join(here, name), encoding="utf-8") as file:
        return file.read()


class Story:
    """Of the machine "node1". NODE2 says whether there is another one, which is as node1 was at the beginning, and to which nothing
    happens. MORE is added to the scenario of the machine. EXPRESSIONS are what the test will ask for, besides the rules."""

    def __init__(self, name, more="", node2=True, expressions=""):
        self.name = name
        self.timeline = Timeline(wanted(rules_text + expressions))
        self.tests, self.alert_tests = [], []
        self.fired = []
        self.machine = Machine(read("machine.conf") + "\n" + more, read("expect.conf"))
        try:
            # all that there is: each device has been read, and the ports have their counters
            self.now = self.machine.scrape_until(*(sample("rdma_port_xmit_packets_total", p, r"\d+")
                                                   for p in ("mlx5_0/1", "mlx5_7/1", "rocep1/1", "ibp97s0/1", "spare/1")))
        except BaseException:
            self.machine.close()
            raise
        self.others = {"node2": self.now} if node2 else {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.machine.close()

    def targets(self):
        return [(target_labels + [f'instance="{name}"'], text) for name, text in ({"node1": self.now} | self.others).items()]

    def does(self, *commands, until=()):
        """Lets the simulator do COMMANDS, and takes the metrics when they have a line for each regular expression of UNTIL."""
        for command in commands:
            self.machine.run(command)
        self.now = self.machine.scrape_until(*([until] if isinstance(until, str) else until))

    def measures(self, port, name):
        """The error correction of PORT corrects more and more bits, until rdmad knows the metric NAME of it."""
        bits = 0

        def find():
            nonlocal bits
            bits += 1000
            self.machine.run(f"set {port} fec_corrected_bits={bits}")
            self.machine.query(port)
            text = self.machine.scrape() or ""
            return text if re.search(sample(name, port, ".*"), text, re.MULTILINE) else None
        self.now = wait_until(find, f"{name} of {port}")

    def loses(self, program):
        self.machine.stop(program)
        self.now = self.machine.scrape() if program == "exporter" else self.machine.scrape_until("^rdma_rdmad_up 0$")

    def gone(self, *devices):
        """Takes the metrics when they have nothing of these devices."""
        def find():
            text = self.machine.scrape() or ""
            return text if not any(f'device="{device}"' in text for device in devices) else None
        self.now = wait_until(find, "the end of " + " ".join(devices))

    def minutes(self, n):
        self.timeline.hold(self.targets(), n)

    def minutes_without_targets(self, n):
        self.timeline.hold([], n)

    def is_now(self, expression, *expected):
        """The expression has these values, each a dictionary of labels and a number, at the time of the last scrape."""
        self.tests.append({"expr": expression, "eval_time": f"{self.timeline.minutes - 1}m", "exp_samples": [
            {"labels": "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}", "value": value}
            for labels, value in expected]})

    def fires(self, *alerts):
        """These alerts fire at the time of the last scrape, and no other."""
        self.fired.append((self.timeline.minutes - 1, alerts))
        self.is_now('count by (alertname, severity, check, value, instance, device, port, counter) (ALERTS{alertstate="firing"})',
                    *((labels, 1) for labels in alerts))

    def recorded(self, counter, n):
        """The rule that adds up this error counter of the rack has seen it grow by more than N."""
        self.is_now(f'rack_counter:rdma_port_errors:increase1h{{counter="{counter}"}} > bool {n}',
                    ({"job": "rdma", "cluster": "c1", "rack": "r1", "counter": counter}, 1))

    def test(self):
        return {"name": self.name, "interval": "1m", "input_series": self.timeline.input_series(),
                "promql_expr_test": self.tests, "alert_rule_test": self.alert_tests}
