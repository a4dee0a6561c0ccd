/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes elements. Text from a device becomes a text node or an attribute, and is never parsed as markup. */

const SVG = "http://www.w3.org/2000/svg";
const MOST = 256;

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

/* An element with attributes, listeners ("onclick") and children: nodes or texts. */
export function el(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* Changes the document only if the text is another one: each change costs a layout. */
export function set_text(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}

export function set_class(element, name) {
    if (element.className !== name)
        element.className = name;
}

/* Makes ELEMENTS the children of PARENT from the one with the number FIRST on. What is there stays; the keyboard stays where it is. */
export function arrange(parent, elements, first = 0) {
    const focus = document.activeElement;

    elements.forEach((element, i) => {
        const there = parent.children[first + i] ?? null;
        if (there !== element)
            parent.insertBefore(element, there);
    });
    while (parent.children.length > first + elements.length)
        parent.children[parent.children.length - 1].remove();
    if (focus !== document.activeElement && parent.contains(focus))
        focus.focus();
}

/* A table with these headings and rows of texts. On a narrow page the cells of a row are below each other, and CSS prints
 * the heading before each: see rdma.css. Then the browser needs the roles to know that it is a table. At most MOST rows are shown. */
export function table(caption, headings, rows) {
    const heading = text => el("th", { role: "columnheader", scope: "col" }, text);
    const cells = texts => texts.map((text, i) => el("td", { role: "cell", "data-label": headings[i] }, text));

    return el("table", { role: "table" },
              el("caption", {}, rows.length > MOST ? `${caption} (the first ${MOST} of ${rows.length})` : caption),
              el("thead", { role: "rowgroup" },
                 el("tr", { role: "row" }, ...headings.map(heading))),
              el("tbody", { role: "rowgroup" }, ...rows.slice(0, MOST).map(texts => el("tr", { role: "row" }, ...cells(texts)))));
}
