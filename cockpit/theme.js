/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Light or dark, as the user has chosen in Cockpit's menu: "light", "dark" or "auto", as the browser says. Cockpit keeps the
 * choice in the local storage, and tells pages by an event of the window or of the storage.
 */

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function apply(style) {
    const chosen = style || localStorage.getItem("shell:style") || "auto";

    document.documentElement.classList.toggle("pf-theme-dark", chosen === "dark" || (chosen === "auto" && dark.matches));
}

export function follow_theme() {
    window.addEventListener("storage", event => event.key === "shell:style" && apply());
    window.addEventListener("cockpit-style", event => apply(event.detail?.style));
    dark.addEventListener("change", () => apply());
    apply();
}
