/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Attributes of a port or of a device that say the same thing in different words. */

#include "attribute.h"

typedef enum Topic {
	TOPIC_LINK,
	TOPIC_SPEED,
	TOPIC_MTU,
	TOPIC_GIDS,
	TOPIC_SUBNET,
	TOPIC_PRIORITIES,
	TOPIC_CLASSES,
	TOPIC_ECN,
	TOPIC_CAPABILITIES,
	TOPIC_PCIE,
	_TOPIC_MAX
} Topic;

/* The topic of ROW, of a port or a device; _TOPIC_MAX if it has none, or is NULL. */
Topic topic_of_row(const Attribute *row);
