# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-property-docs PROPERTY-DOCS RDMACTL: each attribute that rdmactl describes has a comment in the reference of librdmad-glib, which
says the same of it, and no other has one."""

import json
import re
import subprocess
import sys


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def property_of(name):
    return re.sub(r"(?<=[^A-Z])(?=[A-Z])", "-", name).lower()


def expected(row):
    """What the comment of an attribute says: its property, and parts of its text"""
    kind = "RdmadDevice" if row["Interface"].startswith("org.rdma.Device") else "RdmadPort"
    parts = [row["Help"], f"On the bus: `{row['Name']}` of `{row['Interface']}`, type `{row['Type']}`"]
    if row["Unit"]:
        parts[-1] += f", in {row['Unit']}"
    if isinstance(row["Values"], list):  # and not the name of one that several have
        parts.append(f"One of {', '.join(f'`{v}`' for v in row['Values'])}.")
    if row["Valid"] != "always":
        parts.append("Available ")
    if row["Absent"]:
        parts.append("without a value")
    parts[1] += ".\n"
    for m in row["Members"] or []:
        parts.append(f"`{m['Tail'] or m['Name']}` (`")
        parts.append(f"`{', in the tail' if m['Tail'] else ''}): {m['Help']}\n")
    return f"{kind}:{property_of(row['Name'])}:", parts


comments = {}
for text in re.findall(r"/\*\*\n(.*?) \*/\n", run(sys.argv[1]), re.DOTALL):
    lines = [re.sub(r"^ \* ?", "", line) for line in text.splitlines()]
    assert lines[0] not in comments, f"{lines[0]} has two comments"
    comments[lines[0]] = re.sub(r"\\(.)", r"\1", "\n".join(lines) + "\n")

failed = 0
for row in json.loads(run(sys.argv[2], "describe", "--json"))["Attributes"]:
    if row["Interface"] is None:  # it is only in the answer of Query()
        continue
    name, parts = expected(row)
    comment = comments.pop(name, None)
    for part in parts if comment else [name]:
        if part not in (comment or ""):
            print(f"FAIL: {name} {comment}\nhas not: {part}")
            failed += 1
    # only what is said of it is there
    for said, is_so in ("One of", isinstance(row["Values"], list)), ("Available ", row["Valid"] != "always"), ("Each entry has", row["Members"]):
        if comment and (f"\n{said}" in comment) != bool(is_so):
            print(f"FAIL: {name} {comment}\n{said}: not as rdmactl describes it")
            failed += 1
for name in comments:
    print(f"FAIL: {name} is no attribute")
print(f"{failed} failures")
sys.exit(failed + len(comments) > 0)
