/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells a screen reader what has changed: at most one message in INTERVAL, and no list of a hundred ports. */

const INTERVAL = 1000; /* ms */
const MOST = 4;

export class News {
    constructor(element) {
        this.element = element;
        this.lines = new Map(); /* what it is about -> the last line about it */
        this.timer = null;
    }

    tell(about, line) {
        this.lines.set(about, line);
        this.timer ??= setTimeout(() => this.say(), INTERVAL);
    }

    say() {
        const lines = [...this.lines.values()];

        this.element.textContent = lines.length > MOST ? `${lines.length} ports have changed` : lines.join(". ");
        this.lines.clear();
        this.timer = null;
    }
}
