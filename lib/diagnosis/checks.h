/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The checks: the rows of checks.def. A check looks at one thing, says one sentence, and knows
 * nothing of the other checks. */

#include "check-finding.h"

extern const Check checks[];
extern const size_t n_checks;

/* What is wrong if CHECK finds something, as a sentence. */
const char *check_sentence(const Check *check);
/* Whether there is a check called NAME. */
bool check_exists(const char *name);

/* Looks with one check only: at DEVICE or PORT, which are NULL as its scope says. */
void check_look(CheckRun *r, const Check *check, const Object *device, const Object *port);
/* Looks at everything, at each device before the first of its ports, and folds what it finds. The
 * caller ends the run with check_run_done(). -ENOMEM. */
int checks_run(CheckRun *r);
/* What rdmad says that CHECK has found of O, a port or a device; NULL: nothing, O is NULL, or
 * somebody has acknowledged it. */
const char *checks_published(const Object *o, const char *check);
/* What rdmad says next of all that it has found of O and that stands for itself, and in *RET_CHECK
 * the check. *I, which begins as 0, moves on. NULL: no more. */
const char *checks_next_published(const Object *o, size_t *i, const char **ret_check);
/* After the run: what somebody has acknowledged to rdmad is acknowledged in R. The texts are those
 * of the objects. */
void checks_take_acknowledged(const CheckRun *r);

/* The checks that have a file of their own. */

/* check-lost.c: a part of the check missing */
void look_for_lost_devices(CheckRun *r);
/* check-siblings.c */
void look_for_odd_ones(CheckRun *r);
/* check-partitions.c */
void look_for_lost_pkeys(CheckRun *r);
/* check-subnets.c */
void look_at_prefixes(CheckRun *r);
void look_at_ip_subnets(CheckRun *r);
/* check-history.c */
void look_for_flaps(CheckRun *r);
void look_at_former_rate(CheckRun *r);
void look_for_other_cable(CheckRun *r);
/* check-counters.c */
void look_at_counters(CheckRun *r);
/* check-storm.c */
void look_for_storms(CheckRun *r);
/* check-rates.c */
/* Whether a check looks at how much the counter called NAME grows. */
bool check_uses_counter(const char *name);
void look_for_loss(CheckRun *r);
void look_for_congestion(CheckRun *r);
void look_for_pauses(CheckRun *r);
void look_for_symbol_errors(CheckRun *r);
void look_for_many_symbol_errors(CheckRun *r);
void look_for_retraining(CheckRun *r);
void look_for_far_errors(CheckRun *r);
/* check-gids.c */
void look_for_gids(CheckRun *r);
void look_for_lost_address(CheckRun *r);
void look_for_address_flaps(CheckRun *r);
void look_at_addresses(CheckRun *r);
void look_for_stale_gids(CheckRun *r);
/* check-contradictions.c */
void look_at_physical_state(CheckRun *r);
void look_at_lanes(CheckRun *r);
void look_for_guid(CheckRun *r);
void look_at_same_guids(CheckRun *r);
/* check-cable.c */
void look_for_darkness(CheckRun *r);
void look_for_little_light(CheckRun *r);
void look_at_module_state(CheckRun *r);
void look_for_wrong_cable(CheckRun *r);
/* check-bond.c */
void look_at_bond(CheckRun *r);
/* check-neighbor.c */
void look_at_neighbor_pfc(CheckRun *r);
void look_at_neighbor_mtu(CheckRun *r);
void look_for_unused_pfc(CheckRun *r);
/* check-vf.c */
void look_at_vf_guids(CheckRun *r);
void look_at_vf_policies(CheckRun *r);
/* A part of look_at_same_guids(). */
void look_at_same_vf_guids(CheckRun *r);
/* check-pcie.c */
void look_at_pcie(CheckRun *r);
/* check-resources.c */
void look_at_resources(CheckRun *r);
void look_for_full_gids(CheckRun *r);
/* check-gpu.c */
void look_for_far_gpus(CheckRun *r);
void look_at_acs(CheckRun *r);
void look_for_gpu_memory(CheckRun *r);
/* check-rails.c */
void look_for_swapped_rails(CheckRun *r);
/* check-aer.c */
void look_for_pcie_errors(CheckRun *r);
void look_for_pcie_bursts(CheckRun *r);
/* check-signal.c */
void look_for_heat(CheckRun *r);
void look_for_overheating(CheckRun *r);
void look_for_uncorrectable(CheckRun *r);
/* check-health.c */
void look_for_health_errors(CheckRun *r);
void look_for_recoveries(CheckRun *r);
