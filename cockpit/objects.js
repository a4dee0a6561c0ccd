/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The objects that rdmad publishes, as they are now.
 *
 * First the signals are asked for, then all objects. Signals that arrive before the answer wait for it: applied in their order
 * on top of it, they give what the last of them says. The same is done for each new owner of the name.
 */

const NAME = "org.rdma";
const BUS = "org.freedesktop.DBus";
const ROOT = "/org/rdma";
const PROPERTIES = "org.freedesktop.DBus.Properties";
const OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager";
const MANAGER = "org.rdma.Manager";

/* {name: {t, v}, ...} as {name: v, ...} */
function unpack(properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, variant]) => [name, variant.v]));
}

export class Objects {
    constructor() {
        this.changed = null;
        this.paths = new Map(); /* path -> {interface: {property: value}} */
        this.manager = {};
        this.state = "loading"; /* or "present", "absent" */
        this.error = "";
        this.lost = null; /* when rdmad went, and came back */
        this.restarted = null;
        this.loads = 0; /* how often everything was read */
        this.waiting = []; /* signals; null if none has to wait */
        this.reading = new Set(); /* path and interface that are being read */
        this.dirty = new Set();
        this.frame = 0;
    }

    start() {
        /* a client of one name is closed while nobody has the name */
        this.client = cockpit.dbus(null, { bus: "system" });
        this.client.addEventListener("close", (event, reason) => this.set_absent(cockpit.message(reason)));
        this.client.subscribe({ name: BUS, interface: BUS, member: "NameOwnerChanged", arg0: NAME },
                              (path, interface_, member, [, , owner]) => this.set_owner(owner));
        for (const name of [PROPERTIES, OBJECT_MANAGER])
            this.client.subscribe({ name: NAME, interface: name, path_namespace: ROOT }, (...signal) => this.receive(signal));
        this.load();
    }

    /* CHANGED(paths) is called at most once for each frame that the browser draws, with the set of the paths of which
     * something has changed. */
    listen(changed) {
        this.changed = changed;
        this.touch(ROOT);
    }

    call(path, interface_, method, args) {
        return this.client.call(path, interface_, method, args, { name: NAME });
    }

    /* Asks for everything, which lets the bus start rdmad if it does not run. */
    async load() {
        const waiting = this.waiting = [];

        try {
            const [found] = await this.call(ROOT, OBJECT_MANAGER, "GetManagedObjects", []);
            const [manager] = await this.call(ROOT, PROPERTIES, "GetAll", [MANAGER]);
            if (this.waiting !== waiting)
                return; /* of an owner that has gone */
            this.manager = unpack(manager);
            this.replace(found);
        } catch (error) {
            if (this.waiting === waiting)
                this.set_absent(cockpit.message(error));
        }
    }

    replace(found) {
        const waiting = this.waiting;

        for (const path of this.paths.keys())
            this.touch(path);
        this.paths.clear();
        for (const [path, interfaces] of Object.entries(found))
            this.add(path, interfaces);
        this.state = "present";
        this.loads++;
        this.waiting = null;
        for (const signal of waiting)
            this.apply(signal);
        this.touch(ROOT);
    }

    /* OWNER is empty if the name has none now. */
    set_owner(owner) {
        if (!owner) {
            this.set_absent("");
            return;
        }
        if (this.loads > 0)
            this.restarted = new Date();
        this.load();
    }

    /* What is known stays, so that people can see how things were. */
    set_absent(error) {
        if (this.state === "present")
            this.lost = new Date();
        this.state = "absent";
        this.error = error;
        this.waiting = [];
        this.touch(ROOT);
    }

    receive(signal) {
        if (this.waiting)
            this.waiting.push(signal);
        else
            this.apply(signal);
    }

    apply([path, , member, args]) {
        if (member === "PropertiesChanged")
            this.change(path, ...args);
        else if (member === "InterfacesAdded")
            this.add(...args);
        else if (member === "InterfacesRemoved")
            this.remove(...args);
    }

    add(path, interfaces) {
        const object = this.paths.get(path) || {};

        for (const [name, properties] of Object.entries(interfaces))
            object[name] = unpack(properties);
        this.paths.set(path, object);
        this.touch(path);
    }

    remove(path, interfaces) {
        const object = this.paths.get(path) || {};

        interfaces.forEach(name => delete object[name]);
        if (!Object.keys(object).some(name => name.startsWith("org.rdma.")))
            this.paths.delete(path);
        this.touch(path);
    }

    change(path, interface_, changed, invalidated) {
        const object = path === ROOT ? null : this.paths.get(path);
        const values = unpack(changed);

        if (path === ROOT)
            this.manager = { ...this.manager, ...values };
        else if (object?.[interface_])
            object[interface_] = { ...object[interface_], ...values };
        else
            return;
        if (invalidated.length > 0)
            this.refresh(path, interface_);
        this.touch(path);
    }

    /* Reads what no signal carries: tables, counts, time stamps. An answer that a signal has overtaken is older than what is known:
     * it is read again. */
    async refresh(path, interface_) {
        const properties = () => this.paths.get(path)?.[interface_];
        const key = `${path} ${interface_}`;

        if (this.reading.has(key))
            return;
        this.reading.add(key);
        try {
            for (let before; (before = properties());) {
                const now = unpack((await this.call(path, PROPERTIES, "GetAll", [interface_]))[0]);
                if (properties() !== before)
                    continue;
                if (JSON.stringify(now) !== JSON.stringify(before)) {
                    this.paths.get(path)[interface_] = now;
                    this.touch(path);
                }
                break;
            }
        } catch (error) {
            /* the object or rdmad has gone: a signal says so */
        } finally {
            this.reading.delete(key);
        }
    }

    touch(path) {
        this.dirty.add(path);
        if (this.frame || !this.changed)
            return;
        this.frame = requestAnimationFrame(() => {
            const dirty = this.dirty;
            this.dirty = new Set();
            this.frame = 0;
            this.changed(dirty);
        });
    }
}

/* What the page asks of an object. */

const PORT = "org.rdma.Port";
const DEVICE = "org.rdma.Device";

export const port_of = object => object?.[PORT];
export const device_of = object => object?.[DEVICE];
export const port_name = object => `${object[PORT].DeviceName}/${object[PORT].PortNumber}`;
/* Why ROW has no value: a code; undefined if it has one. OBJECT may have the interfaces of a port and of its device. */
export const unavailable_of = (object, row) => object[row.Interface.startsWith(DEVICE) ? DEVICE : PORT]?.Unavailable?.[row.Name];

/* The adapter that a port is on: KEY is the same for all its ports, TITLE is for people. All devices of an adapter have the same
 * SystemImageGuid. */
export function adapter_of(port, device) {
    const { SystemImageGuid, PciAddress, HcaType, Driver } = device_of(device) ?? {};
    const slot = PciAddress?.replace(/\.[0-9a-f]$/, "");

    return {
        key: SystemImageGuid || slot || port_of(port).Device,
        title: [HcaType, Driver, slot && `PCI ${slot}`].filter(Boolean).join(", ") || port_of(port).DeviceName,
    };
}
