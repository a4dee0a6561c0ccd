// SPDX-License-Identifier: LGPL-2.1-or-later

// Prints the RDMA ports, waits until what it has printed of one changes, and prints that one again.
//
// It needs no library of rdmad, only godbus. Each value that is not known has the code of why.
//
// With what Debian has, in a folder with this file alone:
//
//	cat >go.mod <<'END'
//	module watch-ports
//	go 1.19
//	require github.com/godbus/dbus/v5 v5.0.0
//	replace github.com/godbus/dbus/v5 => /usr/share/gocode/src/github.com/godbus/dbus
//	END
//	GO111MODULE=on GOPROXY=off GOSUMDB=off go build -mod=mod .
//
// Debian 12 has it there, in golang-dbus-dev. In Debian 13 the folder is /usr/share/gocode/src/github.com/godbus/dbus/v5, in
// golang-github-godbus-dbus-dev. Elsewhere: go mod init watch-ports && go mod tidy && go build
package main

import (
	"fmt"
	"os"
	"sort"

	"github.com/godbus/dbus/v5"
)

const (
	port       = "org.rdma.Port"
	infiniband = "org.rdma.Port.InfiniBand"
)

// The interfaces of an object, and their properties.
type object map[string]map[string]dbus.Variant

// The value; or why there is none. What the property itself reads as then is no value.
func (o object) text(iface, name string) string {
	value, ok := o[iface][name]
	if !ok {
		return "-" // ports of this kind do not have it
	}
	codes := map[string]string{}
	if err := o[port]["Unavailable"].Store(&codes); err != nil {
		return "- (" + err.Error() + ")"
	}
	if code, ok := codes[name]; ok {
		return "- (" + code + ")"
	}
	return fmt.Sprint(value.Value())
}

func (o object) String() string {
	return fmt.Sprintf("%v/%v: %s, LID %s, LMC %s", o[port]["DeviceName"].Value(), o[port]["PortNumber"].Value(),
		o.text(port, "State"), o.text(infiniband, "Lid"), o.text(infiniband, "Lmc"))
}

// Device index and port number of a path.
func numbers(path dbus.ObjectPath) (device, number int) {
	fmt.Sscanf(string(path), "/org/rdma/device/%d/port/%d", &device, &number)
	return
}

func run() error {
	// The handler that is the default may change the order of signals.
	conn, err := dbus.ConnectSystemBus(dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return err
	}
	defer conn.Close()

	// One rule for all ports, and before they are read: then no change is missed.
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchSender("org.rdma"), dbus.WithMatchPathNamespace("/org/rdma"),
		dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged")); err != nil {
		return err
	}
	objects := map[dbus.ObjectPath]object{}
	if err := conn.Object("org.rdma", "/org/rdma").
		Call("org.freedesktop.DBus.ObjectManager.GetManagedObjects", 0).Store(&objects); err != nil {
		return err
	}

	paths := []dbus.ObjectPath{}
	for path, o := range objects {
		if _, ok := o[port]; ok {
			paths = append(paths, path)
		}
	}
	sort.Slice(paths, func(i, j int) bool {
		di, ni := numbers(paths[i])
		dj, nj := numbers(paths[j])
		return di < dj || di == dj && ni < nj
	})
	for _, path := range paths {
		fmt.Println(objects[path])
	}

	for signal := range signals {
		var iface string
		var changed map[string]dbus.Variant
		var invalidated []string
		if dbus.Store(signal.Body, &iface, &changed, &invalidated) != nil {
			continue // another signal
		}
		o := objects[signal.Path]
		if o[port] == nil || o[iface] == nil {
			continue
		}
		before := o.String()
		for name, value := range changed {
			o[iface][name] = value
		}
		if o.String() != before {
			fmt.Println("changed:", o)
			return nil
		}
	}
	return fmt.Errorf("the bus has gone")
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}
