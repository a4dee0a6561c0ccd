// SPDX-License-Identifier: LGPL-2.1-or-later

package health

import (
	"fmt"
	"time"

	"google.golang.org/grpc"
)

// The contract: service DRAResourceHealth of Kubernetes, in staging/src/k8s.io/kubelet/pkg/apis/dra-health. The messages of v1
// (api.proto of commit 26c0309663d6) are those of v1alpha1; its first release, 1.34, had the fields 1 to 3 of a device alone
// (c4b5de207d1f). The tags have the numbers, and the codec of gRPC reads them: there is no generated code.

// Services are the names of the service, for the supported versions in the registration of a driver.
var Services = []string{"v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"}

type request struct{}

func (m *request) Reset()       { *m = request{} }
func (*request) String() string { return "" }
func (*request) ProtoMessage()  {}

type response struct {
	Devices []*deviceHealth `protobuf:"bytes,1,rep,name=devices,proto3"`
}

func (m *response) Reset()         { *m = response{} }
func (m *response) String() string { return fmt.Sprint(m.Devices) }
func (*response) ProtoMessage()    {}

type deviceHealth struct {
	Device  *identifier `protobuf:"bytes,1,opt,name=device,proto3"`
	Health  int32       `protobuf:"varint,2,opt,name=health,proto3"`
	Updated int64       `protobuf:"varint,3,opt,name=last_updated_time,json=lastUpdatedTime,proto3"`
	Timeout int64       `protobuf:"varint,4,opt,name=health_check_timeout_seconds,json=healthCheckTimeoutSeconds,proto3"`
	Message string      `protobuf:"bytes,5,opt,name=message,proto3"`
}

func (m *deviceHealth) Reset()         { *m = deviceHealth{} }
func (m *deviceHealth) String() string { return fmt.Sprint(*m) }
func (*deviceHealth) ProtoMessage()    {}

type identifier struct {
	Pool string `protobuf:"bytes,1,opt,name=pool_name,json=poolName,proto3"`
	Name string `protobuf:"bytes,2,opt,name=device_name,json=deviceName,proto3"`
}

func (m *identifier) Reset()         { *m = identifier{} }
func (m *identifier) String() string { return m.Pool + "/" + m.Name }
func (*identifier) ProtoMessage()    {}

// Register makes SERVER answer kubelet. Call it before the server serves.
func (s *Service) Register(server *grpc.Server) {
	for _, name := range Services {
		server.RegisterService(&grpc.ServiceDesc{
			ServiceName: name,
			HandlerType: (*interface{})(nil),
			Streams:     []grpc.StreamDesc{{StreamName: "NodeWatchResources", Handler: stream, ServerStreams: true}},
		}, s)
	}
}

// All devices, and again with each change and each refresh. A kubelet that reads slowly gets the newest list, and none between.
func stream(service interface{}, out grpc.ServerStream) error {
	s := service.(*Service)
	if err := out.RecvMsg(&request{}); err != nil {
		return err
	}
	ticker := time.NewTicker(s.Refresh)
	defer ticker.Stop()
	for {
		devices, changed := s.Devices()
		if devices != nil {
			if err := out.SendMsg(s.message(devices)); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

func (s *Service) message(devices []Device) *response {
	m := &response{}
	now := time.Now().Unix()
	timeout := int64((3*s.Refresh + time.Second - 1) / time.Second)
	for _, d := range devices {
		m.Devices = append(m.Devices, &deviceHealth{&identifier{s.Pool, d.Name}, int32(d.Status), now, timeout, d.Message})
	}
	return m
}
