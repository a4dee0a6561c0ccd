/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-ipoib.h"

#include "decode.h"

void simulated_ipoib_describe(const PortSnapshot *s, NetdevEntry *e)
{
	const PortValues *v = &s->values;
	AttrText state = "";

	if (v->link_layer != LINK_LAYER_INFINIBAND)
		return;
	if (mask_has(&s->supplied, PORT_ATTR_netdev_operstate))
		attr_enumeration_text(ATTR_OPERSTATE, v->netdev_operstate, state);
	else if (mask_has(&s->supplied, PORT_ATTR_netdev_up))
		text_copy(state, sizeof(state), v->netdev_up ? "up" : "down");
	text_copy(e->state, sizeof(e->state), state);
	e->mtu = v->netdev_mtu;
	if (mask_has(&s->supplied, PORT_ATTR_netdev_master))
		text_copy(e->master, sizeof(e->master), TEXT_OF(v, netdev_master));
}
