// SPDX-License-Identifier: LGPL-2.1-or-later

// Package health says to kubelet how well the devices of a driver for dynamic resource allocation (DRA) are, as rdmad judges their ports.
//
// A driver registers a Service in the gRPC server that kubelet knows, and names Services among the supported versions when it registers
// itself. A driver whose server is that of k8s.io/dynamic-resource-allocation/kubeletplugin makes its messages of Devices.
package health

import (
	"context"
	"errors"
	"sort"
	"sync"
	"time"

	"rdmad/dra/rdma"
)

// A Status has the numbers of Kubernetes: the enum HealthStatus.
type Status int32

const (
	Unknown   Status = 0 // rdmad does not run, or does not know
	Healthy   Status = 1 // the port is fit to be used: FitSince is not 0
	Unhealthy Status = 2 // the port is not fit, or has gone
)

// A Device is what is said of a device of the pool.
type Device struct {
	Name    string
	Status  Status
	Message string // why the device is not healthy
}

// A Service follows rdmad, and says to each kubelet that asks how well the devices are. Set the fields before Run, Refresh to more than 0.
type Service struct {
	Pool    string                 // of all devices: the name of the node, as most drivers have it
	Name    func(rdma.Port) string // the device that a port belongs to; "" if it belongs to none
	Names   []string               // devices that there are even if no port belongs to them now
	Refresh time.Duration          // how often everything is said again; kubelet forgets it after three times as long

	lock    sync.Mutex
	ports   []rdma.Port
	watched error // why Watch knows nothing
	pinged  error // why Ping has failed
	devices []Device
	changed chan struct{} // is closed when devices is another list
}

// Run follows rdmad until CTX is done or the bus has gone, and returns why.
func (s *Service) Run(ctx context.Context, client *rdma.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.ping(ctx, client)
	return client.Watch(ctx, func(ports []rdma.Port, err error) {
		s.update(func() { s.ports, s.watched = ports, err })
	})
}

// Signals alone do not tell an rdmad without news from one that has stopped.
func (s *Service) ping(ctx context.Context, client *rdma.Client) {
	ticker := time.NewTicker(s.Refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		limited, cancel := context.WithTimeout(ctx, s.Refresh)
		err := client.Ping(limited)
		cancel()
		// Another error comes to Watch too.
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("rdmad does not answer")
		} else {
			err = nil
		}
		s.update(func() { s.pinged = err })
	}
}

func (s *Service) update(set func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	set()
	devices := s.judge()
	if s.devices != nil && equal(devices, s.devices) {
		return
	}
	s.devices = devices
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

func equal(a, b []Device) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Devices returns all devices in the order of their names, and a channel that is closed when the list is another one. The list is nil
// before rdmad was asked.
func (s *Service) Devices() ([]Device, <-chan struct{}) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.devices, s.changed
}

// What rdmad says of a port, in the words of Kubernetes.
func translate(p rdma.Port) (Status, string) {
	if p.Fit() {
		return Healthy, ""
	}
	message := "the port is not fit to be used yet"
	for i, f := range p.Findings {
		if f.Severity == "critical" || i == 0 {
			message = f.Text
		}
		if f.Severity == "critical" {
			break
		}
	}
	if p.Health == "unknown" {
		return Unknown, message
	}
	return Unhealthy, message
}

// All devices there have been. One that has several ports is as bad as the worst: Unhealthy, Unknown, Healthy.
func (s *Service) judge() []Device {
	rank := map[Status]int{Healthy: 0, Unknown: 1, Unhealthy: 2}
	found := map[string]Device{}
	err := s.watched
	if err == nil {
		err = s.pinged
	}
	for _, p := range s.ports {
		name := s.Name(p)
		if name == "" {
			continue
		}
		status, message := translate(p)
		if before, ok := found[name]; !ok || rank[status] > rank[before.Status] {
			found[name] = Device{name, status, message}
		}
	}
	names := append([]string{}, s.Names...)
	for _, d := range s.devices {
		names = append(names, d.Name)
	}
	for _, name := range names {
		if _, ok := found[name]; !ok {
			found[name] = Device{name, Unhealthy, "the device has no port"}
		}
	}
	devices := []Device{}
	for _, d := range found {
		if err != nil {
			d.Status, d.Message = Unknown, err.Error()
		}
		devices = append(devices, d)
	}
	sort.Slice(devices, func(i, j int) bool { return devices[i].Name < devices[j].Name })
	return devices
}
