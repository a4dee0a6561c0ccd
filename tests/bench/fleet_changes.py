# SPDX-License-Identifier: LGPL-2.1-or-later
"""What changes in a simulated fleet, and whether the series of Prometheus tell of each change, and tell of it once.

A change is one of these, on one port:
    down   the link goes down and stays down: LinkDownCount grows by one, the state is "down"
    up     it comes back: the state is "active"
    flap   down and up again within a fraction of a second: LinkDownCount grows by one. A scrape sees the state
           "down" only if it comes in between
    sm     the subnet manager moves: another LID of it
"""

import dataclasses
import random

KINDS = ("down", "flap", "sm", "up")


@dataclasses.dataclass
class Change:
    kind: str
    machine: int
    device: int  # each device has one port
    sm_lid: int = 0  # of "sm": the new value
    begin: float = 0.0  # the time when it was asked for, in seconds since 1970
    end: float = 0.0  # the time when the simulator had done it
    found: float = 0.0  # the time of the first sample that shows it; 0: none does

    def __str__(self):
        return f"{self.kind} of machine {self.machine}, device {self.device}, at {self.begin:.3f}"


def plan(machines, devices, seconds, rest, seed):
    """Returns one change for each second. No port changes twice within REST seconds, so that each sample that differs
    from the one before belongs to one change."""
    chance = random.Random(seed)
    last = {}  # by port: the second of its last change
    down = []  # the ports that are down, in the order in which they went down
    changes = []
    for second in range(seconds):
        kind = KINDS[second % len(KINDS)]
        if kind == "up" and (not down or second - last[down[0]] < rest):
            kind = "flap"
        free = [(m, d) for m in range(machines) for d in range(devices)
                if (m, d) not in down and second - last.get((m, d), -rest) >= rest]
        if not free and kind != "up":
            raise ValueError("too few ports for a change each second")
        port = down.pop(0) if kind == "up" else chance.choice(free)
        if kind == "down":
            down.append(port)
        last[port] = second
        changes.append(Change(kind, *port, sm_lid=second + 2 if kind == "sm" else 0))
    return changes


def steps(samples):
    """Returns (time, value before, value) for each sample that differs from the one before."""
    return [(t, before, value) for (_, before), (t, value) in zip(samples, samples[1:]) if value != before]


def is_step(change, series, before, value):
    """Whether the CHANGE makes a step in this series."""
    if series == "link_down":
        return change.kind in ("down", "flap") and value - before == 1
    if series == "sm_lid":
        return change.kind == "sm" and value == change.sm_lid
    return {"down": (before, value) == ("active", "down"),
            "up": (before, value) == ("down", "active"),
            "flap": {before, value} == {"active", "down"}}.get(change.kind, False)


def expected(change, series):
    """Returns the least and the largest number of steps that the CHANGE makes in this series."""
    if series == "link_down":
        return (1, 1) if change.kind in ("down", "flap") else (0, 0)
    if series == "sm_lid":
        return (1, 1) if change.kind == "sm" else (0, 0)
    return {"down": (1, 1), "up": (1, 1), "flap": (0, 2)}.get(change.kind, (0, 0))


def judge(changes, port, late):
    """Compares the CHANGES of one port with its series: PORT is a dictionary of "link_down", "sm_lid" and "state", each a
    list of (time, value). A step belongs to a change if it comes within LATE seconds after it. Returns what is wrong:
    the changes that no sample shows, and the steps that no change has made. Sets "found" of the changes."""
    missing, surplus = [], []
    for series, samples in port.items():
        left = steps(samples)
        for change in changes:
            own = [s for s in left if change.begin - 1 <= s[0] <= change.end + late and is_step(change, series, *s[1:])]
            least, most = expected(change, series)
            if series == "state" and change.kind == "flap" and len(own) == 1:
                least = 2  # it went down in the series and did not come back
            own = own[:most]
            left = [s for s in left if s not in own]
            if len(own) < least:
                missing.append(f"{change}: not in {series}")
            elif least:
                change.found = max(change.found, own[0][0])
        surplus += [f"machine {changes[0].machine if changes else '?'}: {series} {a} -> {b} at {t:.3f}" for t, a, b in left]
    return missing, surplus
