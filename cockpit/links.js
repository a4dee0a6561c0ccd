/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a port to other pages of Cockpit: to its network interfaces, and to what the journal has of it. */

import { el } from "./dom.js";
import { port_of } from "./objects.js";

/* To PATH of Cockpit, in which the page stands in a frame */
function link(path, text) {
    return el("a", { href: path, onclick: event => { event.preventDefault(); cockpit.jump(path) } }, text);
}

/* The links of the object of a port. A page that is not installed has none. */
export function links_of(object) {
    const { DeviceName, PortNumber, Netdevs } = port_of(object);
    const names = new Set([object["org.rdma.Port.Ethernet"]?.Netdev, ...(Netdevs ?? []).map(([, name]) => name)].filter(Boolean));
    const fields = { priority: "debug", RDMA_DEVICE: DeviceName, RDMA_PORT: String(PortNumber) };
    const pages = cockpit.manifests ?? {};

    return [...(pages.network ? [...names].map(name => link(`/network#${cockpit.location.encode([name])}`, `Interface ${name}`)) : []),
            ...(pages.system ? [link(`/system/logs#${cockpit.location.encode([], fields)}`, "Journal of the port")] : [])];
}
