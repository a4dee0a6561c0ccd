/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * For each line of the input, which has all objects as JSON of situations-bus, what the page of Cockpit shows of them:
 * "ABOUT CHECK SEVERITY" for each finding that has a line of its own and that nobody has acknowledged, and "." after them. ABOUT is -
 * for the machine.
 */

import "./doubles.js";
import { createInterface } from "node:readline";

const { show_findings } = await import("./findings.js");

function lines_of({ manager, paths }) {
    const element = document.createElement("div");

    show_findings(element, { state: "present", manager, paths: new Map(Object.entries(paths)) }, manager.Health);
    return element.all("li").map(item => {
        const [badge] = item.all("span");
        const about = item.childNodes.map(node => node.textContent ?? node).join("\t").split("\t")[2];

        return badge.textContent === "acknowledged" ? "" : `${about || "-"} ${item.getAttribute("title")} ${badge.textContent}\n`;
    }).join("");
}

for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(`${lines_of(JSON.parse(line))}.\n`);
