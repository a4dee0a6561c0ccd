# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sequence of expositions as the input of "promtool test rules". One exposition is one scrape, and scrapes are a minute apart."""

import json
import re
import subprocess

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')


def samples(exposition):
    """Yields (name, labels as text, value as text)."""
    for line in exposition.splitlines():
        if line and not line.startswith("#"):
            match = SAMPLE.match(line)
            if not match:
                raise ValueError(f"no sample: {line}")
            yield match[1], match[2] or "", match[3]


def wanted(expressions):
    """A regular expression for the names of the series that the text EXPRESSIONS may ask for. promtool is slow with all of them."""
    return re.compile("|".join(sorted(set(re.findall(r"\brdma_\w+", expressions)))))


class Timeline:
    """The series of one test whose names match WANTED: for each the values, one a minute, None where there is none."""

    def __init__(self, wanted):
        self.minutes = 0
        self.series = {}
        self.wanted = wanted

    def _add(self, name, labels, value, minutes):
        values = self.series.setdefault(name + "{" + ",".join(labels) + "}", [])
        values += [None] * (self.minutes - len(values)) + [value] * minutes

    def hold(self, targets, minutes):
        """TARGETS is for each target its labels and its exposition, which is the same for so many minutes. None: no answer."""
        for labels, exposition in targets:
            self._add("up", labels, "0" if exposition is None else "1", minutes)
            for name, own, value in samples(exposition or ""):
                if self.wanted.fullmatch(name):
                    self._add(name, labels + ([own] if own else []), value, minutes)
        self.minutes += minutes

    def input_series(self):
        return [{"series": name, "values": self._notation(values)} for name, values in self.series.items()]

    def _notation(self, values):
        """Equal values are written once: "1+0x59" is 60 times 1. The first scrape without a series ends it, as Prometheus does."""
        values = values + [None] * (self.minutes - len(values))
        words, i, had_value = [], 0, False
        while i < len(values):
            n = 1
            while i + n < len(values) and values[i + n] == values[i]:
                n += 1
            if values[i] is not None:
                words.append(f"{values[i]}+0x{n - 1}")
            elif had_value:
                words.append("stale" if n == 1 else f"stale _x{n - 1}")
            else:
                words.append(f"_x{n}")
            had_value = values[i] is not None
            i += n
        return " ".join(words)


def promtool(*arguments):
    """Runs promtool. Returns whether it is content, and what it says."""
    done = subprocess.run(["promtool", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def run_tests(file, rules, tests):
    """TESTS as promtool has them, with the rules of the file RULES. They are written to FILE. JSON is YAML."""
    with open(file, "w", encoding="utf-8") as f:
        json.dump({"rule_files": [rules], "evaluation_interval": "1m", "tests": tests}, f, indent=1)
    return promtool("test", "rules", file)
