// SPDX-License-Identifier: LGPL-2.1-or-later

//! Prints the RDMA ports, waits until what it has printed of one changes, and prints that one again.
//!
//! It needs no library of rdmad, only the crate dbus. Each value that is not known has the code of why.
//!
//! With what Debian has in cargo and librust-dbus-dev, in a folder with this file:
//!
//! ```text
//! cat >Cargo.toml <<'END'
//! [package]
//! name = "watch-ports"
//! version = "1.0.0"
//! edition = "2021"
//! [dependencies]
//! dbus = "0.9"
//! [[bin]]
//! name = "watch-ports"
//! path = "watch-ports.rs"
//! END
//! cargo build --offline --config 'source.crates-io.replace-with="debian"' \
//!     --config 'source.debian.directory="/usr/share/cargo/registry"'
//! ```
//!
//! The program is target/debug/watch-ports. Elsewhere the same Cargo.toml does, with `cargo build` alone.

use dbus::arg::{prop_cast, PropMap, RefArg};
use dbus::blocking::stdintf::org_freedesktop_dbus::{ObjectManager, PropertiesPropertiesChanged};
use dbus::blocking::LocalConnection;
use dbus::message::{MatchRule, SignalArgs};
use dbus::Path;
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

const PORT: &str = "org.rdma.Port";
const INFINIBAND: &str = "org.rdma.Port.InfiniBand";

/// The interfaces of an object, and their properties.
type Object = HashMap<String, PropMap>;

/// A number or a text.
fn plain(value: &dyn RefArg) -> String {
    match value.as_str() {
        Some(text) => text.to_string(),
        None => value.as_i64().map_or("?".to_string(), |number| number.to_string()),
    }
}

/// The code of why NAME has no value.
fn code(port: &Object, name: &str) -> Option<String> {
    let codes = port.get(PORT)?.get("Unavailable")?;
    let words: Vec<String> = codes.0.as_iter()?.map(|word| plain(word)).collect();
    words.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1].clone())
}

/// The value; or why there is none. What the property itself reads as then is no value.
fn text(port: &Object, interface: &str, name: &str) -> String {
    match port.get(interface).and_then(|properties| properties.get(name)) {
        None => "-".to_string(), // ports of this kind do not have it
        Some(value) => match code(port, name) {
            Some(code) => format!("- ({})", code),
            None => plain(&value.0),
        },
    }
}

fn describe(port: &Object) -> String {
    let name: Option<&String> = prop_cast(&port[PORT], "DeviceName");
    let number: Option<&u32> = prop_cast(&port[PORT], "PortNumber");
    format!(
        "{}/{}: {}, LID {}, LMC {}",
        name.map_or("?", |name| name),
        number.unwrap_or(&0),
        text(port, PORT, "State"),
        text(port, INFINIBAND, "Lid"),
        text(port, INFINIBAND, "Lmc")
    )
}

/// The numbers in a path: of the device and of the port.
fn numbers(path: &Path) -> Vec<u32> {
    path.split('/').filter_map(|part| part.parse().ok()).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let bus = LocalConnection::new_system()?;
    let objects: Rc<RefCell<HashMap<Path<'static>, Object>>> = Rc::default();
    let is_done = Rc::new(RefCell::new(false));

    // One rule for all ports, and before they are read: then no change is missed.
    let rule = MatchRule::new_signal(PropertiesPropertiesChanged::INTERFACE, PropertiesPropertiesChanged::NAME)
        .with_sender("org.rdma")
        .with_namespaced_path("/org/rdma");
    let (known, done) = (objects.clone(), is_done.clone());
    bus.add_match(rule, move |signal: PropertiesPropertiesChanged, _, message| {
        let mut known = known.borrow_mut();
        let port = message.path().and_then(|path| known.get_mut(&path.into_static()));
        if let Some(port) = port.filter(|port| port.contains_key(PORT)) {
            let before = describe(port);
            if let Some(properties) = port.get_mut(&signal.interface_name) {
                properties.extend(signal.changed_properties);
            }
            if describe(port) != before && !done.replace(true) {
                println!("changed: {}", describe(port));
            }
        }
        true
    })?;

    *objects.borrow_mut() = bus.with_proxy("org.rdma", "/org/rdma", Duration::from_secs(25)).get_managed_objects()?;
    {
        let known = objects.borrow();
        let mut ports: Vec<_> = known.iter().filter(|(_, object)| object.contains_key(PORT)).collect();
        ports.sort_by_key(|(path, _)| numbers(path));
        for (_, port) in ports {
            println!("{}", describe(port));
        }
    }
    while !*is_done.borrow() {
        bus.process(Duration::from_secs(3600))?;
    }
    Ok(())
}
