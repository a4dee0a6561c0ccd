/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Attacks that are no floods: what is done with connections. Functions for Attack.run. */

#include "attack.h"

/* Connects, makes a call and leaves without the reply. */
void special_connect(const Attacker *a);
/* The same with 60 calls that wait, and leaves when the first replies could come. */
void special_leave(const Attacker *a);
/* Several processes of the user connect, make 100 calls with longer replies and leave, all without
 * reading: what is called is never wanted. */
void special_depart(const Attacker *a);
/* The same, and each process makes calls of another method. */
void special_depart_others(const Attacker *a);
/* Half of the connections do not say who they are, the others send a part of a message. All stay
 * for a while. */
void special_half(const Attacker *a);
