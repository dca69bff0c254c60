"""A rack and its nodes.

Each node that isn't certified as retired is protected: the engine then refuses to delete it in a preview already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from fleet.components.resources import declare
from fleet.model.ids import PoolId
from fleet.model.topology import DeclaredNode, DomainKind
from fleet.provider import node as node_type
from fleet.provider import rack as rack_type
from fleet.provider.node import inputs_of


class Rack(pulumi.ComponentResource):
    """The rack `name` of `site`. `nodes` come with the reference to their BMC's secret and whether they are retired."""

    def __init__(
        self,
        name: str,
        site: str,
        nodes: Sequence[tuple[DeclaredNode, str, bool]],
        pools: Mapping[PoolId, pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("fleet:components:Rack", f"{site}-{name}", None, opts)
        domains = {domain.kind: domain.name for node, _, _ in nodes for domain in node.domains}
        inputs = {"rack": name, "site": site}
        for kind in (DomainKind.FEED, DomainKind.LOOP, DomainKind.LEAF):
            if kind in domains:
                inputs[kind.value] = domains[kind]
        itself = declare(rack_type.TYPE, f"{site}-{name}", inputs, pulumi.ResourceOptions(parent=self))
        for node, secret, retired in nodes:
            options = pulumi.ResourceOptions(parent=self, protect=not retired, depends_on=[itself, pools[node.pool]])
            declare(node_type.TYPE, node.id, inputs_of(node, site, secret), options)
        self.register_outputs({})
