/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Types that a switch over AttrType takes as one case: the compiler wants each type named. */

#include "attribute.h"

/* clang-format off */
/* The types that have no field among the values. */
#define ATTR_CASE_NO_FIELD                                                                         \
	case ATTR_UNAVAILABLE:                                                                     \
	PUBLISHED_TABLES(ATTR_CASE_TABLE, ) HIDDEN_TABLES(ATTR_CASE_TABLE, )                       \
	case _ATTR_TYPE_MAX
#define ATTR_CASE_TABLE(T, type, ...) case ATTR_##type:
/* Enumerations, whose published value is a name. */
#define ATTR_CASE_NAME                                                                             \
	case ATTR_PORT_STATE:                                                                      \
	case ATTR_PHYS_STATE:                                                                      \
	case ATTR_LINK_LAYER:                                                                      \
	case ATTR_PROTOCOL:                                                                        \
	case ATTR_NODE_TYPE:                                                                       \
	case ATTR_DEVICE_TYPE:                                                                     \
	case ATTR_OPERSTATE:                                                                       \
	case ATTR_RATE_SOURCE:                                                                     \
	case ATTR_RAIL_SOURCE:                                                                     \
	case ATTR_SPEED:                                                                           \
	case ATTR_ATOMIC_CAP:                                                                      \
	case ATTR_EVENTS:                                                                          \
	case ATTR_VERDICT
/* Bits, which are published as names. */
#define ATTR_CASE_FLAGS                                                                            \
	case ATTR_CAP_FLAGS:                                                                       \
	case ATTR_CAP_FLAGS2:                                                                      \
	case ATTR_CAP_NAMES:                                                                       \
	case ATTR_MLX5_FLAGS:                                                                      \
	case ATTR_EFA_CAPS:                                                                        \
	case ATTR_HNS_CONGEST
/* The types of which attr_is_text() is true. */
#define ATTR_CASE_TEXT                                                                             \
	case ATTR_TEXT:                                                                            \
	case ATTR_LONG_TEXT:                                                                       \
	case ATTR_REASON:                                                                          \
	case ATTR_PATH:                                                                            \
	case ATTR_NUMBERS:                                                                         \
	case ATTR_WORDS:                                                                           \
	case ATTR_PAIRS
/* clang-format on */
