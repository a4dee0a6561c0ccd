/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The table of all ports, by adapter, in the order of a column, with a filter. All ports have a row here, and those that are
 * shown have one in the document: at most LIMIT of them until somebody asks for more. A change changes the cells of its row.
 */

import { arrange, el, set_class, set_text } from "./dom.js";
import { label, tone } from "./describe.js";
import { health_tone } from "./findings.js";
import { adapter_of, port_name, port_of } from "./objects.js";

const NAME = "Port";
const LIMIT = 256;
const collator = new Intl.Collator("en", { numeric: true });

export class PortTable {
    constructor(parent, description) {
        this.description = description;
        this.columns = [{ Name: NAME, Help: "The name of the port" }, ...description.columns];
        this.rows = new Map(); /* path -> row */
        this.order = []; /* the rows in the order of the column */
        this.sorted = 0; /* the column */
        this.descending = false;
        this.limit = LIMIT;
        this.adapters = new Map(); /* key -> the part of the table that is about it */
        this.headings = this.columns.map((column, i) => this.heading(column, i));
        this.element = el("table", { role: "table", class: "ports" },
                          el("caption", {}, "Ports"),
                          el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...this.headings)));
        this.filter = el("input", { type: "search", id: "filter", oninput: () => this.render() });
        this.by_adapter = el("input", { type: "checkbox", id: "by-adapter", checked: "", onchange: () => this.render() });
        this.count = el("output", { for: "filter" });
        this.more = el("button", { type: "button", class: "more", hidden: "", onclick: () => this.show_more() }, "Show more ports");
        this.tools = el("div", { class: "tools" },
                        el("label", { for: "filter" }, "Filter"), this.filter,
                        this.by_adapter, el("label", { for: "by-adapter" }, "By adapter"), this.count);
        this.none = el("p", {}, "There are no RDMA ports.");
        parent.append(this.tools, this.element, this.more, this.none);
        this.mark_sorted();
    }

    heading(column, i) {
        return el("th", { role: "columnheader", scope: "col" },
                  el("button", { type: "button", title: `${column.Name}: ${column.Help}`, onclick: () => this.sort(i) }, label(column.Name)));
    }

    mark_sorted() {
        const direction = this.descending ? "descending" : "ascending";

        this.headings.forEach((heading, i) => heading.setAttribute("aria-sort", i === this.sorted ? direction : "none"));
    }

    sort(column) {
        this.descending = column === this.sorted && !this.descending;
        this.sorted = column;
        this.mark_sorted();
        this.order.sort((a, b) => this.compare(a, b));
        this.render();
    }

    show_more() {
        this.limit += LIMIT;
        this.render();
    }

    /* Numbers by their size, the rest as people sort names; what has no value comes last. */
    compare(a, b) {
        const [x, y] = [a.keys[this.sorted], b.keys[this.sorted]];
        let result;

        if (x === null || y === null)
            return (x === null) - (y === null) || collator.compare(a.keys[0], b.keys[0]);
        if (typeof x === "number" && typeof y === "number")
            result = x - y;
        else
            result = collator.compare(x, y);
        return (this.descending ? -result : result) || collator.compare(a.keys[0], b.keys[0]);
    }

    /* Takes over what has changed of OBJECT, the port at PATH, or of DEVICE; OBJECT is undefined if it has gone. */
    update(path, object, device) {
        let row = this.rows.get(path);

        if (!port_of(object)) {
            if (row && this.rows.delete(path))
                this.order.splice(this.order.indexOf(row), 1);
            return;
        }
        const is_new = !row;
        if (is_new) {
            row = { keys: [], texts: [], shown: null };
            this.rows.set(path, row);
        }
        const before = row.keys[this.sorted];
        const name = row.keys[0];
        this.read(row, object, device);
        if (row.shown)
            this.fill(row);
        if (is_new || before !== row.keys[this.sorted] || name !== row.keys[0])
            this.place(row, is_new);
    }

    /* After the last update. KNOWN: that there are no other ports */
    finish(known) {
        this.element.hidden = this.tools.hidden = this.rows.size === 0;
        this.none.hidden = !known || this.rows.size > 0;
        this.render();
    }

    /* What the cells say, what they are sorted by, and what the filter looks at */
    read(row, object, device) {
        row.port = port_of(object);
        row.adapter = adapter_of(object, device);
        const all = { ...device, ...object };
        row.texts = this.columns.map((column, i) => i === 0 ? { text: port_name(object), missing: false } : this.description.show(all, column));
        row.keys = this.columns.map((column, i) => {
            if (i === 0)
                return row.texts[0].text;
            return !row.texts[i] || row.texts[i].missing ? null : all[column.Interface][column.Name];
        });
        const { Neighbor, NeighborPort } = object["org.rdma.Port.Neighbor"] ?? {};
        row.words = [...row.texts.filter(text => text && !text.missing).map(text => text.text), row.port.Stale ? "stale" : "",
                     row.adapter.title, Neighbor, NeighborPort].join("\n").toLowerCase();
    }

    /* Puts ROW where it belongs in the order, by halving. */
    place(row, is_new) {
        let low = 0;

        if (!is_new)
            this.order.splice(this.order.indexOf(row), 1);
        for (let high = this.order.length; low < high;) {
            const middle = (low + high) >> 1;
            if (this.compare(this.order[middle], row) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        this.order.splice(low, 0, row);
    }

    /* The rows that the filter lets through: each word of it is in the row. */
    matching() {
        const words = this.filter.value.toLowerCase().split(/\s+/);

        return this.order.filter(row => words.every(word => row.words.includes(word)));
    }

    /* Brings the document to what is to be shown. An adapter stands where the first of its ports does. */
    render() {
        const rows = this.matching();
        const parts = new Map();
        let room = this.limit;

        for (const row of rows) {
            const key = this.by_adapter.checked ? row.adapter.key : "";
            if (!parts.has(key))
                parts.set(key, []);
            parts.get(key).push(row);
        }
        const bodies = [];
        for (const [key, members] of parts) {
            if (room === 0)
                break;
            bodies.push(this.fill_adapter(key, members.slice(0, room)));
            room -= Math.min(room, members.length);
        }
        arrange(this.element, bodies, 2);
        for (const key of this.adapters.keys()) {
            if (!parts.has(key))
                this.adapters.delete(key);
        }
        const shown = Math.min(rows.length, this.limit);
        set_text(this.count, shown < this.rows.size ? `${shown} of ${this.rows.size} ports are shown` : "");
        this.more.hidden = shown === rows.length;
    }

    /* The part of the table that is about an adapter */
    fill_adapter(key, rows) {
        let part = this.adapters.get(key);

        if (!part) {
            const cell = el("th", { role: "rowheader", scope: "rowgroup", colspan: this.columns.length });
            part = { cell, heading: el("tr", { role: "row", class: "adapter" }, cell), body: el("tbody", { role: "rowgroup" }) };
            this.adapters.set(key, part);
        }
        set_text(part.cell, rows[0].adapter.title);
        arrange(part.body, [...(key ? [part.heading] : []), ...rows.map(row => this.shown(row).element)]);
        return part.body;
    }

    shown(row) {
        if (!row.shown) {
            row.shown = this.make_row();
            this.fill(row);
        }
        return row.shown;
    }

    make_row() {
        const link = el("a", {});
        const badge = el("span", {});
        const health = el("span", {});
        const stale = el("span", { class: "badge bad", hidden: "" }, "stale");
        const cells = this.columns.map(column => el("td", { role: "cell", "data-label": label(column.Name), "data-name": column.Name }));

        cells[0].append(link);
        const texts = this.columns.map((column, i) => {
            if (column.Name === "State")
                cells[i].append(badge, " ", stale);
            else if (column.Name === "Health")
                cells[i].append(health);
            return { [NAME]: link, State: badge, Health: health }[column.Name] || cells[i];
        });
        return { element: el("tr", { role: "row" }, ...cells), link, badge, health, stale, cells, texts };
    }

    fill({ port, texts, shown }) {
        texts.forEach((text, i) => {
            set_text(shown.texts[i], text ? text.text : "");
            shown.cells[i].classList.toggle("missing", Boolean(text?.missing));
            shown.cells[i].classList.toggle("empty", !text);
        });
        const href = "#" + cockpit.location.encode([port.DeviceName, String(port.PortNumber)]);
        if (shown.link.getAttribute("href") !== href)
            shown.link.setAttribute("href", href);
        set_class(shown.badge, `badge ${tone(port.State)}`);
        set_class(shown.health, port.Health ? `badge ${health_tone(port.Health)}` : "");
        shown.stale.hidden = !port.Stale;
        shown.stale.title = port.LastError;
    }

    /* The keyboard goes to the port called NAME, if it is shown. */
    focus(name) {
        for (const row of this.rows.values()) {
            if (row.keys[0] === name)
                row.shown?.link.focus();
        }
    }
}
