/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The table of all ports. A change changes the cells of its row; a row moves only if its value in the sorted column has
 * changed.
 */

import { el, set_class, set_text } from "./dom.js";
import { label, tone } from "./describe.js";
import { health_tone } from "./findings.js";
import { port_name, port_of } from "./objects.js";

const NAME = "Port";
const collator = new Intl.Collator("en", { numeric: true });

export class PortTable {
    constructor(parent, description) {
        this.description = description;
        this.columns = [{ Name: NAME, Help: "The name of the port" }, ...description.columns];
        this.rows = new Map(); /* path -> row */
        this.order = []; /* rows as they are shown */
        this.sorted = 0; /* the column */
        this.descending = false;
        this.headings = this.columns.map((column, i) => this.heading(column, i));
        this.body = el("tbody", { role: "rowgroup" });
        this.element = el("table", { role: "table", class: "ports" },
                          el("caption", {}, "Ports"),
                          el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...this.headings)),
                          this.body);
        this.none = el("p", {}, "There are no RDMA ports.");
        parent.append(this.element, this.none);
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
        this.body.append(...this.order.map(row => row.element));
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

    /* Takes over what has changed of the object at PATH; OBJECT is undefined if it has gone. */
    update(path, object) {
        let row = this.rows.get(path);

        if (!port_of(object)) {
            if (row)
                this.drop(path, row);
            return;
        }
        if (!row) {
            row = this.make_row();
            this.rows.set(path, row);
        }
        const before = row.keys[this.sorted];
        const name = row.keys[0];
        this.fill(row, object);
        if (before !== row.keys[this.sorted] || name !== row.keys[0])
            this.place(row);
    }

    /* KNOWN: that there are no others */
    finish(known) {
        this.element.hidden = this.rows.size === 0;
        this.none.hidden = !known || this.rows.size > 0;
    }

    drop(path, row) {
        this.rows.delete(path);
        this.order.splice(this.order.indexOf(row), 1);
        row.element.remove();
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
        return { element: el("tr", { role: "row" }, ...cells), link, badge, health, stale, cells, texts, keys: [] };
    }

    fill(row, object) {
        const port = port_of(object);
        const name = port_name(object);

        row.keys = this.columns.map((column, i) => {
            const shown = i === 0 ? { text: name, missing: false } : this.description.show(object, column);

            set_text(row.texts[i], shown ? shown.text : "");
            row.cells[i].classList.toggle("missing", Boolean(shown?.missing));
            row.cells[i].classList.toggle("empty", !shown);
            if (!shown || shown.missing)
                return null;
            return i === 0 ? name : object[column.Interface][column.Name];
        });
        const href = "#" + cockpit.location.encode([port.DeviceName, String(port.PortNumber)]);
        if (row.link.getAttribute("href") !== href)
            row.link.setAttribute("href", href);
        set_class(row.badge, `badge ${tone(port.State)}`);
        set_class(row.health, port.Health ? `badge ${health_tone(port.Health)}` : "");
        row.stale.hidden = !port.Stale;
        row.stale.title = port.LastError;
    }

    /* Puts ROW where it belongs, by halving. */
    place(row) {
        const old = this.order.indexOf(row);
        let low = 0;

        if (old >= 0)
            this.order.splice(old, 1);
        for (let high = this.order.length; low < high;) {
            const middle = (low + high) >> 1;
            if (this.compare(this.order[middle], row) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        this.order.splice(low, 0, row);
        if (this.body.children[low] !== row.element) {
            const focus = row.element.contains(document.activeElement) ? document.activeElement : null;
            this.body.insertBefore(row.element, this.order[low + 1]?.element || null);
            focus?.focus();
        }
    }
}
