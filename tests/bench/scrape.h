/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What Prometheus does with an exporter, and the exporter that rdmad-exporter is compared with. An
 * error ends the program. */

#include <netinet/in.h>
#include <sys/types.h>

#include "bench.h"

/* The address of PORT on 127.0.0.1. */
struct sockaddr_in scrape_address(uint16_t port);

/* Connects, requests /metrics and reads the reply until the other side closes the connection.
 * Returns how long that took, in nanoseconds, and the number of bytes after the headers. RET_BYTES
 * may be NULL. The reply must have the status 200 and a line that begins with EXPECTED. */
uint64_t scrape(const struct sockaddr *address, socklen_t size, const char *expected,
		size_t *ret_bytes);

/* Starts Debian's node_exporter with its infiniband collector alone, and waits until it listens
 * there. */
pid_t scrape_start_node_exporter(uint16_t port);
