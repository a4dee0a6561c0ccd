// SPDX-License-Identifier: LGPL-2.1-or-later

module rdmad/dra

go 1.19
