// SPDX-License-Identifier: LGPL-2.1-or-later

// Rdma-health serves the health of the RDMA ports as a driver for dynamic resource allocation (DRA) of Kubernetes does, on a socket of its
// own.
//
// Kubelet asks the driver alone. So a driver in Go has package health in itself; one in another language can hand the calls of kubelet on
// to this socket.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"rdmad/dra/health"
	"rdmad/dra/rdma"
)

// The devices that --device names, by the port.
type devices map[string]string

func (d devices) String() string {
	return ""
}

func (d devices) Set(text string) error {
	name, which, ok := strings.Cut(text, "=")
	if !ok || name == "" || which == "" {
		return errors.New("not NAME=PORT")
	}
	d[which] = name
	return nil
}

// The device of a port: that of --device if there are any, else what --name makes of it.
func (d devices) find(p rdma.Port, template string) string {
	if len(d) == 0 {
		return p.Expand(template)
	}
	for _, which := range []string{fmt.Sprintf("%s/%d", p.Device, p.Number), p.Device, p.Netdev, p.PCIAddress} {
		if name := d[which]; which != "" && name != "" {
			return name
		}
	}
	return ""
}

func run() error {
	host, _ := os.Hostname()
	given := devices{}
	path := flag.String("socket", "", "the `PATH` of the socket to serve on")
	pool := flag.String("pool", host, "the `NAME` of the pool in the ResourceSlices")
	template := flag.String("name", rdma.Template, "how the driver names devices: `TEMPLATE` with {rdma}, {port}, {netdev} and {pci}")
	refresh := flag.Duration("refresh", 10*time.Second, "how often everything is said again, such as `10s`")
	flag.Var(given, "device", "a device, `NAME=PORT`: PORT is mlx5_0/1, mlx5_0, an interface or a PCI address; may be given again")
	flag.Parse()
	if flag.NArg() != 0 || *path == "" || *refresh <= 0 {
		flag.Usage()
		os.Exit(2)
	}

	client, err := rdma.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	service := &health.Service{
		Pool:    *pool,
		Name:    func(p rdma.Port) string { return given.find(p, *template) },
		Refresh: *refresh,
	}
	for _, name := range given {
		service.Names = append(service.Names, name)
	}

	// What an instance has left that was killed
	if info, err := os.Lstat(*path); err == nil && info.Mode()&os.ModeSocket != 0 {
		os.Remove(*path)
	}
	listener, err := net.Listen("unix", *path)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	service.Register(server)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer server.Stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	watched := make(chan error, 1)
	go func() { watched <- service.Run(ctx, client) }()
	select {
	case err = <-served:
	case err = <-watched:
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}
